#include "tools/compare/answers_file.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "tools/compare/item_list.h"

namespace seen {

namespace {

using Json = nlohmann::json;

}  // namespace

Result<OldAnswer> ReadOldAnswer(std::string_view text, const CompareRequest& request) {
  const Json json = Json::parse(text, nullptr, false);
  if (!json.is_object()) return Fail(Code::kInvalidArgument, "not a JSON object");
  if (const auto user = json.find("user_id"); user != json.end()) {
    const std::string user_id = user->is_string() ? user->get<std::string>() : user->dump();
    if (user_id != request.user_id) {
      return Fail(Code::kInvalidArgument, fmt::format("the line is of user {}, and the request is of user "
                                                      "{}: the lines of both files must be in the same order",
                                                      user_id, request.user_id));
    }
  }
  const auto dropped = json.find("dropped");
  const auto kept = json.find("kept");
  if ((dropped == json.end()) == (kept == json.end()))
    return Fail(Code::kInvalidArgument, "expected either \"dropped\" or \"kept\"");
  const bool listed_are_kept = kept != json.end();
  const auto listed = ReadItemList(listed_are_kept ? *kept : *dropped);
  if (!listed) return Fail(listed.error());
  return AnswerFromList(request, *listed, listed_are_kept);
}

Result<std::unique_ptr<AnswersFile>> AnswersFile::Open(const std::string& path) {
  auto lines = LineReader::Open(path);
  if (!lines) return Fail(lines.error());
  return std::unique_ptr<AnswersFile>(new AnswersFile(path, std::move(*lines)));
}

Result<bool> AnswersFile::NextLine(std::string_view& text) {
  do {
    const auto more = lines_.Next(text);
    if (!more) return Fail(more.error().code, fmt::format("--answers: {}: {}", path_, more.error().message));
    if (!*more) return false;
  } while (text.find_first_not_of(" \t\r") == std::string_view::npos);
  ++number_;
  return true;
}

Result<std::vector<Result<OldAnswer>>> AnswersFile::Ask(std::span<const CompareRequest> requests) {
  std::vector<Result<OldAnswer>> answers;
  for (const CompareRequest& request : requests) {
    std::string_view text;
    while (number_ < request.number) {
      const auto more = NextLine(text);
      if (!more) return Fail(more.error());
      if (!*more) {
        return Fail(Code::kRefused, fmt::format("--answers: {} has {} answers, and {} is request {}", path_,
                                                number_, request.place, request.number));
      }
    }
    auto answer = ReadOldAnswer(text, request);
    if (!answer) {
      answer = Fail(answer.error().code,
                    fmt::format("{}:{}: {}", path_, lines_.line_number(), answer.error().message));
    }
    answers.push_back(std::move(answer));
  }
  return answers;
}

Result<bool> AnswersFile::HasMoreThan(uint64_t last) {
  std::string_view text;
  while (number_ <= last) {
    const auto more = NextLine(text);
    if (!more) return Fail(more.error());
    if (!*more) return false;
  }
  return true;
}

}  // namespace seen
