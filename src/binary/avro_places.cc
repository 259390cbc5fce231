#include <algorithm>
#include <array>
#include <set>
#include <span>

#include "binary/bad_places.h"
#include "decode/event_format.h"

namespace seen {
namespace {

using Type = AvroType;
using Node = AvroReading::Node;
using Steps = std::span<const std::string>;

bool IsText(const Node& node) {
  return (node.type == Type::kString || node.type == Type::kBytes || node.type == Type::kFixed) &&
         node.logical != AvroLogical::kDecimal && node.logical != AvroLogical::kDuration;
}
bool IsFraction(const Node& node) {
  return node.shown == Type::kFloat || node.shown == Type::kDouble ||
         (node.logical == AvroLogical::kDecimal && node.scale > 0);
}
bool IsInteger(const Node& node) {
  return (node.shown == Type::kInt || node.shown == Type::kLong) ||
         (node.logical == AvroLogical::kDecimal && node.scale == 0);
}
bool IsId(const Node& node) { return IsText(node) || IsInteger(node) || node.type == Type::kEnum; }

bool IsTimeOfDay(const Node& node) {
  return node.logical == AvroLogical::kTimeMillis || node.logical == AvroLogical::kTimeMicros;
}

/// A value that the field may have. The two ways of reading agree on the rest.
bool IsUsable(const Node& node, Field field, const EventPlan::FieldPlan& plan) {
  switch (field) {
    case Field::kUserId:
    case Field::kItemId:
    case Field::kKind:
      return IsId(node);
    case Field::kItems:
      return node.type == Type::kArray || (plan.mapped && IsText(node));  // the text may be a JSON array
    case Field::kExposedAt:
    case Field::kItemCreatedAt:
    case Field::kItemsExposedAt:
      if (plan.unit == TimeUnit::kRfc3339) return IsText(node) || IsPointInTime(node.logical);
      return (IsInteger(node) && !IsTimeOfDay(node)) || (plan.mapped && (IsText(node) || IsFraction(node)));
    case Field::kScene:
    case Field::kRequestId:
      return IsText(node) || node.type == Type::kEnum || (plan.mapped && IsInteger(node));
    case Field::kPosition:
      return IsInteger(node) || (plan.mapped && IsText(node));
  }
  return true;
}

std::string_view ExpectedFor(Field field) {
  switch (field) {
    case Field::kItems:
      return "an array";
    case Field::kExposedAt:
    case Field::kItemCreatedAt:
    case Field::kItemsExposedAt:
      return "a time, such as a timestamp-millis or a long";
    case Field::kScene:
    case Field::kRequestId:
      return "a string";
    case Field::kPosition:
      return "an int or a long";
    default:
      return "a string, an int or a long";
  }
}

/// "a string", "a record shop.Item", "a timestamp-micros", "a union".
std::string NameOf(const AvroReading::Node& node) {
  const std::string_view logical = AvroLogicalName(node.logical);
  const std::string name(logical.empty() ? AvroTypeName(node.shown) : logical);
  const bool vowel = std::string_view("aeiou").find(name.front()) != std::string_view::npos &&
                     name != "union" && name != "uuid";
  return (vowel ? "an " : "a ") + name + (node.name.empty() ? "" : " " + node.name);
}

/// Where a pointer may end.
struct Ends {
  std::set<uint32_t> nodes;  // no unions
  bool unknown = false;      // in JSON in a text, which no schema describes
  std::string field;         // the last field on the way, for messages

  bool IsNowhere() const { return nodes.empty() && !unknown; }
};

class PlaceFinder {
 public:
  explicit PlaceFinder(const AvroReading& reading) : reading_(reading) {}

  Ends Start() const {
    Ends ends;
    Expand(reading_.root, ends.nodes);
    return ends;
  }

  /// "*" means each element of an array; only the pointer of items has such steps.
  Ends Follow(Ends from, Steps steps, bool stars = false) const {
    for (const std::string& step : steps) {
      Ends next;
      next.unknown = from.unknown;
      next.field = step;
      for (const uint32_t at : from.nodes) StepTo(reading_[at], step, stars, next);
      from = std::move(next);
    }
    return from;
  }

