#include "unit/decode/second_reading.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

namespace seen {
namespace {

using nlohmann::json;

const json* At(const json& from, std::span<const std::string> steps) {
  const json* at = &from;
  for (const std::string& step : steps) {
    if (at->is_object() && at->contains(step)) {
      at = &(*at)[step];
    } else if (at->is_array() && ArrayIndexOf(step) < at->size()) {
      at = &(*at)[ArrayIndexOf(step)];
    } else {
      return nullptr;
    }
  }
  return at;
}

/// Applies the rules to one event. If `ok_` is false at the end, the event is rejected.
class Reading {
 public:
  Reading(const EventFormat& format, const json& event) : format_(format), event_(event) {
    for (const auto& rule : format.fields) any_mapped_ |= rule.has_value();
    items_mapped_ = Rule(Field::kItems).has_value();
    single_only_ = Rule(Field::kItemId).has_value() && !items_mapped_;
    wants_kind_ = format.wanted.kind || format.kinds;
    for (const Coverage& filter : format.filters) wants_scene_ |= !filter.scenes.empty();
    wants_scene_ |= format.wanted.scene;
  }

  std::optional<ReadEvent> Do() {
    ReadEvent read;
    if (!AllHold(format_.only_if)) {
      read.skip = SkipReason::kCondition;
      return read;
    }
    Kind(read);
    if (!ok_ || read.skip != SkipReason::kNone) return ok_ ? std::optional(read) : std::nullopt;
    const json* const user = Of(Field::kUserId);
    read.user_id = user != nullptr ? Id(*user) : Refuse("");
    if (read.kind == EventKind::kErased) {
      for (const Field field : {Field::kItemId, Field::kItems}) {
        const json* const item = EventLevel(field) ? At(event_, StepsToStar(field)) : nullptr;
        ok_ &= item == nullptr || item->is_null();
      }
    } else {
      Items(read);
    }
    const json* const time = Of(Field::kExposedAt);
    read.exposed_at = time != nullptr ? Time(*time, Field::kExposedAt) : Refuse(0);
    read.scene = Text(Field::kScene, wants_scene_);
    read.request_id = Text(Field::kRequestId, format_.wanted.request_id);
    ReadItem common;
    if (!items_mapped_) Details(event_, common);
    for (ReadItem& item : read.items) {
      if (!item.position) item.position = common.position;
      if (!item.created_at) item.created_at = common.created_at;
    }
    for (size_t i = 0; i < format_.filters.size() && read.kind != EventKind::kErased; ++i) {
      const Coverage& filter = format_.filters[i];
      if (!CoversScene(filter.scenes, read.scene) || !AllHold(filter.when))
        read.filters &= ~(FilterBits{1} << i);
    }
    return ok_ ? std::optional(read) : std::nullopt;
  }

 private:
  template <typename T>
  T Refuse(T value) {
    ok_ = false;
    return value;
  }
  std::string Refuse(const char* value) { return Refuse(std::string(value)); }

  const std::optional<FieldRule>& Rule(Field field) const {
    return format_.fields[static_cast<size_t>(field)];
  }
  std::vector<std::string> Steps(Field field) const {
    return Rule(field) ? Rule(field)->at.steps : std::vector<std::string>{std::string(FieldName(field))};
  }
  std::vector<std::string> StepsToStar(Field field) const {
    const auto steps = Steps(field);
    return {steps.begin(), std::find(steps.begin(), steps.end(), "*")};
  }
  const json* Of(Field field) const { return At(event_, Steps(field)); }
  bool EventLevel(Field field) const {
    if (field == Field::kItems) return !single_only_;
    return !items_mapped_;
  }

  bool AllHold(const std::vector<Condition>& conditions) const {
    return std::all_of(conditions.begin(), conditions.end(), [&](const Condition& condition) {
      const json* const value = At(event_, condition.at.steps);
      if (value == nullptr) return false;
      Scalar scalar;
      std::string text;
      if (value->is_string()) {
        text = value->get<std::string>();
        scalar.kind = ScalarKind::kString;
      } else if (value->is_number_integer()) {
        text = value->dump();
        scalar.kind = ScalarKind::kInteger;
      } else if (value->is_boolean()) {
        text = value->dump();
        scalar.kind = ScalarKind::kBoolean;
      }
      scalar.text = text;
      return Holds(condition, scalar);
    });
  }

