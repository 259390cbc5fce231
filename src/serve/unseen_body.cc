#include "serve/unseen_body.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <nlohmann/json.hpp>
#include <span>
#include <utility>

#include "base/text.h"
#include "decode/event_format.h"
#include "decode/plain_lists.h"
#include "model/event.h"

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
    json += SimilarReasonName(similar.to.because);
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

namespace {

constexpr std::array<std::string_view, 2> kIdKeys = {"id", "created_at"};
constexpr std::array<std::string_view, 3> kAllKeys = {kUnseenKeys[0], kUnseenKeys[1], kOnePerGroupKey};

/// Takes the document as it is parsed. A document that is too long or too deep stops the parser before it is
/// built.
class Handler final : public nlohmann::json::json_sax_t {
 public:
  explicit Handler(UnseenReader& out) : out_(out) {}
  std::string error;

  bool key(string_t& name) override {
    if (depth_ == kInId) return IdKey(name);
    in_switch_ = name == kOnePerGroupKey;
    if (in_switch_) return std::exchange(switch_given_, true) ? Refuse(ListPath(), "given twice") : true;
    const auto known = std::find(kUnseenKeys.begin(), kUnseenKeys.end(), name);
    if (known == kUnseenKeys.end()) return Unknown("$", name, kAllKeys);
    list_ = static_cast<size_t>(known - kUnseenKeys.begin());
    if (List().given) return Refuse(ListPath(), "given twice");
    List().given = true;
    return true;
  }
  bool start_object(size_t) override {
    if (depth_ != 0 && (depth_ != kInList || list_ != 0)) return Wrong("an object");
    ++depth_;
    key_ = kIdKeys.size();
    key_given_ = {};
    second_ = 0;
    place_ = List().ids.size();
    return true;
  }
  bool end_object() override {
    if (depth_-- != kInId) return true;
    if (!key_given_[0]) return Refuse(ElementPath() + ".id", "missing");
    if (second_ == 0) return true;
    out_.created_seconds.resize(place_ + 1);
    out_.created_seconds[place_] = second_;
    return true;
  }
  bool start_array(size_t) override {
    if (depth_ != 1 || in_switch_) return Wrong("an array");
    ++depth_;
    return true;
  }
  bool end_array() override {
    --depth_;
    return true;
  }
  bool string(string_t& value) override { return WantsId() ? Id(value) : Wrong("a string"); }
  bool number_integer(number_integer_t value) override {  // negative
    return WantsId() ? Id(std::to_string(value)) : WantsTime() ? BeyondTime() : Wrong("a number");
  }
  bool number_unsigned(number_unsigned_t value) override {
    if (WantsId()) return Id(std::to_string(value));
    if (!WantsTime()) return Wrong("a number");
    if (value >= static_cast<uint64_t>(kExposedAtEnd)) return BeyondTime();
    second_ = static_cast<uint32_t>(value / 1000);
    return true;
  }
  bool number_float(number_float_t, const string_t& text) override {
    if (!WantsId() && !WantsTime()) return Wrong("a number");
    // The parser falls back to a float if an integer needs more than 64 bits.
    if (text.find_first_of(".eE") != string_t::npos) return Wrong("a number with a fraction or exponent");
    if (WantsTime()) return BeyondTime();
    return Refuse(ValuePath(), "an integer beyond 64 bits; send it as a string");
  }
  bool null() override { return WantsTime() || Wrong("null"); }
  bool boolean(bool value) override {
    if (depth_ != 1 || !in_switch_) return Wrong("a boolean");
    out_.one_per_group = value;
    return true;
  }
  bool binary(binary_t&) override { return Wrong("bytes"); }
  bool parse_error(size_t, const std::string&, const nlohmann::detail::exception& exception) override {
    std::string what =
        exception.what();  // "[json.exception.parse_error.101] parse error at line 1, column 2: ..."
    if (const size_t end = what.find("] "); end != std::string::npos) what.erase(0, end + 2);
    return Refuse("body", "not JSON: " + what.substr(0, 300));
  }