  /// The elements of the arrays at which `arrays` ends.
  Ends Elements(const Ends& arrays) const {
    Ends ends;
    ends.unknown = arrays.unknown;
    for (const uint32_t at : arrays.nodes) {
      if (IsText(reading_[at])) ends.unknown = true;
      if (reading_[at].type == Type::kArray) Expand(reading_[at].within.front(), ends.nodes);
    }
    return ends;
  }

 private:
  void Expand(uint32_t at, std::set<uint32_t>& nodes) const {
    const Node& node = reading_[at];
    if (!node.mismatch.empty() || node.type == Type::kNull) return;
    if (node.type == Type::kUnion) {
      for (const uint32_t branch : node.within) Expand(branch, nodes);
    } else {
      nodes.insert(at);
    }
  }

  void StepTo(const Node& node, const std::string& step, bool stars, Ends& next) const {
    if (IsText(node)) next.unknown = true;
    if (node.type == Type::kMap) Expand(node.within.front(), next.nodes);
    const bool is_index = ArrayIndexOf(step) != SIZE_MAX || (stars && step == "*");
    if (node.type == Type::kArray && is_index) Expand(node.within.front(), next.nodes);
    if (node.type != Type::kRecord) return;
    for (const AvroReading::Member& member : node.members) {
      if (member.kept && member.name == step) Expand(member.node, next.nodes);
    }
    for (const AvroReading::Default& each : node.defaults) {
      if (each.name == step) Expand(each.node, next.nodes);
    }
  }

  const AvroReading& reading_;
};

std::string PointerOf(Steps steps) {
  std::string pointer;
  for (const std::string& step : steps) {
    pointer += '/';
    for (const char c : step) pointer += c == '~' ? "~0" : c == '/' ? "~1" : std::string(1, c);
  }
  return pointer;
}

/// The field whose slot this is. nullopt: a condition looks at it.
std::optional<Field> FieldOf(uint8_t slot) {
  if (slot < kFields) return static_cast<Field>(slot);
  return slot >= EventPlan::kUserSlots ? std::optional(Field::kUserId) : std::nullopt;
}

class PlaceChecker {
 public:
  PlaceChecker(const AvroReading& reading, const EventPlan& plan)
      : reading_(reading), plan_(plan), finder_(reading) {}

  BadPlaces Check() {
    for (const auto& place : plan_.event_places) CheckPlace(place, finder_.Start(), false);
    if (has_items_) {
      CheckElements();
      for (const auto& place : plan_.element_places) CheckPlace(place, elements_, true);
    }
    CheckNeeded();
    return std::move(bad_);
  }

 private:
  void CheckPlace(const EventPlan::Place& place, const Ends& start, bool of_element) {
    const auto field = FieldOf(place.slot);
    if (!field) return;
    std::vector<std::string> steps = place.steps;
    const bool is_items = *field == Field::kItems;
    if (is_items) steps.insert(steps.end(), plan_.items_steps.begin(), plan_.items_steps.end());
    const Ends ends = finder_.Follow(start, steps, is_items);
    if (ends.IsNowhere()) {
      if (plan_[*field].mapped && *field != Field::kUserId) nowhere_.insert(*field);
      return;
    }
    found_[static_cast<size_t>(*field)] = true;
    if (of_element && *field == Field::kItemId) item_of_element_ = true;
    if (!of_element && *field == Field::kItemId) item_of_event_ = true;
    if (is_items) {
      has_items_ = true;
      elements_ = finder_.Elements(ends);
    }
    CheckUse(*field, steps, ends, of_element);
    if (IsTime(*field)) CheckUnit(*field, ends);
  }

  void CheckUse(Field field, Steps steps, const Ends& ends, bool of_element) {
    const auto usable = [&](uint32_t at) { return IsUsable(reading_[at], field, plan_[field]); };
    if (ends.unknown || std::any_of(ends.nodes.begin(), ends.nodes.end(), usable)) return;
    bad_.Fail(field, "\"" + PointerOf(steps) + "\" leads to " + NamesOf(ends) +
                         (of_element ? " in an element of items" : "") + "; point at " +
                         std::string(ExpectedFor(field)));
  }

