#pragma once
// Which filters an event concerns, and what it does to their users' seen sets. Pure, so a replay decides the
// same.

#include "flow/partition_options.h"
#include "model/change.h"
#include "model/event.h"

namespace seen {

class EventRules {
 public:
  /// Both outlive this.
  EventRules(const PartitionOptions& options, const FilterMasks& filters)
      : options_(options), filters_(filters) {}

  /// What an event of the kind does to a seen set.
  ChangeKind ChangeOf(EventKind kind) const;
  /// The filters among `covering` in which the event changes something.
  FilterMask FiltersOf(const Event& event, FilterMask covering, TimeMs record_timestamp) const;

 private:
  bool Concerns(const FilterPolicy& filter, const Event& event, TimeMs record_timestamp) const;

  const PartitionOptions& options_;
  const FilterMasks& filters_;
};

}  // namespace seen