 private:
  static constexpr int kInList = 2;
  static constexpr int kInId = 3;  // within an id's object

  UnseenReader::List& List() { return out_.lists[list_]; }
  bool WantsId() const { return depth_ == kInList || (depth_ == kInId && key_ == 0); }
  bool WantsTime() const { return depth_ == kInId && key_ == 1; }

  std::string ListPath() const {
    return "$." + std::string(in_switch_ ? kOnePerGroupKey : kUnseenKeys[list_]);
  }
  std::string ElementPath() {
    return ListPath() + "[" + std::to_string(depth_ == kInId ? place_ : List().ids.size()) + "]";
  }
  std::string ValuePath() {
    return depth_ == kInId ? ElementPath() + "." + std::string(kIdKeys[key_]) : ElementPath();
  }
  bool Refuse(std::string_view path, const std::string& message) {
    error = std::string(path) + ": " + message;
    return false;
  }
  bool Unknown(std::string_view path, const std::string& name, std::span<const std::string_view> keys) {
    const std::string shown = name.substr(0, 64);
    return Refuse(path, "unknown key \"" + shown + "\"; the nearest known one is \"" +
                            std::string(NearestWord(keys, shown)) + "\"");
  }
  bool Wrong(std::string_view found) {
    const auto expected = [&]() -> std::string_view {
      if (depth_ == 0) return "an object such as {\"items\":[\"a\",\"b\"]}";
      if (depth_ == 1) return in_switch_ ? "true or false" : "an array of item ids";
      if (WantsTime()) return "a whole number of ms since the epoch, or null";
      if (depth_ == kInId || list_ != 0) return "a string or an integer";
      return "a string, an integer or {\"id\":...,\"created_at\":...}";
    };
    return Refuse(depth_ == 0   ? "$"
                  : depth_ == 1 ? ListPath()
                                : ValuePath(),
                  "expected " + std::string(expected()) + ", found " + std::string(found));
  }
  bool BeyondTime() { return Refuse(ValuePath(), "not between 1970 and 2106; it is ms since the epoch"); }

  bool IdKey(const std::string& name) {
    const auto known = std::find(kIdKeys.begin(), kIdKeys.end(), name);
    if (known == kIdKeys.end()) return Unknown(ElementPath(), name, kIdKeys);
    key_ = static_cast<size_t>(known - kIdKeys.begin());
    if (key_given_[key_]) return Refuse(ValuePath(), "given twice");
    return key_given_[key_] = true;
  }
  bool Id(std::string_view id) {
    if (id.empty()) return Refuse(ValuePath(), "empty; an item id has 1 to 512 bytes");
    if (id.size() > kIdBytesMax) {
      return Refuse(ValuePath(), std::to_string(id.size()) + " bytes; an item id has 1 to 512 bytes");
    }
    if (List().ids.size() >= kUnseenItemsMax) {
      return Refuse(ListPath(), "more than 20000 items; split the request");
    }
    List().ids.emplace_back(out_.bytes.size(), id.size());
    out_.bytes.append(id);
    return true;
  }

  UnseenReader& out_;
  int depth_ = 0;
  size_t list_ = 0;
  bool in_switch_ = false;
  bool switch_given_ = false;
  // Of the id's object that is being read:
  size_t place_ = 0;
  size_t key_ = 0;
  std::array<bool, kIdKeys.size()> key_given_{};
  uint32_t second_ = 0;
};

}  // namespace

Status UnseenReader::Read(std::string_view body) {
  Handler handler(*this);
  if (!nlohmann::json::sax_parse(body.begin(), body.end(), &handler)) {
    return Fail(Code::kInvalidArgument, handler.error);
  }
  if (!lists[0].given) return Fail(Code::kInvalidArgument, "$.items: missing");
  return {};
}

}  // namespace seen
