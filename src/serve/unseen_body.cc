#include "serve/unseen_body.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <nlohmann/json.hpp>
#include <numeric>

#include "decode/plain_lists.h"
#include "model/event.h"

namespace seen {
namespace {

using nlohmann::json;

constexpr std::array<std::string_view, 2> kKeys = {"items", "also_seen"};
constexpr size_t kIdBytesTypical = 8;  // with its quotes and comma: how much room is made at first

size_t EditDistance(std::string_view a, std::string_view b) {
  std::array<size_t, 16> row{};  // `b` is one of kKeys
  std::iota(row.begin(), row.end(), size_t{0});
  for (size_t i = 0; i < a.size(); ++i) {
    size_t diagonal = row[0]++;
    for (size_t j = 0; j < b.size(); ++j) {
      const size_t substituted = diagonal + (a[i] == b[j] ? 0 : 1);
      diagonal = row[j + 1];
      row[j + 1] = std::min({substituted, row[j + 1] + 1, row[j] + 1});
    }
  }
  return row[b.size()];
}

std::string_view NearestKey(std::string_view key) {
  return *std::min_element(kKeys.begin(), kKeys.end(), [&](std::string_view a, std::string_view b) {
    return EditDistance(key, a) < EditDistance(key, b);
  });
}

/// Takes the document as it is parsed: what is too long or too deep stops it there, before it is built.
class Reader final : public json::json_sax_t {
 public:
  struct List {
    bool given = false;
    std::vector<std::pair<size_t, size_t>> ids;  // start and length in `bytes`
  };
  std::array<List, kKeys.size()> lists;
  std::string bytes;
  std::string error;

  bool key(string_t& name) override {
    const auto known = std::find(kKeys.begin(), kKeys.end(), name);
    if (known == kKeys.end()) {
      const std::string shown = name.substr(0, 64);
      return Refuse("$", "unknown key \"" + shown + "\"; the nearest known one is \"" +
                             std::string(NearestKey(shown)) + "\"");
    }
    list_ = static_cast<size_t>(known - kKeys.begin());
    if (lists[list_].given) return Refuse(ListPath(), "given twice");
    lists[list_].given = true;
    return true;
  }
  bool start_object(size_t) override {
    if (depth_ > 0) return Wrong("an object");
    ++depth_;
    return true;
  }
  bool end_object() override {
    --depth_;
    return true;
  }
  bool start_array(size_t) override {
    if (depth_ != 1) return Wrong("an array");
    ++depth_;
    return true;
  }
  bool end_array() override {
    --depth_;
    return true;
  }
  bool string(string_t& value) override {
    if (depth_ != 2) return Wrong("a string");
    return Id(value);
  }
  bool number_integer(number_integer_t value) override {
    if (depth_ != 2) return Wrong("a number");
    return Id(std::to_string(value));
  }
  bool number_unsigned(number_unsigned_t value) override {
    if (depth_ != 2) return Wrong("a number");
    return Id(std::to_string(value));
  }
  bool number_float(number_float_t, const string_t& text) override {
    if (depth_ != 2) return Wrong("a number");
    // The parser falls back to a float where an integer needs more than 64 bits.
    if (text.find_first_of(".eE") == string_t::npos) {
      return Refuse(ElementPath(), "an integer beyond 64 bits; send it as a string");
    }
    return Wrong("a number with a fraction or exponent");
  }
  bool null() override { return Wrong("null"); }
  bool boolean(bool) override { return Wrong("a boolean"); }
  bool binary(binary_t&) override { return Wrong("bytes"); }
  bool parse_error(size_t, const std::string&, const nlohmann::detail::exception& exception) override {
    std::string what =
        exception.what();  // "[json.exception.parse_error.101] parse error at line 1, column 2: ..."
    if (const size_t end = what.find("] "); end != std::string::npos) what.erase(0, end + 2);
    return Refuse("body", "not JSON: " + what.substr(0, 300));
  }

 private:
  std::string ListPath() const { return "$." + std::string(kKeys[list_]); }
  std::string ElementPath() const { return ListPath() + "[" + std::to_string(lists[list_].ids.size()) + "]"; }
  bool Refuse(std::string_view path, const std::string& message) {
    error = std::string(path) + ": " + message;
    return false;
  }
  bool Wrong(std::string_view found) {
    if (depth_ == 0) {
      return Refuse("$", "expected an object such as {\"items\":[\"a\",\"b\"]}, found " + std::string(found));
    }
    if (depth_ == 1) return Refuse(ListPath(), "expected an array of item ids, found " + std::string(found));
    return Refuse(ElementPath(), "expected a string or an integer, found " + std::string(found));
  }
  bool Id(std::string_view id) {
    List& list = lists[list_];
    if (id.empty()) return Refuse(ElementPath(), "empty; an item id has 1 to 512 bytes");
    if (id.size() > kIdBytesMax) {
      return Refuse(ElementPath(), std::to_string(id.size()) + " bytes; an item id has 1 to 512 bytes");
    }
    if (list.ids.size() >= kUnseenItemsMax) {
      return Refuse(ListPath(), "more than 20000 items; split the request");
    }
    list.ids.emplace_back(bytes.size(), id.size());
    bytes.append(id);
    return true;
  }

  int depth_ = 0;
  size_t list_ = 0;
};

std::vector<std::string_view> Views(const Reader::List& list, std::string_view bytes) {
  std::vector<std::string_view> views;
  views.reserve(list.ids.size());
  for (const auto& [start, length] : list.ids) views.push_back(bytes.substr(start, length));
  return views;
}

// Ids are UTF-8: what JSON wants escaped is a quote, a backslash and what is below a space.
bool NeedsEscape(char c) { return static_cast<unsigned char>(c) < 0x20 || c == '"' || c == '\\'; }

// Eight bytes at a time: a byte's top bit is set where the byte needs it, or where one below it does.
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
  std::array<std::vector<std::string_view>, kKeys.size()> plain;
  std::array<bool, kKeys.size()> given;
  plain[0].reserve(std::min(kUnseenItemsMax, body.size() / kIdBytesTypical));
  if (ReadPlainLists(body, kUnseenItemsMax, kKeys, plain, given) && given[0]) {
    question.items_ = std::move(plain[0]);
    question.also_seen_ = std::move(plain[1]);
    return question;
  }
  // Rare: an id with an escape in it, or a mistake, which this reader can name.
  Reader reader;
  if (!json::sax_parse(body.begin(), body.end(), &reader)) return Fail(Code::kInvalidArgument, reader.error);
  if (!reader.lists[0].given) return Fail(Code::kInvalidArgument, "$.items: missing");
  question.bytes_ = std::make_shared<const std::string>(std::move(reader.bytes));
  question.items_ = Views(reader.lists[0], *question.bytes_);
  question.also_seen_ = Views(reader.lists[1], *question.bytes_);
  return question;
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
