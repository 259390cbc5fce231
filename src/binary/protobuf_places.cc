#include <google/protobuf/descriptor.h>

#include <array>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "binary/bad_places.h"
#include "binary/protobuf_types.h"
#include "decode/event_format.h"

namespace seen {
namespace {

namespace pb = google::protobuf;
using Meaning = ProtobufMeaning;
using Steps = std::span<const std::string>;

/// Where a pointer ends.
struct End {
  const pb::FieldDescriptor* field = nullptr;
  bool is_element = false;  // one value of a repeated field
  bool is_unknown = false;  // in JSON in a text, which no schema describes

  bool IsNowhere() const { return field == nullptr && !is_unknown; }
  bool IsList() const { return field != nullptr && field->is_repeated() && !is_element; }
};

End Follow(const pb::Descriptor& start, Steps steps) {
  const pb::Descriptor* type = &start;
  End end;
  while (!steps.empty()) {
    end = {type->FindFieldByName(steps.front())};
    steps = steps.subspan(1);
    if (end.field == nullptr) return {};
    if (end.IsList() && !steps.empty()) {
      const bool is_index = ArrayIndexOf(steps.front()) != SIZE_MAX || steps.front() == "*";
      if (end.field->is_map()) {
        end.field = end.field->message_type()->map_value();
      } else if (is_index) {
        end.is_element = true;
      } else {
        return {};
      }
      steps = steps.subspan(1);
    }
    if (steps.empty()) return end;
    const Meaning meaning = MeaningOf(*end.field);
    if (meaning == Meaning::kText) return {end.field, true, true};
    if (meaning != Meaning::kMessage) return {};
    type = end.field->message_type();
  }
  return end;
}

bool IsId(Meaning meaning) {
  return meaning == Meaning::kText || meaning == Meaning::kEnum || meaning == Meaning::kInteger ||
         meaning == Meaning::kTimestamp;
}

/// Whether the field can have such a value. The two ways of reading agree on the rest.
bool IsUsable(const End& end, Field field, const EventPlan::FieldPlan& plan) {
  if (end.is_unknown) return true;
  const Meaning meaning = MeaningOf(*end.field);
  const bool is_text = meaning == Meaning::kText;
  const bool is_integer = meaning == Meaning::kInteger || meaning == Meaning::kTimestamp;
  if (field == Field::kItems)  // the text may be a JSON array
    return end.IsList() ? !end.field->is_map() : plan.mapped && is_text;
  if (end.IsList()) return false;
  switch (field) {
    case Field::kExposedAt:
    case Field::kItemCreatedAt:
    case Field::kItemsExposedAt:
      if (plan.unit == TimeUnit::kRfc3339) return is_text || meaning == Meaning::kTimestamp;
      return is_integer || (plan.mapped && (is_text || meaning == Meaning::kFraction));
    case Field::kScene:
    case Field::kRequestId:
      return is_text || meaning == Meaning::kEnum || (plan.mapped && is_integer);
    case Field::kPosition:
      return is_integer || (plan.mapped && is_text);
    default:
      return IsId(meaning);
  }
}

std::string_view ExpectedFor(Field field) {
  switch (field) {
    case Field::kItems:
      return "a repeated field";
    case Field::kExposedAt:
    case Field::kItemCreatedAt:
    case Field::kItemsExposedAt:
      return "a time, such as a google.protobuf.Timestamp or an int64";
    case Field::kScene:
    case Field::kRequestId:
      return "a string or an enum";
    case Field::kPosition:
      return "an integer";
    default:
      return "a string or an integer";
  }
}

class PlaceChecker {
 public:
  PlaceChecker(const ProtobufSchema& schema, const EventPlan& plan) : type_(schema.message()), plan_(plan) {}

  BadPlaces Check() {
    for (const auto& place : plan_.event_places) CheckPlace(place, type_, false);
    if (items_.field != nullptr && !items_.is_unknown && items_.IsList()) CheckElements(*items_.field);
    CheckNeeded();
    return std::move(bad_);
  }

