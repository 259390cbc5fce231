#include "decode/event_plan.h"

#include <algorithm>
#include <utility>

#include "base/result.h"

namespace seen {
namespace {

using Steps = std::vector<std::string>;

constexpr std::array<std::string_view, kFields> kFieldNames = {
    "user_id",  "item_id",    "items", "exposed_at",      "scene",
    "position", "request_id", "kind",  "item_created_at", "items_exposed_at"};

constexpr Field kAllFields[] = {
    Field::kUserId,   Field::kItemId,    Field::kItems, Field::kExposedAt,     Field::kScene,
    Field::kPosition, Field::kRequestId, Field::kKind,  Field::kItemCreatedAt, Field::kItemsExposedAt};

bool IsOfAnItem(Field field) {
  return field == Field::kItemId || field == Field::kPosition || field == Field::kItemCreatedAt ||
         field == Field::kItemsExposedAt;
}
bool HasStar(const Steps& steps) { return std::find(steps.begin(), steps.end(), "*") != steps.end(); }

class Planner {
 public:
  explicit Planner(const EventFormat& format) : format_(format) {
    for (const auto& rule : format.fields) any_mapped_ |= rule.has_value();
    items_mapped_ = Rule(Field::kItems).has_value();
    single_only_ = Rule(Field::kItemId).has_value() && !items_mapped_;
  }

  tl::expected<std::shared_ptr<const EventPlan>, FormatError> Make() {
    MakeKinds();
    plan_->wanted = format_.wanted;
    plan_->wanted.kind |= format_.kinds.has_value();
    const bool needs_scene = std::any_of(format_.filters.begin(), format_.filters.end(),
                                         [](const Coverage& filter) { return !filter.scenes.empty(); });
    plan_->wanted.scene |= needs_scene;
    for (const Field field : kAllFields) PlanField(field);
    PlanUser();
    PlanItems();

    plan_->only_if = Numbered(format_.only_if, "input.only_if");
    for (size_t i = 0; i < format_.filters.size(); ++i) {
      const Coverage& filter = format_.filters[i];
      plan_->coverage.Add(filter.scenes, Numbered(filter.when, "filters[" + std::to_string(i) + "].when"));
    }
    if (error_) return tl::unexpected(std::move(*error_));

    const Wanted& wanted = plan_->wanted;
    plan_->items_only = items_mapped_;
    plan_->elements_may_be_text = items_mapped_ || !format_.items_only_if.empty() ||
                                  std::any_of(std::begin(kAllFields), std::end(kAllFields), [&](Field field) {
                                    return IsOfAnItem(field) && Rule(field).has_value();
                                  });
    plan_->details = wanted.position || wanted.item_created_at || Rule(Field::kItemsExposedAt).has_value();
    plan_->extras = wanted.scene || wanted.request_id || plan_->details || !plan_->only_if.empty() ||
                    !plan_->coverage.covers_all() || plan_->chooses_user ||
                    (*plan_)[Field::kExposedAt].unit != TimeUnit::kMilliseconds;
    plan_->lenient = format_.lenient;
    plan_->framed = format_.framed;
    plan_->binary = format_.binary;
    plan_->items_skip_invalid = format_.items_skip_invalid;
    if (any_mapped_ || format_.kinds || !plan_->only_if.empty() || !plan_->coverage.covers_all() ||
        plan_->chooses_user || plan_->lenient || plan_->items_skip_invalid || !plan_->items_only_if.empty() ||
        plan_->binary) {
      EventFormat own;
      own.declared_kinds = format_.declared_kinds;
      own.wanted = wanted;
      own.wanted.kind = true;
      plan_->own = *Planner(own).Make();
    }
    return std::shared_ptr<const EventPlan>(std::move(plan_));
  }

 private:
  const std::optional<FieldRule>& Rule(Field field) const {
    return format_.fields[static_cast<size_t>(field)];
  }

