#pragma once
// One input partition: records go into the tail, the tail into checkpoints, users to readers. The order of
// the members makes each part outlive the parts that refer to it. Each part says which thread uses it.

#include <memory>
#include <optional>

#include "base/clock.h"
#include "flow/endings.h"
#include "flow/last_published.h"
#include "flow/log_port.h"
#include "flow/partition_checkpoint.h"
#include "flow/partition_fill.h"
#include "flow/partition_intake.h"
#include "flow/partition_journal.h"
#include "flow/partition_options.h"
#include "flow/partition_state.h"
#include "flow/partition_status.h"
#include "flow/publish_flow.h"
#include "flow/reporter.h"
#include "flow/store_port.h"
#include "flow/sweep.h"
#include "flow/unexposed_flow.h"
#include "flow/update_stream.h"
#include "flow/user_reader.h"
#include "owner/foreign_users.h"

namespace seen {

struct PartitionFlow {
  /// `stored`: the store's position; a time that is years ahead is corrected. nullopt: a new store, which
  /// starts at `start_offset`. `high_watermark`: the end of the log now. All references outlive this.
  PartitionFlow(PartitionOptions options, const std::optional<Position>& stored, int64_t start_offset,
                int64_t high_watermark, PartitionStore& store, DeadLetterSink& dead_letters,
                Reporter& reporter, const Clock& clock);

  /// Any thread.
  PartitionStatus GetStatus() const;
  /// Any thread. Users whose change readers can't know yet, and records of updates that no broker has (an
  /// upper bound). If it is 0, all that was visible before the call is published.
  uint64_t Outstanding() const;

  PartitionState state;
  PublishFlow publish;
  ForeignUsers foreign_users;
  Endings endings;
  Sweep sweep;
  LastPublishedSnapshots last_published;
  const std::unique_ptr<UnexposedFlow> unexposed;   // nullptr: unexposed items aren't published
  const std::unique_ptr<PartitionJournal> journal;  // nullptr: none is kept
  const std::unique_ptr<UpdateStream> updates;      // nullptr: no filter has updates
  PartitionCheckpoint checkpoint;                   // checkpoint thread
  PartitionIntake intake;                           // worker
  PartitionFill fill;                               // checkpoint thread
  UserReader reader;                                // any thread

 private:
  struct CorrectedTag {};  // a tag: the position is corrected
  PartitionFlow(CorrectedTag, const std::optional<Position>& position, PartitionOptions&& options,
                int64_t start_offset, int64_t high_watermark, PartitionStore& store,
                DeadLetterSink& dead_letters, Reporter& reporter, const Clock& clock);

  const PartitionStore& store_;
};

}  // namespace seen