 private:
  void CheckPlace(const EventPlan::Place& place, const pb::Descriptor& start, bool of_element) {
    if (place.slot >= kFields && place.slot < EventPlan::kUserSlots) return;  // a condition's
    const Field field = place.slot < kFields ? static_cast<Field>(place.slot) : Field::kUserId;
    std::vector<std::string> steps = place.steps;
    const bool is_items = field == Field::kItems;
    if (is_items) steps.insert(steps.end(), plan_.items_steps.begin(), plan_.items_steps.end());
    const End end = Follow(start, steps);
    if (end.IsNowhere()) {
      if (plan_[field].mapped && field != Field::kUserId) nowhere_.insert(field);
      return;
    }
    found_[of_element] |= SlotBit(static_cast<size_t>(field));
    if (is_items) items_ = end;
    std::string pointer;
    for (const std::string& step : steps) pointer += "/" + step;
    if (!IsUsable(end, field, plan_[field]))
      return bad_.Fail(field, "\"" + pointer + "\" leads to " + TypeNameOf(*end.field, end.is_element) +
                                  (of_element ? " in an element of items" : "") + "; point at " +
                                  std::string(ExpectedFor(field)));
    const TimeUnit unit = plan_[field].unit;
    if (IsTime(field) && !end.is_unknown && unit != TimeUnit::kMilliseconds &&
        MeaningOf(*end.field) == Meaning::kTimestamp)
      bad_.Fail(field, "unit \"" + std::string(TimeUnitName(unit)) + "\", but \"" + pointer +
                           "\" leads to a google.protobuf.Timestamp, which is read in ms; leave unit out");
  }

  // An element is a message with an id, or an id.
  void CheckElements(const pb::FieldDescriptor& items) {
    const Meaning meaning = MeaningOf(items);
    if (meaning == Meaning::kMessage) {
      for (const auto& place : plan_.element_places) CheckPlace(place, *items.message_type(), true);
      if (!Has(Field::kItemId, true))
        bad_.Miss(Field::kItemId, plan_[Field::kItemId].path +
                                      " leads nowhere in the elements of items, which are " +
                                      TypeNameOf(items, true) + "; map it to the field with the item's id");
    } else if (!IsId(meaning)) {
      bad_.Fail(Field::kItems, "its elements are " + TypeNameOf(items, true) +
                                   "; point at a repeated field of ids, or of messages with an id");
    }
  }

  bool Has(Field field, bool of_element) const {
    return (found_[of_element] & SlotBit(static_cast<size_t>(field))) != 0;
  }

  void CheckNeeded() {
    const auto fail = [&](Field field) {
      bad_.Miss(field, plan_[field].path + " leads nowhere in message " + type_.full_name() + ", which has " +
                           Fields() + "; map it to one of these");
    };
    if (!Has(Field::kUserId, false)) fail(Field::kUserId);
    if (!Has(Field::kExposedAt, false) && !plan_[Field::kItemsExposedAt].mapped) fail(Field::kExposedAt);
    if (!Has(Field::kItemId, false) && items_.IsNowhere())
      fail(plan_.items_only ? Field::kItems : Field::kItemId);
    for (const Field field : nowhere_) {
      if (!Has(field, false) && !Has(field, true)) fail(field);
    }
  }

  std::string Fields() const {
    constexpr int kShown = 20;
    if (type_.field_count() == 0) return "no field";
    std::string names = "the fields ";
    for (int i = 0; i < type_.field_count(); ++i) {
      if (i == kShown) return names + ", ...";
      names += (i == 0 ? "" : ", ") + type_.field(i)->name();
    }
    return names;
  }

  const pb::Descriptor& type_;
  const EventPlan& plan_;
  std::array<uint32_t, 2> found_{};  // slots whose place is there: of the event, of an element
  std::set<Field> nowhere_;          // mapped fields without a value at one of their places
  End items_;
  BadPlaces bad_;
};

}  // namespace

BadPlaces FindBadPlaces(const ProtobufSchema& schema, const EventPlan& plan) {
  return PlaceChecker(schema, plan).Check();
}

}  // namespace seen