  void Fail(std::string path, std::string message) {
    if (!error_) error_ = FormatError{std::move(path), std::move(message)};
  }

  void MakeKinds() {
    const KindTable known(format_.declared_kinds);
    plan_->kinds = format_.kinds ? KindTable(known, *format_.kinds) : known;
  }

  /// True: the field is read. A field that isn't wanted is read only if the default format promises to check
  /// its type; a schema has checked it already.
  bool IsRead(Field field) const {
    const Wanted& wanted = plan_->wanted;
    const bool is_checked = !any_mapped_ && !format_.binary;
    switch (field) {
      case Field::kKind:
        return wanted.kind;
      case Field::kItemCreatedAt:
        return wanted.item_created_at;
      case Field::kScene:
        return wanted.scene || is_checked;
      case Field::kPosition:
        return wanted.position || is_checked;
      case Field::kRequestId:
        return wanted.request_id || is_checked;
      case Field::kItems:
        return !single_only_;
      case Field::kItemsExposedAt:
        return Rule(field).has_value();
      default:
        return true;
    }
  }

  void PlanField(Field field) {
    const auto slot = static_cast<uint8_t>(field);
    const std::string name(FieldName(field));
    const auto& rule = Rule(field);
    EventPlan::FieldPlan& planned = plan_->fields[slot];
    planned.mapped = rule.has_value();
    planned.path = name;
    if (rule) {
      planned.unit = rule->unit;
      planned.pointer = rule->at.text;
      planned.path += " (" + rule->at.text;
      for (const JsonPointer& other : rule->others) planned.path += ", " + other.text;
      planned.path += ")";
    } else if (items_mapped_ && IsOfAnItem(field)) {
      planned.pointer = "/" + name;
    }
    Steps steps = rule ? rule->at.steps : Steps{name};
    const auto star = std::find(steps.begin(), steps.end(), "*");
    if (star != steps.end() && field != Field::kItems) {
      Fail("input.fields." + name, "\"" + rule->at.text + "\": a \"*\" step is for items alone; point at " +
                                       (IsOfAnItem(field) ? "a place within an element of items"
                                                          : "one value, if needed with an array index"));
      return;
    }
    if (static_cast<size_t>(std::count(star, steps.end(), "*")) > EventFormat::kItemStarsMax) {
      Fail("input.fields." + name, "\"" + rule->at.text + "\": at most " +
                                       std::to_string(EventFormat::kItemStarsMax) + " \"*\" steps");
      return;
    }
    if (!IsRead(field)) return;
    plan_->items_steps.insert(plan_->items_steps.end(), star, steps.end());
    if (star != steps.end()) plan_->plain = false;
    steps.erase(star, steps.end());
    if (IsOfAnItem(field) && !single_only_) Add(plan_->element_pointers, plan_->element_names, steps, slot);
    if ((IsOfAnItem(field) && items_mapped_) || field == Field::kItemsExposedAt) return;
    Add(plan_->event_pointers, plan_->event_names, steps, slot);
    read_.push_back({std::move(steps), slot});
  }

  void PlanUser() {
    plan_->user_slots.push_back(static_cast<uint8_t>(Field::kUserId));
    if (const auto& rule = Rule(Field::kUserId)) {
      for (const JsonPointer& other : rule->others) {
        if (HasStar(other.steps)) {
          Fail("input.fields.user_id", "\"" + other.text + "\": a \"*\" step is for items alone");
          return;
        }
        const auto slot = static_cast<uint8_t>(EventPlan::kUserSlots + plan_->user_slots.size() - 1);
        plan_->user_slots.push_back(slot);
        Add(plan_->event_pointers, plan_->event_names, other.steps, slot);
        read_.push_back({other.steps, slot});
      }
    }
    for (const std::string& id : format_.ids_ignored) plan_->ids_ignored.Add(id, 0);
    plan_->chooses_user = plan_->user_slots.size() > 1 || !format_.ids_ignored.empty();
  }

