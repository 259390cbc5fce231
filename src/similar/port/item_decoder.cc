#include "similar/port/item_decoder.h"

#include <string>
#include <vector>

#include "decode/document_values.h"
#include "decode/json_document.h"
#include "decode/pointer_tree.h"
#include "decode/record_events.h"

namespace seen {

std::string_view ItemFieldName(ItemField field) {
  constexpr std::array<std::string_view, kItemFields> kNames = {"item_id", "created_at", "title",
                                                                "text",    "lang",       "deleted"};
  return kNames[static_cast<size_t>(field)];
}

namespace {

namespace dom = simdjson::dom;

constexpr DocumentNames kDocumentNames = {"an item", "the most an item's record may have",
                                          "send JSON without it"};
constexpr const char* kSeveral =
    "not an item: several items; a record of items.topic holds one. Remedy: send each in a record of its own";
// After a longer record the next Decode frees the buffers that grew.
constexpr size_t kBytesKept = 1 << 20;

}  // namespace

struct ItemDecoder::Impl {
  Impl(const ItemFormat& format, uint64_t item_bytes_max);

  bool Has(ItemField field) const { return found.Has(static_cast<size_t>(field)); }
  bool HasValue(ItemField field) const { return Has(field) && !ValueOf(field).is_null(); }
  dom::element ValueOf(ItemField field) const { return found.values[static_cast<size_t>(field)]; }
  const EventPlan::FieldPlan& PlanOf(ItemField field) const { return plans[static_cast<size_t>(field)]; }
  tl::unexpected<Rejection> Reject(ItemField field, const Problem& problem) const;
  tl::expected<void, Rejection> ReadText(ItemField field, std::string_view& text);
  tl::expected<void, Rejection> ReadDeleted(bool& deleted) const;
  tl::expected<ItemEvent, Rejection> Read(dom::object object);

  const uint64_t bytes_max;
  std::array<EventPlan::FieldPlan, kItemFields> plans;
  PointerTree pointers;
  std::optional<JsonDocument> document;
  bool has_grown = false;
  FoundElements found;
  std::array<Digits, kItemFields> digits;
};

ItemDecoder::Impl::Impl(const ItemFormat& format, uint64_t item_bytes_max) : bytes_max(item_bytes_max) {
  static_assert(kItemFields <= kSlots);
  for (size_t slot = 0; slot < kItemFields; ++slot) {
    const std::string name(ItemFieldName(static_cast<ItemField>(slot)));
    EventPlan::FieldPlan& plan = plans[slot];
    plan.path = name;
    if (const auto& rule = format.fields[slot]) {
      plan.mapped = true;
      plan.unit = rule->unit;
      plan.pointer = rule->at.text;
      plan.path += " (" + rule->at.text + ")";
      pointers.Add(rule->at.steps, static_cast<uint8_t>(slot));
    } else {
      pointers.Add(std::span(&name, 1), static_cast<uint8_t>(slot));
    }
  }
}

tl::unexpected<Rejection> ItemDecoder::Impl::Reject(ItemField field, const Problem& problem) const {
  return seen::Reject(problem.reason, ItemFieldName(field),
                      Message(PlanOf(field).path, problem.what, problem.expected));
}

tl::expected<void, Rejection> ItemDecoder::Impl::ReadText(ItemField field, std::string_view& text) {
  if (!Has(field)) return {};
  const auto value = seen::ReadText(ValueOf(field), digits[static_cast<size_t>(field)], PlanOf(field));
  if (!value) return Reject(field, ProblemOfText(ValueOf(field), PlanOf(field)));
  text = *value;
  return {};
}

// A mapped field may have "true" or "false" in a string, as change data capture writes it.
tl::expected<void, Rejection> ItemDecoder::Impl::ReadDeleted(bool& deleted) const {
  constexpr ItemField kField = ItemField::kDeleted;
  if (!HasValue(kField)) return {};
  const bool mapped = PlanOf(kField).mapped;
  std::string_view name;
  if (ValueOf(kField).get(deleted) == simdjson::SUCCESS) return {};
  if (mapped && ValueOf(kField).get(name) == simdjson::SUCCESS && (name == "true" || name == "false")) {
    deleted = name == "true";
    return {};
  }
  return Reject(kField, {RejectReason::kWrongType, std::string(TypeName(ValueOf(kField))),
                         mapped ? R"(true, false, "true", "false" or null)" : "true, false or null"});
}

tl::expected<ItemEvent, Rejection> ItemDecoder::Impl::Read(dom::object object) {
  pointers.Resolve(object, found);
  ItemEvent item;
  constexpr ItemField kId = ItemField::kItemId;
  if (!Has(kId)) return Reject(kId, {RejectReason::kMissingField, "missing", {}});
  const auto id = ReadId(ValueOf(kId), digits[static_cast<size_t>(kId)]);
  if (!id) return Reject(kId, ProblemOfId(ValueOf(kId)));
  item.item_id = *id;
  if (auto read = ReadDeleted(item.deleted); !read) return Rejected(read);
  if (auto read = ReadText(ItemField::kLang, item.lang); !read) return Rejected(read);
  if (item.deleted) return item;

  if (constexpr ItemField kTime = ItemField::kCreatedAt; HasValue(kTime)) {
    item.created_at = ReadTime(ValueOf(kTime), PlanOf(kTime));
    if (!item.created_at)
      return Reject(kTime, ProblemOfTime(ValueOf(kTime), "items.fields.created_at", PlanOf(kTime)));
  }
  if (auto read = ReadText(ItemField::kTitle, item.title); !read) return Rejected(read);
  if (auto read = ReadText(ItemField::kText, item.text); !read) return Rejected(read);
  return item;
}

ItemDecoder::ItemDecoder(const ItemFormat& format, uint64_t bytes_max)
    : impl_(std::make_unique<Impl>(format, bytes_max)) {}
ItemDecoder::~ItemDecoder() = default;

tl::expected<ItemEvent, Rejection> ItemDecoder::Decode(std::string_view json) {
  Impl& impl = *impl_;
  if (impl.has_grown || !impl.document) impl.document.emplace(impl.bytes_max, kDocumentNames);
  impl.has_grown = json.size() > kBytesKept;
  const auto object = impl.document->ParseObject(json);
  if (!object) {
    if (std::vector<std::string_view> items; MayHoldSeveral(object.error()) && SplitEvents(json, items))
      return seen::Reject(RejectReason::kNotJson, {}, kSeveral);
    return Rejected(object);
  }
  return impl.Read(*object);
}

}  // namespace seen
