#pragma once
// Fakes of the flow's ports: a virtual clock, a store and sinks. A commit of the store may fail, or may be
// the last step before a crash. Deliveries arrive late, out of order, not at all, or just before a crash that
// hides them.

#include <algorithm>
#include <atomic>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "flow/log_port.h"
#include "flow/reporter.h"
#include "flow/store_port.h"
#include "flow/user_reader.h"
#include "model/delta.h"

namespace seen::sim {

/// All that is known of a user.
inline Result<Delta> ReadDecoded(const UserReader& reader, FilterIndex filter, const UserKey& user) {
  const auto encoded = reader.ReadUser(filter, user);
  return encoded ? DecodeDelta(*encoded) : Fail(encoded.error());
}

class VirtualClock final : public Clock {
 public:
  TimeMs WallNow() const override { return {wall_ms_}; }
  Instant Now() const override { return Instant(std::chrono::milliseconds(monotonic_ms_)); }
  void Advance(int64_t ms) { wall_ms_ += ms, monotonic_ms_ += ms; }
  void SetWall(int64_t ms) { wall_ms_ = ms; }

 private:
  int64_t wall_ms_ = 1'763'700'000'000;
  int64_t monotonic_ms_ = 1'000'000;
};

struct PlaceOrder {
  bool operator()(const JournalPlace& a, const JournalPlace& b) const { return a.IsBefore(b); }
};

/// A value that survives a crash of a fake store. Only Commit and KeepPublished change what the value holds.
struct DurableState {
  std::optional<Position> position;
  std::map<UserRef, std::string> deltas;
  std::map<UserRef, std::string> marks;  // with the user id
  std::map<UserRef, PublishedRow> published;
  std::set<Ending> endings;
  std::map<ServedRow, std::string> served;
  std::string sweep;
  uint64_t endings_scans = 0;  // how often endings were scanned
  std::map<UserKey, std::map<JournalPlace, std::string, PlaceOrder>> journal;
  std::optional<Day> journal_start;
};

/// The fault of the next checkpoint. The simulation sets a fault, and one checkpoint takes it.
enum class StoreFault { kNone, kBeginFails, kAddFails, kCommitFails, kNoSpace };

class FakeStore final : public PartitionStore {
 public:
  /// `lock` is released when the store has closed.
  FakeStore(DurableState& durable, StoreFault& fault, uint32_t& level0_files,
            std::shared_ptr<const void> lock = nullptr)
      : lock_(std::move(lock)), durable_(durable), fault_(fault), level0_files_(level0_files) {}

  Result<std::optional<Position>> ReadPosition() const override { return durable_.position; }
  Result<std::unique_ptr<CheckpointWriter>> BeginCheckpoint(const Position& position) override;
  Result<bool> ReadDelta(const UserRef& user, std::string& out) const override {
    out.clear();
    const auto found = durable_.deltas.find(user);
    if (found == durable_.deltas.end()) return false;
    out = found->second;
    return true;
  }
  Result<std::optional<Mark>> ReadMark(const UserRef& user) const override {
    const auto found = durable_.marks.find(user);
    if (found == durable_.marks.end()) return std::optional<Mark>();
    return Mark{found->first, found->second};
  }
  Result<std::vector<Mark>> ScanMarks(const std::optional<UserRef>& after, size_t limit) const override {
    std::vector<Mark> page;
    auto at = after ? durable_.marks.upper_bound(*after) : durable_.marks.begin();
    for (; at != durable_.marks.end() && page.size() < limit; ++at) page.push_back({at->first, at->second});
    return page;
  }
  Result<std::vector<Ending>> ScanEndings(const std::optional<Ending>& after, uint32_t until_s,
                                          size_t limit) const override {
    std::vector<Ending> page;
    ++durable_.endings_scans;
    auto at = after ? durable_.endings.upper_bound(*after) : durable_.endings.begin();
    for (; at != durable_.endings.end() && at->at_s <= until_s && page.size() < limit; ++at) {
      page.push_back(*at);
    }
    return page;
  }
  Result<std::optional<UserRef>> ScanUsers(const std::optional<UserRef>& after, size_t limit,
                                           const VisitUser& visit) const override {
    std::optional<UserRef> last;
    auto at = after ? durable_.deltas.upper_bound(*after) : durable_.deltas.begin();
    for (size_t i = 0; at != durable_.deltas.end() && i < limit; ++at, ++i) {
      visit(at->first, at->second);
      last = at->first;
    }
    return last;
  }
  Result<ServedPage> ScanServed(const std::optional<ServedRow>& after, uint32_t due_s,
                                size_t limit) const override {
    ServedPage page;
    auto at = after ? durable_.served.upper_bound(*after) : durable_.served.begin();
    for (; at != durable_.served.end() && at->first.due_s < due_s && page.size() < limit; ++at) {
      page.push_back(*at);
    }
    return page;
  }
  Result<std::string> ReadSweep() const override { return durable_.sweep; }
  Status KeepPublished(std::span<const PublishedRow> rows) override;
  Status ReadPublished(std::span<const UserRef> users, std::span<PublishedRow> out) const override;
  Result<std::vector<PublishedRow>> ScanPublished(const std::optional<UserRef>& after,
                                                  size_t limit) const override;
  void SetHorizon(FilterId filter, const Horizon& horizon) override { horizons_[filter] = horizon; }
  uint32_t Level0Files() const override { return level0_files_; }
  StoreFigures Figures() const override { return {}; }
  Result<std::optional<Day>> ReadJournalStart() const override { return durable_.journal_start; }
  Status ReadRows(const UserKey& user, Day from, const std::optional<JournalPlace>& after,
                  const VisitJournalRow& visit) const override;
  /// A row counts as one byte.
  std::vector<JournalDay> JournalDays() const override;

