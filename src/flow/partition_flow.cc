#include "flow/partition_flow.h"

#include <utility>

namespace seen {
namespace {

std::unique_ptr<PartitionJournal> JournalOf(const PartitionOptions& options,
                                            const std::optional<Position>& position,
                                            const PartitionStore& store) {
  if (!options.journal) return nullptr;
  PartitionJournal::Options of{
      options.partition, {}, options.future_skew_max, options.tail_bytes_max, options.kinds};
  for (const FilterPolicy& filter : options.filters) of.filters.push_back(filter.id);
  return std::make_unique<PartitionJournal>(*options.journal, std::move(of), position, store);
}

std::unique_ptr<UnexposedFlow> UnexposedOf(const PartitionOptions& options, const PartitionStore& store) {
  if (!options.unexposed) return nullptr;
  return std::make_unique<UnexposedFlow>(*options.unexposed, static_cast<FilterIndex>(options.filters.size()),
                                         store);
}

// In the order of flow/checkpoint_part.h.
PartitionCheckpoint::Parts PartsOf(PartitionFlow& flow) {
  PartitionCheckpoint::Parts parts;
  for (CheckpointPart* const part : std::initializer_list<CheckpointPart*>{
           flow.journal.get(), &flow.users_part, &flow.marks_part, &flow.republisher, flow.unexposed.get()}) {
    if (part != nullptr) parts.in_order.push_back(part);
  }
  parts.republisher = &flow.republisher;
  parts.unexposed = flow.unexposed.get();
  return parts;
}

}  // namespace

PartitionFlow::PartitionFlow(PartitionOptions options, const std::optional<Position>& position,
                             int64_t start_offset, int64_t high_watermark, PartitionStore& store,
                             DeadLetterSink& dead_letters, Reporter& reporter, const Clock& clock)
    : state(std::move(options), position, start_offset, high_watermark, clock.WallNow()),
      publish(state.options().filters, state.options().publish_entries_max, reporter),
      republisher(state.options().filters, store, publish, state.options().sweep_users_per_second, !position),
      unexposed(UnexposedOf(state.options(), store)),
      journal(JournalOf(state.options(), position, store)),
      intake(state, {publish, republisher, unexposed.get(), journal.get()},
             position ? position->anchor : Anchor{}, store, dead_letters, reporter, clock),
      users_part(state),
      marks_part(state, store, publish),
      checkpoint(state, PartsOf(*this), store, dead_letters, reporter, clock),
      reader(state, store, clock),
      store_(store) {}

PartitionStatus PartitionFlow::GetStatus() const {
  PartitionStatus status;
  state.FillStatus(status);
  if (journal) status.tail_bytes += journal->AllBytes();
  status.marks_outstanding = publish.Outstanding();
  status.store = store_.Figures();
  status.republish = republisher.GetStatus();
  if (unexposed) status.unexposed = unexposed->GetStatus();
  reader.FillHeaviestUsers(status);
  return status;
}

}  // namespace seen
