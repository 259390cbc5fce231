#pragma once
// A partition that loses its state after it was published, while retention has deleted the beginning of its
// log. The partition reads the rest of the log and goes on publishing. Flow, publisher and reader of the
// snapshot topic are the real ones, over fakes. The days pass on a virtual clock.

#include <deque>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "consume/last_published_reader.h"
#include "decode/event_decoder.h"
#include "flow/partition_flow.h"
#include "flow/publisher.h"
#include "model/day.h"
#include "support/fake_snapshot_topics.h"

namespace seen::sim {

class LostState {
 public:
  static constexpr int32_t kWindowDays = 30;

  explicit LostState(const SnapshotShape& shape, bool publish_incomplete = false) {
    options_.filters = {{0, "home", kWindowDays, 10'000, {}, SnapshotPolicy{shape, {}}}};
    options_.publish_incomplete = publish_incomplete;
    EventFormat format;
    format.wanted.kind = true;
    options_.plan = *EventPlan::Make(format);
    topic.fail_percent = 0;
    topic.deliver_all = true;
    Open();
  }

  /// Appends an exposure to the log, at the clock's time. The next Settle reads the log.
  void Expose(const std::string& user, const std::string& item) {
    log_.push_back({clock.WallNow(), user,
                    R"({"user_id":")" + user + R"(","item_id":")" + item + R"(","exposed_at":)" +
                        std::to_string(clock.WallNow().value) + "}"});
  }
  void Erase(const std::string& user) {
    log_.push_back({clock.WallNow(), user, EncodeOwnEvent({user, {}, "erased", clock.WallNow()})});
  }
  /// Reads, publishes and checkpoints until nothing is left to do.
  void Settle() {
    for (int round = 0; round < 4; ++round) {
      Read();
      if (open_->flow->updates) open_->flow->updates->Discard();  // they are sent
      if (reads_topics) reader_->Step();
      for (int i = 0; publishes && i < 10'000; ++i) {
        publisher_->Step();
        clock.Advance(1);
        if (i % 10 == 2) Checkpoint();  // a new day waits for a checkpoint
        if (i > 3 && publisher_->Outstanding() == 0) break;
      }
      Checkpoint();
      clock.Advance(2'500);
    }
  }
  /// Also ends a debounce, and begins the sweep of the next day.
  void NextDay() {
    clock.Advance(kMsPerDay - clock.WallNow().value % kMsPerDay + 3'600'000);
    Settle();
  }
  /// Empties the disk. Deletes the beginning of the log: records that are more than `days` old.
  void LoseState(int32_t days) {
    durable_ = {};
    while (low_ < static_cast<int64_t>(log_.size()) &&
           DayOf(log_[static_cast<size_t>(low_)].at) < DayOf(clock.WallNow()) - days)
      ++low_;
    Open();
  }
  void Restart() { Open(); }
  void Configure(PartitionOptions options) { options_ = std::move(options); }
  PartitionOptions& options() { return options_; }
  PartitionFlow& flow() { return *open_->flow; }
  bool IsIncomplete() const { return open_->flow->GetStatus().filters[0].complete_since.has_value(); }
  /// Whether the item is in the user's published snapshot; false for a user without a snapshot.
  bool Holds(const std::string& user, const std::string& item) const {
    const auto found = topic.topic.find({FilterIndex(), user});
    return found != topic.topic.end() && SnapshotView::Parse(found->second)->MightContain(item);
  }
  std::optional<SnapshotMeta> Published(const std::string& user) const {
    const auto found = topic.topic.find({FilterIndex(), user});
    if (found == topic.topic.end()) return std::nullopt;
    return SnapshotView::Parse(found->second)->meta();
  }
  const DurableState& durable() const { return durable_; }

  VirtualClock clock;
  CountingReporter reporter;
  std::mt19937_64 random{1};
  FakeSnapshotTopic topic{random};
  FakeSnapshotTopics topics{topic};
  bool publishes = true;
  bool reads_topics = true;

 private:
  struct Logged {
    TimeMs at;
    std::string key;
    std::string value;
  };

  void Open() {
    publisher_.reset();
    reader_.reset();
    if (open_) opened_.Take(0);
    open_ = std::make_shared<OpenPartition>();
    open_->store = std::make_unique<FakeStore>(durable_, fault_, level0_files_);
    open_->flow =
        std::make_unique<PartitionFlow>(options_, durable_.position, 0, static_cast<int64_t>(log_.size()),
                                        *open_->store, dead_letters_, reporter, clock);
    opened_.Add(open_);
    publisher_ = std::make_unique<Publisher>(opened_, topic, reporter, clock, Publisher::Options());
    reader_ = std::make_unique<LastPublishedReader>(topics, opened_, reporter, clock);
  }
  void Read() {
    auto& intake = open_->flow->intake;
    if (open_->flow->state.next_offset() < low_) intake.SkipLost(low_);
    std::vector<Record> records;
    for (auto at = open_->flow->state.next_offset(); at < static_cast<int64_t>(log_.size()); ++at) {
      const Logged& logged = log_[static_cast<size_t>(at)];
      records.push_back({at, logged.at, logged.key, logged.value, false});
    }
    const auto taken = intake.Apply(records);
    Check(taken && *taken == records.size(), "all is taken");
    open_->flow->state.SetWatermarks(low_, static_cast<int64_t>(log_.size()));
    intake.ReachedEnd(static_cast<int64_t>(log_.size()));
  }
  void Checkpoint() {
    dead_letters_.DeliverAll();
    open_->flow->intake.Freeze();
    const auto written = open_->flow->checkpoint.Write();
    Check(written.has_value(), "a checkpoint is written");
  }

  PartitionOptions options_;
  DurableState durable_;
  StoreFault fault_ = StoreFault::kNone;
  uint32_t level0_files_ = 0;
  FakeDeadLetters dead_letters_{random};
  std::deque<Logged> log_;
  int64_t low_ = 0;
  OpenPartitions opened_;
  PartitionPointer open_;
  std::unique_ptr<Publisher> publisher_;
  std::unique_ptr<LastPublishedReader> reader_;
};

}  // namespace seen::sim
