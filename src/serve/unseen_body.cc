#include "serve/unseen_body.h"

#include <algorithm>
#include <array>
#include <cstring>

#include "decode/plain_lists.h"
#include "serve/unseen_reader.h"

namespace seen {
namespace {

constexpr size_t kIdBytesTypical = 8;  // with its quotes and comma: for the first reservation

std::vector<std::string_view> Views(const UnseenReader::List& list, std::string_view bytes) {
  std::vector<std::string_view> views;
  views.reserve(list.ids.size());
  for (const auto& [start, length] : list.ids) views.push_back(bytes.substr(start, length));
  return views;
}

// Ids are UTF-8, so JSON needs an escape only for a quote, a backslash and what is below a space.
bool NeedsEscape(char c) { return static_cast<unsigned char>(c) < 0x20 || c == '"' || c == '\\'; }

// Looks at eight bytes at a time. A byte's top bit is set if that byte, or one below it, needs an escape.
bool NeedsEscape(std::string_view id) {
  constexpr uint64_t kOnes = 0x0101010101010101;
  const auto below = [](uint64_t word, uint64_t bound) { return (word - kOnes * bound) & ~word; };
  uint64_t found = 0;
  while (id.size() >= 8) {
    uint64_t word;
    std::memcpy(&word, id.data(), 8);
    found |= below(word, 0x20) | below(word ^ kOnes * '"', 1) | below(word ^ kOnes * '\\', 1);
    id.remove_prefix(8);
  }
  bool in_rest = false;
  for (const char c : id) in_rest |= NeedsEscape(c);
  return (found & kOnes * 0x80) != 0 || in_rest;
}

void AppendEscaped(std::string_view id, std::string& out) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  constexpr std::string_view kNamed = "\"\\\b\f\n\r\t";
  constexpr std::string_view kNames = "\"\\bfnrt";
  for (const char c : id) {
    if (!NeedsEscape(c)) {
      out.push_back(c);
    } else if (const size_t named = kNamed.find(c); named != std::string_view::npos) {
      out.append({'\\', kNames[named]});
    } else {
      const auto byte = static_cast<unsigned char>(c);
      out.append({'\\', 'u', '0', '0', kDigits[byte >> 4], kDigits[byte & 15]});
    }
  }
}

}  // namespace

Result<UnseenQuestion> ParseUnseenQuestion(std::string_view body) {
  UnseenQuestion question;
  std::array<std::vector<std::string_view>, kUnseenKeys.size()> plain;
  std::array<bool, kUnseenKeys.size()> given;
  plain[0].reserve(std::min(kUnseenItemsMax, body.size() / kIdBytesTypical));
  PlainSwitch one_per_group{kOnePerGroupKey};
  if (ReadPlainLists(body, kUnseenItemsMax, kUnseenKeys, plain, given, question.created_seconds_,
                     one_per_group) &&
      given[0]) {
    question.items_ = std::move(plain[0]);
    question.also_seen_ = std::move(plain[1]);
    question.one_per_group_ = one_per_group.on;
    return question;
  }
  // Rare: the body has an id with an escape, or a mistake that this reader can name.
  UnseenReader reader;
  if (auto read = reader.Read(body); !read) return Fail(read.error());
  question.bytes_ = std::make_shared<const std::string>(std::move(reader.bytes));
  question.items_ = Views(reader.lists[0], *question.bytes_);
  question.also_seen_ = Views(reader.lists[1], *question.bytes_);
  question.one_per_group_ = reader.one_per_group;
  question.created_seconds_ = std::move(reader.created_seconds);
  if (!question.created_seconds_.empty()) question.created_seconds_.resize(question.items_.size());
  return question;
}

std::string WriteUnseenAndSimilar(std::span<const std::string_view> items, const UnseenAnswer& answer) {
  std::string json = WriteUnseenAnswer(items, answer.unseen);
  if (!answer.similar) return json;
  json.resize(json.size() - std::string_view("}\n").size());
  json += R"(,"similar":[)";
  for (const SimilarCandidate& similar : *answer.similar) {
    json += R"({"item_id":")";
    AppendEscaped(items[similar.candidate], json);
    json += R"(","like":)";
    if (similar.to.like.empty()) {
      json += "null";
    } else {
      json += '"';
      AppendEscaped(similar.to.like, json);
      json += '"';
    }
    json += R"(,"because":")";
    json += SimilarBecauseName(similar.to.because);
    json += R"("},)";
  }
  if (!answer.similar->empty()) json.pop_back();
  return json += "]}\n";
}

std::string WriteUnseenAnswer(std::span<const std::string_view> items, std::span<const uint32_t> unseen) {
  constexpr std::string_view kStart = "{\"unseen\":[";
  constexpr std::string_view kEnd = "]}\n";
  size_t bytes = kStart.size() + kEnd.size();
  bool escapes = false;
  for (const uint32_t index : unseen) {
    bytes += items[index].size() + 3;
    escapes |= NeedsEscape(items[index]);
  }
  std::string answer;
  if (escapes) {
    answer = kStart;
    for (const uint32_t index : unseen) {
      answer.push_back('"');
      AppendEscaped(items[index], answer);
      answer.append("\",");
    }
    answer.pop_back();
    return answer.append(kEnd);
  }
  answer.resize(bytes);
  char* to = answer.data();
  const auto put = [&to](std::string_view text) {
    std::memcpy(to, text.data(), text.size());
    to += text.size();
  };
  put(kStart);
  for (const uint32_t index : unseen) {
    *to++ = '"';
    put(items[index]);
    *to++ = '"';
    *to++ = ',';
  }
  if (!unseen.empty()) --to;
  put(kEnd);
  answer.resize(static_cast<size_t>(to - answer.data()));
  return answer;
}

}  // namespace seen