  void CheckUnit(Field field, const Ends& ends) {
    const TimeUnit unit = plan_[field].unit;
    if (unit == TimeUnit::kMilliseconds) return;
    for (const uint32_t at : ends.nodes) {
      if (!IsPointInTime(reading_[at].logical)) continue;
      bad_.Fail(field, "unit \"" + std::string(TimeUnitName(unit)) + "\", but field " + ends.field +
                           " of the schema is " + NameOf(reading_[at]) +
                           ", which is read in ms; leave unit out");
    }
  }

  // An element is a record with an id, or an id.
  void CheckElements() {
    const auto usable = [&](uint32_t at) {
      const Node& node = reading_[at];
      return node.type == Type::kRecord || node.type == Type::kMap || IsId(node);
    };
    scalar_elements_ = elements_.unknown || std::any_of(elements_.nodes.begin(), elements_.nodes.end(),
                                                        [&](uint32_t at) { return IsId(reading_[at]); });
    if (elements_.unknown || std::any_of(elements_.nodes.begin(), elements_.nodes.end(), usable)) return;
    const bool none = elements_.nodes.empty();
    bad_.Fail(Field::kItems, "its elements are " +
                                 (none ? std::string("always null") : "each " + NamesOf(elements_)) +
                                 "; point at an array of ids, or of records with an id");
  }

  void CheckNeeded() {
    const auto is_found = [&](Field field) { return found_[static_cast<size_t>(field)]; };
    const auto fail = [&](Field field, std::string_view what) {
      bad_.Miss(field, std::string(what) + " leads nowhere in schema record " + reading_.record +
                           ", which has " + Fields() + "; map it to one of these");
    };
    if (!is_found(Field::kUserId)) fail(Field::kUserId, plan_[Field::kUserId].path);
    if (!is_found(Field::kExposedAt) && !is_found(Field::kItemsExposedAt))
      fail(Field::kExposedAt, plan_[Field::kExposedAt].path);
    if (!item_of_event_ && !has_items_) {
      const bool batches = plan_.items_only;
      fail(batches ? Field::kItems : Field::kItemId,
           batches ? plan_[Field::kItems].path : plan_[Field::kItemId].path);
    }
    if (!item_of_event_ && has_items_ && !scalar_elements_ && !item_of_element_)
      bad_.Miss(Field::kItemId, plan_[Field::kItemId].path +
                                    " leads nowhere in the elements of items, which are each " +
                                    NamesOf(elements_) + "; map it to the field with the item's id");
    for (const Field field : nowhere_) {
      if (!is_found(field)) fail(field, plan_[field].path);
    }
  }

  std::string NamesOf(const Ends& ends) const {
    std::string names;
    size_t count = 0;
    for (const uint32_t at : ends.nodes) {
      if (count == 3) return names + " or another type";
      names += (count++ == 0 ? "" : " or ") + NameOf(reading_[at]);
    }
    return names;
  }

  std::string Fields() const {
    constexpr size_t kShown = 20;
    std::string names;
    size_t count = 0;
    for (const uint32_t at : finder_.Start().nodes) {
      for (const auto& member : reading_[at].members) {
        if (!member.kept || count == kShown) continue;
        names += (count++ == 0 ? "" : ", ") + member.name;
      }
    }
    return count == 0 ? "no field" : "the fields " + names + (count == kShown ? ", ..." : "");
  }

  const AvroReading& reading_;
  const EventPlan& plan_;
  PlaceFinder finder_;
  std::array<bool, kFields> found_{};
  std::set<Field> nowhere_;  // mapped fields without a value at one of their places
  bool item_of_event_ = false, item_of_element_ = false, has_items_ = false, scalar_elements_ = false;
  Ends elements_;
  BadPlaces bad_;
};

}  // namespace

BadPlaces FindBadPlaces(const AvroReading& reading, const EventPlan& plan) {
  return PlaceChecker(reading, plan).Check();
}

}  // namespace seen