  std::function<void()> before_users;  // called by a checkpoint when it comes to its first user

 private:
  const std::shared_ptr<const void> lock_;
  class Writer;
  DurableState& durable_;
  StoreFault& fault_;
  uint32_t& level0_files_;
  std::map<FilterId, Horizon> horizons_;
};

/// A compacted topic and the deliveries under way to it.
class FakeSnapshotTopic final : public SnapshotSink {
 public:
  explicit FakeSnapshotTopic(std::mt19937_64& random) : random_(random) {}

  void TrySend(std::span<OutgoingSnapshot> snapshots) override {
    if (before_call) before_call();
    for (OutgoingSnapshot& snapshot : snapshots) {
      snapshot.queued = in_flight_.size() < 20;
      if (!snapshot.queued) continue;
      in_flight_.push_back({snapshot.filter, std::string(snapshot.user_id), std::string(snapshot.bytes),
                            snapshot.ticket, std::string(snapshot.retired_topic)});
      ++sent_total;
    }
  }
  /// Acknowledges some of the snapshots under way, in order for each user. Some deliveries fail.
  void PollAcknowledgements(const Acknowledge& acknowledge) override;
  void SendNow(const Acknowledge& acknowledge) override {
    ++sends_now;
    PollAcknowledgements(acknowledge);
  }
  uint64_t outstanding() const override { return in_flight_.size(); }
  /// The process is gone. Each snapshot under way has arrived or not, and nobody learns which.
  void Crash();

  std::map<std::pair<FilterIndex, std::string>, std::string> topic;
  std::map<std::string, std::set<std::string>> erased;  // unexposed items that arrived, and how often
  std::map<std::string, int> told;                      // by partition: the last one that arrived
  std::map<std::string, std::string> watermarks;        // by partition: the last one that arrived
  std::function<void()> before_call;                    // before each call of the flow; may throw
  uint64_t sent_total = 0;
  uint64_t sends_now = 0;
  uint64_t tombstones = 0;  // that arrived
  int fail_percent = 5;
  int late_percent = 33;  // stay under way at a poll
  bool deliver_all = false;

 private:
  struct Delivery {
    FilterIndex filter;
    std::string user_id;
    std::string snapshot;
    uint64_t ticket;
    std::string retired_topic;
  };
  void Arrive(const Delivery& delivery);

  std::mt19937_64& random_;
  std::deque<Delivery> in_flight_;
};

class FakeDeadLetters final : public DeadLetterSink {
 public:
  explicit FakeDeadLetters(std::mt19937_64& random) : random_(random) {}

  bool TrySend(const DeadLetter& letter) override {
    if (in_flight_.size() >= 10) return false;
    in_flight_.insert(letter.record->offset);
    return true;
  }
  int64_t OldestUnacknowledged(int32_t) const override {
    return in_flight_.empty() ? -1 : *in_flight_.begin();
  }
  void Forget(int32_t) override { in_flight_.clear(); }

  void DeliverSome() {
    std::erase_if(in_flight_, [&](int64_t offset) { return Deliver(offset, random_() % 3 == 0); });
  }
  void DeliverAll() {
    std::erase_if(in_flight_, [&](int64_t offset) { return Deliver(offset, true); });
  }
  void Crash() {
    for (const int64_t offset : in_flight_) Deliver(offset, random_() % 2 == 0);
    in_flight_.clear();
  }