  // What is asked of an element of `items` beyond its fields. The short way doesn't ask it.
  void PlanItems() {
    if (single_only_ && (Rule(Field::kItemsExposedAt) || !format_.items_only_if.empty())) {
      Fail(Rule(Field::kItemsExposedAt) ? "input.fields.items_exposed_at" : "input.items_only_if",
           "is for events with items, and input.fields has item_id without items; map items too");
      return;
    }
    if (Rule(Field::kItemsExposedAt)) plan_->plain = false;
    for (const Condition& condition : format_.items_only_if) {
      if (!PointsAtOneValue(condition.at, "input.items_only_if")) return;
      const auto slot = static_cast<uint8_t>(kFields + plan_->items_only_if.size());
      plan_->element_pointers.Add(condition.at.steps, slot);
      plan_->items_only_if.push_back({condition, slot});
      plan_->plain = false;
    }
  }

  bool PointsAtOneValue(const JsonPointer& at, const std::string& path) {
    if (!HasStar(at.steps)) return true;
    Fail(path, "\"" + at.text +
                   "\": a condition looks at one value, so its pointer can't have a \"*\" step; "
                   "for a condition on each element of items use input.items_only_if");
    return false;
  }

  void Add(PointerTree& pointers, NameTable& names, const Steps& steps, uint8_t slot) {
    const bool of_element = &pointers == &plan_->element_pointers;
    (of_element ? plan_->element_places : plan_->event_places).push_back({steps, slot});
    pointers.Add(steps, slot);
    // The short way can read only the members of a flat object, each in one role.
    if (steps.size() != 1 || names.Add(steps.front(), slot) != slot) plan_->plain = false;
  }

  std::vector<NumberedCondition> Numbered(const std::vector<Condition>& conditions, const std::string& path) {
    std::vector<NumberedCondition> numbered;
    numbered.reserve(conditions.size());
    for (const Condition& condition : conditions) numbered.push_back({condition, SlotOf(condition.at, path)});
    return numbered;
  }

  /// A field's slot if the condition tests a field, else an attribute's slot.
  uint8_t SlotOf(const JsonPointer& at, const std::string& path) {
    if (!PointsAtOneValue(at, path)) return 0;
    const auto items = static_cast<uint8_t>(Field::kItems);
    for (const auto& [steps, slot] : read_) {
      if (steps != at.steps || slot == items) continue;
      plan_->condition_slots |= SlotBit(slot);
      return slot;
    }
    if (next_attribute_ == EventPlan::kUserSlots) {
      Fail(path, "\"" + at.text + "\": conditions look at more than " +
                     std::to_string(EventFormat::kAttributesMax) + " places of an event; use fewer");
      return 0;
    }
    const auto slot = static_cast<uint8_t>(next_attribute_++);
    plan_->condition_slots |= SlotBit(slot);
    Add(plan_->event_pointers, plan_->event_names, at.steps, slot);
    read_.push_back({at.steps, slot});
    return slot;
  }

  struct ReadPointer {
    Steps steps;
    uint8_t slot;
  };

  const EventFormat& format_;
  bool any_mapped_ = false;
  bool items_mapped_ = false;  // every event is a batch
  bool single_only_ = false;   // no event is a batch
  std::shared_ptr<EventPlan> plan_ = std::make_shared<EventPlan>();
  std::vector<ReadPointer> read_;
  size_t next_attribute_ = kFields;
  std::optional<FormatError> error_;
};

}  // namespace

std::string_view FieldName(Field field) { return kFieldNames[static_cast<size_t>(field)]; }

tl::expected<std::shared_ptr<const EventPlan>, FormatError> EventPlan::Make(const EventFormat& format) {
  return Planner(format).Make();
}

const std::shared_ptr<const EventPlan>& EventPlan::Default() {
  static const std::shared_ptr<const EventPlan> plan = *Make({});
  return plan;
}

}  // namespace seen
