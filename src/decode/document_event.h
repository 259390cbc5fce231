#pragma once
// The long way: reads an event from a validated JSON document, or says what is wrong with it.

#include <simdjson.h>

#include <array>
#include <memory>
#include <string>
#include <tl/expected.hpp>

#include "decode/document_items.h"
#include "decode/document_values.h"
#include "decode/event_buffers.h"
#include "decode/event_plan.h"
#include "decode/pointer_tree.h"

namespace seen {

/// One per thread. No allocation per accepted event once warm.
class DocumentEventReader {
 public:
  explicit DocumentEventReader(std::shared_ptr<const EventPlan> plan)
      : plan_(std::move(plan)), items_(*plan_) {}

  /// Returns the event. Its views point into the document's strings, `buffers` and this reader.
  tl::expected<Event, Rejection> Read(simdjson::dom::object object, EventBuffers& buffers);

 private:
  bool Has(Field field) const { return found_.Has(static_cast<size_t>(field)); }
  simdjson::dom::element ValueOf(Field field) const { return found_.values[static_cast<size_t>(field)]; }
  Digits& DigitsOf(Field field) { return digits_[static_cast<size_t>(field)]; }
  tl::unexpected<Rejection> Reject(Field field, const Problem& problem) const;

  Attributes ReadAttributes();
  tl::expected<void, Rejection> ReadKind(Event& event);
  tl::expected<void, Rejection> ReadWho(Event& event, EventBuffers& buffers);
  tl::expected<void, Rejection> ReadText(Field field, bool wanted, std::string_view& text);
  tl::expected<void, Rejection> ReadDetails(Event& event, EventBuffers& buffers) const;

  std::shared_ptr<const EventPlan> plan_;
  DocumentItemsReader items_;
  FoundElements found_;
  std::array<Scalar, kSlots> attributes_;
  std::array<Digits, kSlots> digits_;  // by slot: the text of an integer
};

}  // namespace seen