  std::set<int64_t> topic;  // source offsets

 private:
  bool Deliver(int64_t offset, bool arrives) {
    if (arrives) topic.insert(offset);
    return arrives;
  }
  std::mt19937_64& random_;
  std::set<int64_t> in_flight_;
};

/// Sums up the reports.
class CountingReporter final : public Reporter {
 public:
  void BatchApplied(const BatchReport& report) override {
    batches += 1, events += report.events, too_old += report.too_old, replayed += report.replayed;
    for (const uint64_t count : report.record_to_visible.counts()) latencies += count;
    for (const uint64_t count : report.exposed_to_visible.counts()) latencies += count;
    looked_up += report.looked_up, joined += report.joined;
    removed += report.removed, erased += report.erased;
    timestamps_ahead += report.timestamps_ahead;
    live += report.live.counts;
    served += report.served, declared += report.declared;
    for (size_t i = 0; i < kSkipReasons; ++i) skipped[i] += report.skipped[i];
  }
  void EventRejected(const Rejection&, int32_t, int64_t) override { ++rejected; }
  void EventMisrouted(int32_t, int32_t, int64_t) override { ++misrouted; }
  void PartitionTimeCorrected(int32_t, TimeMs, TimeMs) override { ++times_corrected; }
  void RangeLost(int32_t, const LostRange&) override { ++ranges_lost; }
  void CheckpointWritten(int32_t, const CheckpointReport& report) override {
    ++checkpoints, marks_set += report.marks_set, marks_cleared += report.marks_cleared;
  }
  void CheckpointFailed(int32_t, const Error&) override { ++checkpoints_failed; }
  void FlowHeld(int32_t, HoldReason) override {}
  void FlowResumed(int32_t, HoldReason, std::chrono::milliseconds) override {}
  void SnapshotsSent(FilterIndex, uint64_t snapshots, uint64_t) override { sent += snapshots; }
  void SnapshotsAcknowledged(FilterIndex, const LatencyCounts&, const LatencyCounts&) override {}
  void SnapshotsFailed(FilterIndex, uint64_t snapshots) override { send_failures += snapshots; }
  void SnapshotsMerged(FilterIndex, uint64_t more_merged, uint64_t more_withheld) override {
    merged += more_merged, withheld += more_withheld;
  }
  void PublishFailed(int32_t partition, PublishStep step, const Error&) override {
    ++publish_failures[{partition, step}];
  }
  void LeaseLapsed(int32_t) override { ++leases_lapsed; }
  void OutputCut(int32_t, std::string_view) override {
    if (on_output_cut) on_output_cut();
  }
  void SnapshotTooLarge(std::string_view) override { ++too_large; }
  void DeadLetterDropped() override { ++dead_letters_dropped; }
  void NoSpaceAtOpening() override { ++openings_without_space; }
  void UserKeyCollision(int32_t) override { ++user_key_collisions; }

  void RetiredTombstones(uint64_t to_retired, uint64_t failed) override {
    retired_sent += to_retired, retired_failed += failed;
  }
  void ForeignUpdates(int32_t, uint64_t records) override { foreign_updates += records; }
  void UpdatesDropped(int32_t, uint64_t gaps, std::string_view cause) override {
    update_gaps += gaps, gap_cause = cause;
  }
  std::function<void()> on_output_cut;
  uint64_t foreign_updates = 0, update_gaps = 0;
  std::string gap_cause;
  uint64_t retired_sent = 0, retired_failed = 0;
  std::atomic<uint64_t> too_large{0}, dead_letters_dropped{0}, openings_without_space{0};
  uint64_t leases_lapsed = 0;
  uint64_t merged = 0, withheld = 0;
  uint64_t looked_up = 0, joined = 0, timestamps_ahead = 0, times_corrected = 0;
  LossCounts live;
  uint64_t batches = 0, events = 0, too_old = 0, replayed = 0, latencies = 0, rejected = 0, misrouted = 0,
           ranges_lost = 0, checkpoints = 0, marks_set = 0, marks_cleared = 0, checkpoints_failed = 0,
           sent = 0, send_failures = 0, user_key_collisions = 0, removed = 0, erased = 0, served = 0,
           declared = 0;
  std::array<uint64_t, kSkipReasons> skipped{};
  std::map<std::pair<int32_t, PublishStep>, uint64_t> publish_failures;
};

}  // namespace seen::sim
