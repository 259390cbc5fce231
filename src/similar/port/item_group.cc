#include "similar/port/item_group.h"

#include <simdjson.h>

#include <algorithm>
#include <array>
#include <charconv>

#include "decode/document_values.h"
#include "decode/event_format.h"
#include "decode/json_document.h"
#include "decode/json_text.h"

namespace seen {

namespace {
constexpr std::array<std::string_view, 6> kFoundByNames = {"first",   "copy", "simhash",
                                                           "minhash", "both", "no_text"};
}  // namespace

std::string_view FoundByName(FoundBy found) { return kFoundByNames[static_cast<size_t>(found)]; }

std::optional<FoundBy> ParseFoundBy(std::string_view name) {
  for (size_t i = 0; i < kFoundByNames.size(); ++i) {
    if (kFoundByNames[i] == name) return static_cast<FoundBy>(i);
  }
  return std::nullopt;
}

namespace {

namespace dom = simdjson::dom;

constexpr size_t kRecordBytesMax = 1 << 20;
constexpr int kDistanceMax = 64;

// --- out

void AppendInteger(int64_t number, std::string& out) {
  char digits[20];
  out.append(digits, std::to_chars(digits, digits + sizeof digits, number).ptr);
}

/// At most four digits after the point, without zeros at the end: "0.93", "1".
void AppendSimilarity(const std::optional<double>& similarity, std::string& out) {
  if (!similarity) {
    out += "null";
    return;
  }
  char digits[16];
  const double within = std::clamp(*similarity, 0.0, 1.0);
  char* end = std::to_chars(digits, digits + sizeof digits, within, std::chars_format::fixed, 4).ptr;
  while (end[-1] == '0') --end;
  if (end[-1] == '.') --end;
  out.append(digits, end);
}

void AppendMatch(const std::optional<double>& similarity, const std::optional<double>& containment,
                 int distance, std::string& out) {
  out += R"("similarity":)";
  AppendSimilarity(similarity, out);
  if (containment) {
    out += R"(,"containment":)";
    AppendSimilarity(containment, out);
  }
  out += R"(,"distance":)";
  AppendInteger(distance, out);
}

void AppendNear(const NearItem& near, std::string& out) {
  out += R"({"item_id":)";
  AppendJsonString(near.item_id, out);
  out += ',';
  AppendMatch(near.similarity, near.containment, near.distance, out);
  out.append(R"(,"found_by":")").append(FoundByName(near.found)).append("\"}");
}

// --- in

/// Reads members of one object as the types that they must have. Keeps the first mistake.
class Members {
 public:
  /// `path`: of the object, "" or "near[3]."
  Members(dom::object object, std::string path) : object_(object), path_(std::move(path)) {}