  void Kind(ReadEvent& read) {
    const json* const value = wants_kind_ ? Of(Field::kKind) : nullptr;
    if (value == nullptr || value->is_null()) return;
    if (!value->is_string() && !value->is_number_integer()) return (void)Refuse(0);
    const std::string name = value->is_string() ? value->get<std::string>() : value->dump();
    std::optional<std::string> kind = name;
    if (format_.kinds) {
      const auto mapping = std::find_if(format_.kinds->begin(), format_.kinds->end(),
                                        [&](const KindMapping& each) { return each.value == name; });
      if (mapping == format_.kinds->end()) return (void)Refuse(0);
      kind = mapping->kind;
    }
    if (!kind) {
      read.skip = SkipReason::kKind;
      return;
    }
    const std::vector<std::string> built_in = {"exposed", "served", "removed", "erased"};
    const auto known = std::find(built_in.begin(), built_in.end(), *kind);
    if (known != built_in.end()) {
      read.kind = static_cast<EventKind>(known - built_in.begin());
      return;
    }
    for (const DeclaredKind& declared : format_.declared_kinds) {
      if (declared.name == *kind) return (void)(read.kind = declared.number);
    }
    Refuse(0);
  }

  void Items(ReadEvent& read) {
    const json* const one = EventLevel(Field::kItemId) ? Of(Field::kItemId) : nullptr;
    std::vector<std::string> steps = Steps(Field::kItems);
    const auto star = std::find(steps.begin(), steps.end(), "*");
    const json* const many = EventLevel(Field::kItems) ? At(event_, StepsToStar(Field::kItems)) : nullptr;
    if ((one == nullptr) == (many == nullptr)) return (void)Refuse(0);
    if (one != nullptr) {
      read.items.push_back({Id(*one), {}, {}});
      return;
    }
    Walk(*many, {star, steps.end()}, read);
    ok_ &= !read.items.empty() && read.items.size() <= 10'000;
  }

  void Walk(const json& at, std::span<const std::string> steps, ReadEvent& read) {
    if (at.is_null() && items_mapped_) return;
    if (steps.empty()) {
      if (!at.is_array()) return (void)Refuse(0);
      for (const json& item : at) Item(item, read);
    } else if (steps.front() == "*") {
      if (!at.is_array()) return (void)Refuse(0);
      for (const json& element : at) Walk(element, steps.subspan(1), read);
    } else if (!at.is_object()) {
      Refuse(0);
    } else if (at.contains(steps.front())) {
      Walk(at[steps.front()], steps.subspan(1), read);
    }
  }

  /// An object that stands in a string, where a pointer of an element or of `items` is mapped.
  json InText(const json& element) const {
    const bool mapped = items_mapped_ || Rule(Field::kPosition) || Rule(Field::kItemCreatedAt);
    if (!mapped || !element.is_string() || !element.get_ref<const std::string&>().starts_with('{')) return {};
    const json within = json::parse(element.get_ref<const std::string&>(), nullptr, false);
    return within.is_object() && !within.empty() ? within : json();
  }

  void Item(const json& element, ReadEvent& read) {
    const json within = InText(element);
    const json& value = within.is_null() ? element : within;
    ReadItem item;
    const json* id = &value;
    if (value.is_object()) {
      Details(value, item);
      id = At(value, Steps(Field::kItemId));
    }
    item.id = id != nullptr ? Id(*id) : Refuse("");
    read.items.push_back(item);
  }

  void Details(const json& from, ReadItem& item) {
    const json* const position = At(from, Steps(Field::kPosition));
    if (position != nullptr && !position->is_null() && (format_.wanted.position || !any_mapped_)) {
      const bool text = position->is_string() && Rule(Field::kPosition) &&
                        ParseInteger(position->get_ref<const std::string&>());
      if (!position->is_number_integer() && !text) return (void)Refuse(0);
      const bool great = position->is_number_unsigned() && position->get<uint64_t>() > INT64_MAX;
      if (format_.wanted.position) {
        item.position = text    ? *ParseInteger(position->get<std::string>())
                        : great ? INT64_MAX
                                : position->get<int64_t>();
      }
    }
    const json* const created_at = At(from, Steps(Field::kItemCreatedAt));
    if (created_at != nullptr && !created_at->is_null() && format_.wanted.item_created_at) {
      item.created_at = Time(*created_at, Field::kItemCreatedAt);
    }
  }

