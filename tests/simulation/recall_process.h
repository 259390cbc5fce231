#pragma once
// A daemon of a recall world, as far as its partition is concerned: the shipped flow, publisher, sender of
// updates and watch over faked topics.

#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "consume/last_published_reader.h"
#include "consume/output_watch.h"
#include "flow/partition_flow.h"
#include "flow/publisher.h"
#include "flow/update_sender.h"
#include "owner/beat.h"
#include "simulation/recall_topics.h"

namespace seen::sim {

class RecallProcess final : public SnapshotSink,
                            public PartitionSink,
                            public PublishLease,
                            public OutputsOwner {
 public:
  RecallProcess(RecallTopics& world, size_t number);

  /// Opens the partition with `durable`.
  void Open();
  /// The same in a group of its own that doesn't own the outputs.
  void OpenReplica();
  /// The replica's group owns the outputs from now on.
  void Promote();
  /// It runs on as a replica.
  void Demote();
  /// What is under way arrives up to some place, and nobody learns up to where. The process may have ended,
  /// or it lost the partition only.
  void Crash();
  /// The lease has passed to another: its snapshots under way arrive before the next owner's, or never.
  void BecomeZombie();
  bool is_open() const { return opened_.Find(0) != nullptr; }
  bool is_zombie() const { return is_open() && zombie_; }
  bool is_replica() const { return is_open() && is_replica_; }
  /// Whether users may have changes that are in no snapshot.
  bool Withholds() const;
  void Step(RecallPace pace);
  /// Of the round of the refresh that is under way.
  size_t ThirdOfRound() const;
  uint64_t sent() const { return sent_; }  // snapshots
  int64_t published_to() const { return flow().publish.PublishedTo(); }
  /// Users with a mark in the store, but for those whose snapshot is too large.
  size_t Marks() const;
  void LookAtTopics() { watch_->Step(); }
  /// The snapshot under way arrives, and the process learns so. False: there is none.
  bool DeliverOne();
  /// The next beat, at once.
  void SendBeat();
  /// The producer's fatal error: it gives up on all updates under way.
  void GiveUpUpdates();

  DurableState durable;

  // SnapshotSink
  void TrySend(std::span<OutgoingSnapshot> snapshots) override;
  void PollAcknowledgements(const Acknowledge& acknowledge) override;
  void SendNow(const Acknowledge& acknowledge) override { PollAcknowledgements(acknowledge); }
  uint64_t outstanding() const override { return queue_.size() + reports_.size(); }
  // PartitionSink
  bool TrySend(int32_t partition, std::string_view record, uint64_t ticket) override;
  void PollDeliveries(const std::function<void(const PartitionDelivery&)>& on_delivery) override;
  // PublishLease
  bool MayPublish(int32_t, Instant) const override {
    return is_replica_ || (world_.owner == number_ && !zombie_);
  }
  bool IsGivenUp(int32_t) const override { return false; }
  // OutputsOwner
  bool IsThisGroup() const override { return !is_replica_; }
  int64_t PublishedTo(int32_t) const override {
    const auto beat = ParseBeat(world_.beat);
    return is_replica_ && beat ? beat->published_to : -1;
  }
  std::optional<Beat> LastBeat(int32_t) const override { return ParseBeat(world_.beat); }

 private:
  /// The snapshot topic as this process reads it.
  class Topic final : public SnapshotTopics {
   public:
    explicit Topic(const RecallTopics& world) : world_(world) {}
    Status Read(FilterIndex filter, int32_t partition, const OnRecords& on_records) override {
      return ReadRange(filter, partition, 0, end(), on_records);
    }
    Status ReadRange(FilterIndex, int32_t, int64_t from, int64_t to, const OnRecords& on_records) override;
    Result<Recent> FindRecent(FilterIndex, int32_t, std::chrono::milliseconds) override {
      return Recent{end(), end()};
    }
    Result<std::map<int32_t, int64_t>> Ends(FilterIndex, std::span<const int32_t>) override {
      return std::map<int32_t, int64_t>{{0, end()}};
    }

   private:
    int64_t end() const { return static_cast<int64_t>(world_.snapshots.size()); }
    const RecallTopics& world_;
  };
  struct Queued {
    uint64_t ticket;
    std::string user, bytes;
  };

  PartitionFlow& flow() const { return *opened_.Find(0)->flow; }
  PartitionOptions Options();
  void OpenFlow();
  void Start();
  void NoteUnsent();
  void Read(size_t records);
  void Checkpoint();
  void DeliverBeats();
  void Arrive(bool reports, int fail_percent = 10);
  void ArriveUpdate(bool reports, int fail_percent = 10);
  std::vector<std::string> PartsOf(const std::string& bytes);
  void LookForGap(const std::string& record);
  void NoteGaps();

  RecallTopics& world_;
  const size_t number_;
  const std::shared_ptr<const EventPlan> plan_;
  CountingReporter reporter_;
  StoreFault fault_ = StoreFault::kNone;
  uint32_t level0_ = 0;
  const ReplayNote replay_{ReplayNote::Kind::kRecord, false, "run"};
  FakeDeadLetters letters_{world_.random};
  OpenPartitions opened_;
  std::unique_ptr<OutputGuard> guard_;
  size_t fetch_ = 0;
  bool zombie_ = false, is_replica_ = false;
  uint64_t sent_ = 0;
  std::pair<uint64_t, int64_t> round_{0, 0};  // of the refresh, and when it began
  uint64_t gaps_seen_ = 0;
  std::deque<Queued> queue_;
  std::vector<std::pair<uint64_t, std::string>> beats_;  // under way
  std::vector<std::pair<uint64_t, int64_t>> reports_;    // by ticket: an offset, or one of these
  static constexpr int64_t kNotDelivered = -1, kNoSnapshot = -2, kTooLarge = -3;
  std::deque<std::pair<uint64_t, std::string>> updates_;
  std::vector<PartitionDelivery> update_reports_;
  Topic topic_{world_};
  std::unique_ptr<OutputWatch> watch_;
  LastPublishedReader last_published_{topic_, opened_, reporter_, world_.clock};
  std::unique_ptr<Publisher> publisher_;
  std::unique_ptr<UpdateSender> sender_;
};

}  // namespace seen::sim
