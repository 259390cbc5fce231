#pragma once
// The long way: reads an event from a validated JSON document, or says what is wrong with it.

#include <simdjson.h>

#include <array>
#include <memory>
#include <span>
#include <string>
#include <tl/expected.hpp>
#include <vector>

#include "decode/document_values.h"
#include "decode/event_buffers.h"
#include "decode/event_plan.h"
#include "decode/pointer_tree.h"
#include "model/event.h"

namespace seen {

/// Reads the items of a batch event, which may be in several arrays. Room decode only.
/// One per thread; `plan` outlives it. No allocation per accepted event once warm.
class DocumentItemsReader {
 public:
  DocumentItemsReader(const EventPlan& plan, NestedDocuments& nested) : plan_(plan), nested_(nested) {
    found_.nested = &nested;
  }

  /// Appends to `buffers` the items of all arrays that `value` leads to. `value` is the element at which the
  /// pointer's first "*" step begins; without such a step it is the array. The text of an id that is an
  /// integer stays valid until the next call.
  tl::expected<void, Rejection> Read(simdjson::dom::element value, EventBuffers& buffers);
  /// Of the last Read.
  const SkippedItems& skipped() const { return skipped_; }

 private:
  using Indexes = std::array<uint32_t, EventFormat::kItemStarsMax>;

  /// An array of items, and the indexes of the elements on the way to it.
  struct ItemArray {
    simdjson::dom::array items;
    Indexes taken{};
  };
  struct Way {
    std::span<const std::string> steps;  // still to go
    Indexes taken{};
    size_t stars = 0;
  };

  tl::expected<void, Rejection> Find(simdjson::dom::element element, const Way& way);
  bool StepInto(simdjson::dom::element element, simdjson::dom::object& object);
  bool ConditionsHold(bool is_object);
  tl::expected<void, Rejection> Add(const ItemArray& from, size_t index, simdjson::dom::element value,
                                    EventBuffers& buffers);
  /// "items[3].position" or "position (/data/pages/0/items/3/pos)"; `of_member` false: the path of the item
  /// itself.
  std::string PathOf(const ItemArray& from, size_t index, Field field, bool of_member) const;

  const EventPlan& plan_;
  NestedDocuments& nested_;
  std::vector<ItemArray> arrays_;
  FoundElements found_;  // in one element
  SkippedItems skipped_;
  std::vector<Digits> digits_;  // the text of integer ids; doesn't grow while a view points into it
};

/// One per thread. No allocation per accepted event once warm.
class DocumentEventReader {
 public:
  explicit DocumentEventReader(std::shared_ptr<const EventPlan> plan)
      : plan_(std::move(plan)),
        nested_(std::make_unique<NestedDocuments>(plan_->lenient)),
        items_(*plan_, *nested_) {
    found_.nested = nested_.get();
  }

  /// Returns the event. Its views point into the document's strings, `buffers` and this reader.
  tl::expected<Event, Rejection> Read(simdjson::dom::object object, EventBuffers& buffers);

 private:
  bool Has(Field field) const { return found_.Has(static_cast<size_t>(field)); }
  simdjson::dom::element ValueOf(Field field) const { return found_.values[static_cast<size_t>(field)]; }
  Digits& DigitsOf(Field field) { return digits_[static_cast<size_t>(field)]; }
  tl::unexpected<Rejection> Reject(Field field, const Problem& problem) const;

  Attributes ReadAttributes();
  tl::expected<void, Rejection> CheckConditionsAreWhole() const;
  tl::expected<void, Rejection> ReadKind(Event& event);
  tl::expected<void, Rejection> ReadUser(Event& event);
  tl::expected<void, Rejection> ReadTimes(Event& event, const EventBuffers& buffers) const;
  tl::expected<void, Rejection> ReadWho(Event& event, EventBuffers& buffers);
  tl::expected<void, Rejection> ReadText(Field field, bool wanted, std::string_view& text);
  tl::expected<void, Rejection> ReadDetails(Event& event, EventBuffers& buffers) const;

  std::shared_ptr<const EventPlan> plan_;
  std::unique_ptr<NestedDocuments> nested_;
  DocumentItemsReader items_;
  FoundElements found_;
  std::array<Scalar, kSlots> attributes_;
  std::array<Digits, kSlots> digits_;  // by slot: the text of an integer
};

}  // namespace seen