  std::string Id(const json& value) {
    if (value.is_number_integer()) return value.dump();
    if (!value.is_string()) return Refuse("");
    auto id = value.get<std::string>();
    return id.empty() || id.size() > kIdBytesMax ? Refuse("") : id;
  }

  std::string Text(Field field, bool wanted) {
    const json* const value = wanted || !any_mapped_ ? Of(field) : nullptr;
    if (value == nullptr || value->is_null()) return "";
    const bool integer = value->is_number_integer() && Rule(field);
    if (!value->is_string() && !integer) return Refuse("");
    const std::string text = integer ? value->dump() : value->get<std::string>();
    return wanted ? text : "";
  }

  int64_t Time(const json& value, Field field) {
    const auto& rule = Rule(field);
    const TimeUnit unit = rule ? rule->unit : TimeUnit::kMilliseconds;
    std::optional<TimeMs> time;
    if (unit == TimeUnit::kRfc3339) {
      if (value.is_string()) time = ParseTimestamp(value.get<std::string>());
    } else if (rule && value.is_string()) {
      const auto count = ParseInteger(value.get<std::string>());
      const auto fraction = ParseFraction(value.get<std::string>());
      if (count) time = TimeOf(*count, unit);
      if (fraction) time = TimeOfFraction(*fraction, unit);
    } else if (value.is_number_integer()) {
      const bool great = value.is_number_unsigned() && value.get<uint64_t>() > INT64_MAX;
      if (!great) time = TimeOf(value.get<int64_t>(), unit);
    } else if (rule && value.is_number_float()) {
      // The library makes a float of an integer beyond 64 bits, too. Such an integer is out of range anyway.
      time = TimeOfFraction(value.get<double>(), unit);
    }
    return time ? time->value : Refuse(int64_t{0});
  }

  const EventFormat& format_;
  const json& event_;
  bool any_mapped_ = false, items_mapped_ = false, single_only_ = false;
  bool wants_kind_ = false, wants_scene_ = false;
  bool ok_ = true;
};

/// The library refuses a number that is too great for a double, and says where it ends.
json Parsed(std::string text) {
  for (size_t tries = 0; tries < 100; ++tries) {
    try {
      return json::parse(text);
    } catch (const json::out_of_range& error) {
      const std::string_view message = error.what();  // "... number overflow parsing '1e400'"
      const size_t from = message.find('\'') + 1;
      const std::string number(message.substr(from, message.rfind('\'') - from));
      const size_t at = text.find(number);
      if (at == std::string::npos) return nullptr;
      text.replace(at, number.size(), "1e308");
    } catch (const json::exception&) {
      return nullptr;
    }
  }
  return nullptr;
}

}  // namespace

std::string Shown(const ReadEvent& event) {
  std::string text = event.user_id + "@" + std::to_string(event.exposed_at) + " kind " +
                     std::to_string(static_cast<int>(event.kind)) + " skip " +
                     std::to_string(static_cast<int>(event.skip)) + " scene " + event.scene + " request " +
                     event.request_id + " filters " + std::to_string(~event.filters);
  for (const ReadItem& item : event.items) {
    text += " " + item.id;
    if (item.position) text += "#" + std::to_string(*item.position);
    if (item.created_at) text += "@" + std::to_string(*item.created_at);
  }
  return text;
}

ReadEvent Copied(const Event& event) {
  ReadEvent read{
      std::string(event.user_id), event.exposed_at.value,       {}, event.kind, event.skip, event.filters,
      std::string(event.scene),   std::string(event.request_id)};
  for (size_t i = 0; i < event.items.size(); ++i) {
    ReadItem item{std::string(event.items[i].item_id), {}, {}};
    if (!event.details.empty()) {
      item.position = event.details[i].position;
      if (event.details[i].created_at) item.created_at = event.details[i].created_at->value;
    }
    read.items.push_back(std::move(item));
  }
  if (event.skip == SkipReason::kNone) return read;
  ReadEvent skipped;
  skipped.skip = event.skip;
  return skipped;
}

std::optional<ReadEvent> SecondReading(const EventFormat& format, const std::string& payload,
                                       size_t event_bytes_max) {
  if (payload.size() > event_bytes_max) return std::nullopt;
  // The library takes a zero byte as the end of the text.
  if (payload.find('\0') != std::string::npos) return std::nullopt;
  const json event = Parsed(payload);
  if (!event.is_object()) return std::nullopt;
  return Reading(format, event).Do();
}

}  // namespace seen
