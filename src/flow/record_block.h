#pragma once
// Some records of a partition, decoded, before the first of them touches the tail: so that the cache misses
// of all of them overlap. Thread: the partition's worker. Its memory is used again and again.

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "decode/event_decoder.h"
#include "flow/event_rules.h"
#include "flow/log_port.h"
#include "flow/partition_journal.h"
#include "flow/partition_options.h"
#include "flow/reporter.h"
#include "flow/tail.h"

namespace seen {

class RecordBlock {
 public:
  // Enough to hide the tail's cache misses, few enough to stay in the first-level cache.
  static constexpr size_t kRecordsMax = 32;

  /// A record, decoded.
  struct Exposure {
    UserKey user;
    const char* user_id;  // in the block
    uint16_t user_id_bytes;
    FilterMask filters;             // 0: nothing becomes of it
    uint32_t id_check;              // the partitioner's hash
    uint32_t items_from, items_to;  // in items()
    TimeMs exposed_at;
    uint32_t record;  // its place among the records given
    ChangeKind kind;
    SkipReason skip;       // if any, the record's place is all there is
    Tail::UserSlot* slot;  // the intake's

    std::string_view id() const { return {user_id, user_id_bytes}; }
  };
  static_assert(sizeof(Exposure) == 64);
  /// A served item, with what is published if nobody sees it.
  struct Served {
    uint32_t record;
    uint16_t place;  // among the items of its event
    std::string text;
  };

  /// `journal`: nullptr where none is kept. All references outlive this.
  RecordBlock(const PartitionOptions& options, const FilterMasks& filters, PartitionJournal* journal);

  /// Decodes from the first record on, up to a block's length or up to one that must be rejected. Records
  /// below `next_offset` are left out. Returns how many records it went through, without the rejected one.
  size_t Read(std::span<const Record> records, int64_t next_offset, const Tail& tail);
  /// Of the record after those that were read; nullopt: it isn't rejected.
  const std::optional<Rejection>& rejection() const { return rejection_; }

  std::span<Exposure> exposures() { return exposures_; }
  std::span<const Fingerprint> items() const { return items_; }
  std::span<const Served> served() const { return served_; }
  /// The day the item was created; that of the exposure where nobody says.
  Day CreatedOf(uint32_t item, Day shown) const { return item < created_.size() ? created_[item] : shown; }

  /// Looks up what the items are like, as far as their events concern filters that record it.
  void FindSimilar(BatchReport& report);
  /// What the items [first, end) are like. Of an item that nothing is known of: nothing; nobody waits.
  std::span<const Fingerprint> SimilarTo(uint32_t first, uint32_t end) const;

 private:
  std::optional<Rejection> ReadRecord(const Record& record, uint32_t number, const Tail& tail);
  void ReadDetails(const Event& event);
  void Skip(SkipReason reason, uint32_t record);

  const PartitionOptions& options_;
  const FilterMasks& filters_;
  const EventRules rules_;
  PartitionJournal* const journal_;
  EventDecoder decoder_;
  std::vector<Exposure> exposures_;
  std::vector<Fingerprint> items_;
  std::vector<Day> created_;            // of items_, where a filter goes by it
  std::vector<Fingerprint> similar_;    // of all items, one item's after another's,
  std::vector<uint32_t> similar_ends_;  // and where each one's end; empty: no item has any
  std::vector<Served> served_;          // where unexposed items are published
  std::unique_ptr<char[]> ids_;
  size_t id_bytes_ = 0;
  std::optional<Rejection> rejection_;
};

}  // namespace seen
