#include "tools/compare/request_file.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <unordered_map>
#include <unordered_set>

#include "model/event.h"

namespace seen {
namespace {

using Json = nlohmann::json;

constexpr size_t kCandidatesMax = 20'000;  // the limit of POST .../unseen
constexpr size_t kUnusedNamesMax = 50;

Error Wrong(std::string_view path, std::string_view words) {
  return {Code::kInvalidArgument, fmt::format("{}: {}", path, words)};
}

Result<std::string> ReadId(const Json& value, std::string_view path) {
  std::string id;
  if (value.is_string()) {
    id = value.get<std::string>();
  } else if (value.is_number_integer()) {
    id = value.dump();
  } else {
    return Fail(Wrong(path, "expected a string or an integer"));
  }
  if (id.empty() || id.size() > kIdBytesMax)
    return Fail(Wrong(path, fmt::format("an id has 1 to {} bytes", kIdBytesMax)));
  return id;
}

struct RequestCandidate {
  std::string id;
  int64_t created_ms = 0;
};

Result<RequestCandidate> ReadCandidate(const Json& value, const std::string& path) {
  RequestCandidate candidate;
  if (!value.is_object()) {
    auto id = ReadId(value, path);
    if (!id) return Fail(id.error());
    candidate.id = std::move(*id);
    return candidate;
  }
  const auto id = value.find("id");
  if (id == value.end()) return Fail(Wrong(path + ".id", "missing"));
  auto read = ReadId(*id, path + ".id");
  if (!read) return Fail(read.error());
  candidate.id = std::move(*read);
  if (const auto created = value.find("created_at"); created != value.end() && !created->is_null()) {
    if (!created->is_number_integer() || created->get<int64_t>() < 0)
      return Fail(Wrong(path + ".created_at", "expected ms since the epoch"));
    candidate.created_ms = created->get<int64_t>();
  }
  return candidate;
}

Result<const Json*> ReadList(const Json& json, const char* name, bool required) {
  const auto list = json.find(name);
  if (list == json.end()) {
    if (required) return Fail(Wrong(std::string("$.") + name, "missing"));
    return nullptr;
  }
  if (!list->is_array()) return Fail(Wrong(std::string("$.") + name, "expected an array"));
  if (list->size() > kCandidatesMax)
    return Fail(Wrong(std::string("$.") + name, fmt::format("more than {} items", kCandidatesMax)));
  return &*list;
}

Result<std::unordered_set<std::string>> ReadAlsoSeen(const Json& json) {
  const auto list = ReadList(json, "also_seen", false);
  if (!list) return Fail(list.error());
  std::unordered_set<std::string> ids;
  for (size_t i = 0; *list != nullptr && i < (*list)->size(); ++i) {
    auto id = ReadId((**list)[i], fmt::format("$.also_seen[{}]", i));
    if (!id) return Fail(id.error());
    ids.insert(std::move(*id));
  }
  return ids;
}

Status ReadItems(const Json& json, CompareRequest& request) {
  const auto also_seen = ReadAlsoSeen(json);
  if (!also_seen) return Fail(also_seen.error());
  const auto list = ReadList(json, "items", true);
  if (!list) return Fail(list.error());
  if ((*list)->empty()) return Fail(Wrong("$.items", "empty: there is nothing to compare"));
  std::unordered_map<std::string, size_t> places;
  bool any_created = false;
  for (size_t i = 0; i < (*list)->size(); ++i) {
    auto candidate = ReadCandidate((**list)[i], fmt::format("$.items[{}]", i));
    if (!candidate) return Fail(candidate.error());
    if (also_seen->contains(candidate->id)) {
      ++request.also_seen;
      continue;
    }
    const auto [place, is_new] = places.try_emplace(candidate->id, request.items.size());
    if (is_new) {
      request.items.push_back(std::move(candidate->id));
      request.created_ms.push_back(0);
    } else {
      ++request.repeated;
    }
    // If an item is named twice, its latest time counts, as in POST .../unseen.
    int64_t& created_ms = request.created_ms[place->second];
    created_ms = std::max(created_ms, candidate->created_ms);
    any_created |= created_ms != 0;
  }
  if (!any_created) request.created_ms.clear();
  return {};
}

bool IsUsed(std::string_view name) {
  return name == "user_id" || name == "items" || name == "filter" || name == "also_seen";
}

}  // namespace

Result<CompareRequest> ParseCompareRequest(std::string_view text, UnusedMembers& unused) {
  const Json json = Json::parse(text, nullptr, false);
  if (!json.is_object()) return Fail(Code::kInvalidArgument, "not a JSON object");
  CompareRequest request;
  const auto user = json.find("user_id");
  if (user == json.end()) return Fail(Wrong("$.user_id", "missing"));
  auto user_id = ReadId(*user, "$.user_id");
  if (!user_id) return Fail(user_id.error());
  request.user_id = std::move(*user_id);
  if (const auto filter = json.find("filter"); filter != json.end() && !filter->is_null()) {
    if (!filter->is_string() || filter->get_ref<const std::string&>().empty())
      return Fail(Wrong("$.filter", "expected the name of a filter"));
    request.filter = filter->get<std::string>();
  }
  if (const Status read = ReadItems(json, request); !read) return Fail(read.error());
  for (const auto& member : json.items()) {
    if (IsUsed(member.key())) continue;
    if (unused.size() < kUnusedNamesMax || unused.contains(member.key())) ++unused[member.key()];
  }
  request.line = text;
  return request;
}

Result<RequestFile> RequestFile::Open(std::vector<std::string> paths) {
  // A wrong name must fail now, not after hours.
  for (const std::string& path : paths) {
    if (path == "-") continue;
    if (auto stream = ByteStream::Open(path); !stream) return Fail(stream.error());
  }
  RequestFile file;
  file.paths_ = std::move(paths);
  return file;
}

Result<bool> RequestFile::Next(RequestLine& line) {
  line = {};
  while (true) {
    if (!reader_) {
      if (next_path_ == paths_.size()) return false;
      auto reader = LineReader::Open(paths_[next_path_]);
      if (!reader) return Fail(reader.error());
      reader_.emplace(std::move(*reader));
      ++next_path_;
    }
    const std::string& path = paths_[next_path_ - 1];
    std::string_view text;
    const auto more = reader_->Next(text);
    if (!more) return Fail(more.error().code, fmt::format("{}: {}", path, more.error().message));
    if (!*more) {
      reader_.reset();
      continue;
    }
    if (text.find_first_not_of(" \t\r") == std::string_view::npos) continue;
    auto request = ParseCompareRequest(text, unused_);
    if (request) {
      line.request = std::move(*request);
    } else {
      line.problem = request.error().message;
    }
    line.request.number = ++number_;
    line.request.place = fmt::format("{}:{}", path == "-" ? "standard input" : path, reader_->line_number());
    return true;
  }
}

}  // namespace seen