  std::string Id(std::string_view name) {
    dom::element value;
    if (!Find(name, value)) return {};
    Digits digits;
    if (const auto id = ReadId(value, digits)) return std::string(*id);
    const Problem problem = ProblemOfId(value);
    Wrong(name, problem.what, problem.expected);
    return {};
  }
  std::string OptionalId(std::string_view name) {
    dom::element value;
    if (object_[name].get(value) != simdjson::SUCCESS || value.is_null()) return {};
    return Id(name);
  }
  int64_t Integer(std::string_view name, int64_t maximum) {
    dom::element value;
    int64_t number = 0;
    if (!Find(name, value)) return 0;
    if (value.get(number) != simdjson::SUCCESS || number < 0 || number > maximum)
      Wrong(name, TypeName(value), "an integer from 0 to " + std::to_string(maximum));
    return number;
  }
  std::optional<double> Similarity(std::string_view name) {
    dom::element value;
    double number = 0;
    if (object_[name].get(value) != simdjson::SUCCESS || value.is_null()) return std::nullopt;
    if (value.get(number) != simdjson::SUCCESS || !(number >= 0 && number <= 1))
      Wrong(name, TypeName(value), "a number from 0 to 1, or null");
    return number;
  }
  FoundBy Found(std::string_view name) {
    dom::element value;
    std::string_view text;
    if (!Find(name, value)) return FoundBy::kFirst;
    const auto found = value.get(text) == simdjson::SUCCESS ? ParseFoundBy(text) : std::nullopt;
    if (!found) Wrong(name, TypeName(value), "one of first, copy, simhash, minhash, both, no_text");
    return found.value_or(FoundBy::kFirst);
  }
  std::vector<NearItem> Near(std::string_view name) {
    std::vector<NearItem> near;
    dom::element value;
    dom::array items;
    if (object_[name].get(value) != simdjson::SUCCESS || value.is_null()) return near;
    if (value.get(items) != simdjson::SUCCESS || items.size() > kNearItemsMax) {
      Wrong(name, TypeName(value), "an array of at most " + std::to_string(kNearItemsMax) + " objects");
      return near;
    }
    near.reserve(items.size());
    for (const dom::element item : items) {
      const std::string path = path_ + std::string(name) + "[" + std::to_string(near.size()) + "]";
      dom::object object;
      if (item.get(object) != simdjson::SUCCESS) {
        if (wrong_.empty()) wrong_ = Message(path, TypeName(item), "an object");
        return near;
      }
      Members within(object, path + ".");
      near.push_back({within.Id("item_id"), within.Similarity("similarity"),
                      static_cast<int>(within.Integer("distance", kDistanceMax)), within.Found("found_by"),
                      within.Similarity("containment")});
      if (wrong_.empty()) wrong_ = within.wrong();
    }
    return near;
  }

  const std::string& wrong() const { return wrong_; }

 private:
  bool Find(std::string_view name, dom::element& value) {
    if (object_[name].get(value) == simdjson::SUCCESS) return true;
    Wrong(name, "missing", {});
    return false;
  }
  void Wrong(std::string_view name, std::string_view what, std::string_view expected) {
    if (wrong_.empty()) wrong_ = Message(path_ + std::string(name), what, expected);
  }

  dom::object object_;
  std::string path_;
  std::string wrong_;
};

}  // namespace

void WriteItemGroup(const ItemGroup& group, std::string& out) {
  out += R"({"item_id":)";
  AppendJsonString(group.item_id, out);
  out += R"(,"group_id":)";
  AppendJsonString(group.group_id, out);
  out += R"(,"created_at":)";
  AppendInteger(group.created_at.value, out);
  out.append(R"(,"found_by":")").append(FoundByName(group.found)).append("\",");
  AppendMatch(group.similarity, group.containment, group.distance, out);
  out += R"(,"near":[)";
  for (size_t i = 0; i < group.near.size(); ++i) {
    if (i > 0) out += ',';
    AppendNear(group.near[i], out);
  }
  out += R"(],"moved_from":)";
  if (group.moved_from.empty()) {
    out += "null";
  } else {
    AppendJsonString(group.moved_from, out);
  }
  out += '}';
}

Result<ItemGroup> ReadItemGroup(std::string_view json) {
  thread_local JsonDocument document(kRecordBytesMax,
                                     {"a record of groups", "the most such a record may have"});
  constexpr std::string_view kRemedy = " (schemas/item_groups.md says what such a record has)";
  const auto object = document.ParseObject(json);
  if (!object) return Fail(Code::kMalformed, object.error().message + std::string(kRemedy));
  Members members(*object, "");
  ItemGroup group;
  group.item_id = members.Id("item_id");
  group.group_id = members.Id("group_id");
  group.created_at = {members.Integer("created_at", kExposedAtEnd - 1)};
  group.found = members.Found("found_by");
  group.similarity = members.Similarity("similarity");
  group.containment = members.Similarity("containment");
  group.distance = static_cast<int>(members.Integer("distance", kDistanceMax));
  group.near = members.Near("near");
  group.moved_from = members.OptionalId("moved_from");
  if (!members.wrong().empty()) return Fail(Code::kMalformed, members.wrong() + std::string(kRemedy));
  return group;
}

}  // namespace seen
