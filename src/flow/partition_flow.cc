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
  return std::make_unique<UnexposedFlow>(*options.unexposed, store);
}

std::unique_ptr<UpdateStream> UpdatesOf(const PartitionState& state) {
  return state.filters().updates != 0 ? std::make_unique<UpdateStream>(state) : nullptr;
}

PublishFlow::Options PublishOptionsOf(const PartitionOptions& options, bool may_have_marks) {
  PublishFlow::Options of;
  of.entries_max = options.publish_entries_max;
  of.may_have_marks = may_have_marks;
  of.partition = options.partition;
  if (options.updates) of.refresh_every = options.updates->refresh_every;
  return of;
}

// An older version took any timestamp, so the stored partition time may be years ahead. Then the last
// record's own timestamp replaces it, or the wall clock if that timestamp is ahead, too.
std::optional<Position> Corrected(std::optional<Position> position, const PartitionOptions& options,
                                  Reporter& reporter, const Clock& clock) {
  const TimeMs wall = clock.WallNow();
  const TimeMs limit{wall.value + options.future_skew_max.count()};
  if (!position || position->partition_time <= limit) return position;
  const Anchor& last = position->anchor;
  const TimeMs now = last.offset >= 0 && last.timestamp <= limit ? last.timestamp : wall;
  reporter.PartitionTimeCorrected(options.partition, position->partition_time, now);
  position->partition_time = now;
  return position;
}

}  // namespace

PartitionFlow::PartitionFlow(PartitionOptions options, const std::optional<Position>& stored,
                             int64_t start_offset, int64_t high_watermark, PartitionStore& store,
                             DeadLetterSink& dead_letters, Reporter& reporter, const Clock& clock)
    : PartitionFlow(CorrectedTag(), Corrected(stored, options, reporter, clock), std::move(options),
                    start_offset, high_watermark, store, dead_letters, reporter, clock) {}

PartitionFlow::PartitionFlow(CorrectedTag, const std::optional<Position>& position,
                             PartitionOptions&& options, int64_t start_offset, int64_t high_watermark,
                             PartitionStore& store, DeadLetterSink& dead_letters, Reporter& reporter,
                             const Clock& clock)
    : state(std::move(options), position, start_offset, high_watermark, clock.Now()),
      publish(state.options().filters, PublishOptionsOf(state.options(), position.has_value()), reporter,
              state.options().retired_topics),
      endings(store, publish, state.filters().published != 0),
      sweep(state.options().filters, store, publish, endings, state.options().sweep_users_per_second,
            !position),
      last_published(state, store, publish),
      unexposed(UnexposedOf(state.options(), store)),
      journal(JournalOf(state.options(), position, store)),
      updates(UpdatesOf(state)),
      checkpoint(state,
                 {journal.get(), last_published, publish, foreign_users, endings, sweep, unexposed.get(),
                  updates.get()},
                 store, dead_letters, reporter, clock),
      intake(state, {publish, checkpoint, unexposed.get(), journal.get(), updates.get()},
             position ? position->anchor : Anchor{}, store, dead_letters, reporter, clock),
      fill(state, store, publish, endings),
      reader(state, store, last_published, foreign_users, clock),
      store_(store) {}

uint64_t PartitionFlow::Outstanding() const {
  return publish.Outstanding() + (updates ? updates->Outstanding() : 0);
}

PartitionStatus PartitionFlow::GetStatus() const {
  PartitionStatus status;
  status.republish = sweep.GetStatus();  // before next_offset and the marks, which then are of a later time
  state.FillStatus(status, reader.clock().WallNow());
  if (journal) status.tail_bytes += journal->AllBytes();
  status.marks_outstanding = Outstanding();
  status.published_to = publish.PublishedTo();
  status.refresh = publish.GetRefreshStatus(reader.clock().Now());
  status.replays = intake.ReplayNames();
  status.store = store_.Figures();
  if (unexposed) status.unexposed = unexposed->GetStatus();
  if (updates) status.updates = updates->GetFigures();
  reader.FillHeaviestUsers(status);
  return status;
}

}  // namespace seen
