#pragma once
// Publishes what is due, over all partitions that this process has open. One Step is one pass. For each
// partition, in this order: scan marks, make due what time alone changes, publish unexposed items. Then the
// pass takes users who are due: the leading edges of all partitions first, then users who may wait. They are
// rendered together: those of one partition are too few to keep a pool and the disk busy. Then, for all
// partitions: send snapshots, watermarks, acknowledgements, figures for the reporter.
//
// A pass is short where users take long, because leading edges that become due meanwhile wait for its end. A
// pass that has no space for all partitions is continued by the next one, so that none is always late.
//
// An error is reported, and it delays only the kind of work that failed, in that partition. Bytes that can't
// be read stop the partition.
//
// Threads: Step is called by one thread, the publisher's. Outstanding: any thread. The publisher's thread and
// the pool's threads render snapshots.

#include <array>
#include <chrono>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <vector>

#include "base/back_off.h"
#include "base/clock.h"
#include "base/work_pool.h"
#include "flow/log_port.h"
#include "flow/open_partition.h"
#include "flow/publish_flow.h"
#include "flow/reporter.h"
#include "flow/watermark_beat.h"
#include "owner/lease.h"
#include "owner/outputs_owner.h"

namespace seen {

class Publisher {
 public:
  struct Options {
    std::optional<BeatSender> watermarks;  // who writes them; nullopt: none are written
    // Says when a partition may be published; outlives the publisher. nullptr: always, because nobody else
    // publishes it.
    const PublishLease* lease = nullptr;
    OutputGuard* guard = nullptr;             // outlives the publisher. nullptr: off
    const OutputsOwner* owner = nullptr;      // outlives the publisher. nullptr: this group is the owner
    WorkPool* pool = nullptr;                 // renders beside the caller; outlives the publisher
    std::chrono::microseconds pool_from{20};  // used once a user takes this long: waking threads costs
    size_t snapshots_a_pass = 1024;           // the most; the memory of so many is kept
    size_t marks_a_step = 512;
  };
  /// All references outlive this.
  Publisher(const OpenPartitions& partitions, SnapshotSink& sink, Reporter& reporter, const Clock& clock,
            const Options& options);

  /// Does one pass. Returns how long there is nothing more to do, unless records come meanwhile; 0: call
  /// again at once. Errors go to the reporter.
  std::chrono::milliseconds Step();

  /// Of all partitions: see PartitionFlow::Outstanding.
  uint64_t Outstanding() const;

 private:
  struct Retry {
    Instant until{};  // no retry before this
    BackOff delay{std::chrono::milliseconds(200), std::chrono::seconds(10)};
  };
  // A record that a replica would have sent. It counts as published once the owner has published all changes
  // that it holds.
  struct Withheld {
    int64_t holds = 0;  // it holds the changes below this offset
    uint64_t ticket = 0;
  };
  class WithholdingSink;
  // What the publisher keeps for an open partition.
  struct PartitionWork {
    std::array<Retry, kPublishSteps> retries;
    std::vector<PublishFlow::Acknowledgement> snapshots;
    std::vector<PublishFlow::Acknowledgement> unexposed;
    bool held_lease = false;  // in the last step
    bool owns = false;        // so that it may send
    Instant owns_since{};
    bool holds_all = false;         // that was in the log then
    bool continued = false;         // the former owner's last beat was taken into account
    std::deque<Withheld> withheld;  // by a replica
  };
  enum Kind { kLeading, kWaiting, kKinds };
  // The users of a partition whom a pass renders.
  struct Group {
    OpenPartition* open;
    PartitionWork* kept;
    TimeMs wall;  // one time for all of them, because the clock may jump at any time
    uint32_t served_second;
    std::array<std::span<PublishFlow::Rendering>, kKinds> users;
    Status rendered;
  };
  // Some users of a group, whom one thread renders.
  struct Piece {
    Group* group;
    std::span<PublishFlow::Rendering> users;
    Status rendered;
    std::chrono::nanoseconds took{0};
  };
  // The results of a pass.
  struct Pass {
    uint64_t sent = 0;
    bool more = false;  // more is due in some partition
    bool sink_full = false;
    Instant next = Instant::max();  // when something is due
  };

  PartitionWork& WorkOf(const OpenPartition& open);
  void ForgetClosed(const std::vector<PartitionPointer>& opened);
  void NoteLease(const OpenPartition& open);
  void ContinueFormer(const OpenPartition& open);
  bool HasBeaten(const OpenPartition& open) const;
  bool ContinueTopics(const OpenPartition& open, const Beat& beat) const;
  bool HoldsLease(const OpenPartition& open) const;
  bool MayPublish(const OpenPartition& open);
  bool IsReplica() const { return options_.owner != nullptr && !options_.owner->IsThisGroup(); }
  void NoteWritten(const OpenPartition& open) const;
  void SettleWithheld(const OpenPartition& open, PartitionWork& kept) const;
  void TakeForeign(PartitionFlow& flow) const;
  void StepPartition(OpenPartition& open, PartitionWork& kept, Pass& pass);
  template <typename Work>
  auto WithSink(const OpenPartition& open, PartitionWork& kept, const Work& work);
  void BeginGroup(OpenPartition& open, PartitionWork& kept, Pass& pass);
  size_t UsersAPass() const;
  void TakeUsers();
  void Take(Kind kind, size_t of_each, size_t to);
  void NoteRest(const OpenPartition& open, Instant retry_at, bool goes_on, Pass& pass) const;
  bool RendersWithPool() const;
  void RenderAll();
  void CutToPieces(size_t piece_users);
  static void Withhold(std::span<PublishFlow::Rendering> users);
  void Send(Group& group, Pass& pass);
  template <typename Work>
  void Try(PublishStep step, OpenPartition& open, PartitionWork& kept, const Work& work);
  void Failed(PublishStep step, OpenPartition& open, Retry& retry, const Error& error);
  Status ScanMarks(OpenPartition& open, Pass& pass);
  void Acknowledge(const std::vector<PartitionPointer>& opened, const Pass& pass);
  bool ShouldSendNow(const Pass& pass);
  static bool FollowsChanges(const std::vector<PartitionPointer>& opened);
  bool IsQuiet(const std::vector<PartitionPointer>& opened, const Pass& pass);

  const OpenPartitions& partitions_;
  SnapshotSink& sink_;
  Reporter& reporter_;
  const Clock& clock_;
  const Options options_;
  std::optional<WatermarkBeat> watermarks_;

  std::map<uint64_t, PartitionWork> work_;  // by the partition's ticket tag
  Instant reported_{};
  uint64_t sent_lately_ = 0;               // snapshots since sent_now_at_
  Instant sent_now_at_{};                  // when it was last decided whether the sink must send at once
  bool is_replica_ = false;                // in this step
  bool sink_full_ = false;                 // in the last step
  std::chrono::nanoseconds user_took_{0};  // per user on one thread, averaged over the last pass
  std::array<size_t, kKinds> next_{};      // the group from which the next pass takes first
  // Of the pass under way.
  std::vector<PublishFlow::Rendering> renderings_;
  size_t taken_ = 0;  // of renderings_
  std::vector<Group> groups_;
  std::vector<Piece> pieces_;
};

}  // namespace seen
