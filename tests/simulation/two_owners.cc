#include "simulation/two_owners.h"

#include <algorithm>
#include <functional>
#include <limits>
#include <optional>
#include <thread>
#include <utility>

#include "consume/output_watch.h"
#include "filter/snapshot.h"
#include "flow/partition_flow.h"
#include "owner/partition_routes.h"
#include "simulation/fate.h"

namespace seen::sim {
namespace {
using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr milliseconds kSession{6'000};
constexpr milliseconds kTick{50};
constexpr milliseconds kCommitEvery{1'000};
constexpr int kTicks = 3'600;
constexpr int kRests = 200;  // ten seconds: the guard finds the last snapshots
constexpr int kUsers = 12;
constexpr int64_t kWireMs = 300;     // at most, one way
constexpr int64_t kHeldMs = 40'000;  // at most, if the network holds a request

struct Always final : PublishLease {
  bool MayPublish(int32_t, Instant) const override { return true; }
};

bool IsReplica(size_t number, const TwoOwners::Options& options) { return options.two_groups && number == 1; }
std::string GroupOf(size_t number, const TwoOwners::Options& options) {
  return IsReplica(number, options) ? "1" : "0";
}
}  // namespace

/// The snapshot topic as a daemon reads it.
class TwoOwners::Topic final : public SnapshotTopics {
 public:
  explicit Topic(TwoOwners& world) : world_(world) {}
  Status Read(FilterIndex, int32_t, const OnRecords&) override { return Fail(Code::kNotFound, "not here"); }
  Status ReadRange(FilterIndex, int32_t, int64_t from, int64_t to, const OnRecords& on_records) override {
    for (int64_t offset = from; offset < to; ++offset) {
      const std::string& user = world_.topic_[static_cast<size_t>(offset)].user;
      const Record record{offset, {}, user, "a snapshot", false};
      if (Status taken = on_records({&record, 1}); !taken) return taken;
    }
    return {};
  }
  Result<Recent> FindRecent(FilterIndex, int32_t, milliseconds back) override {
    const auto end = static_cast<int64_t>(world_.topic_.size());
    if (end == 0 || !world_.options_.looks_back) return Recent{end, end};
    const Instant since = world_.topic_.back().made - back;
    const auto from = std::find_if(world_.topic_.begin(), world_.topic_.end(),
                                   [&](const Stored& stored) { return stored.made >= since; });
    return Recent{from - world_.topic_.begin(), end};
  }
  Result<std::map<int32_t, int64_t>> Ends(FilterIndex, std::span<const int32_t> partitions) override {
    std::map<int32_t, int64_t> ends;
    for (const int32_t partition : partitions) ends[partition] = static_cast<int64_t>(world_.topic_.size());
    return ends;
  }

 private:
  TwoOwners& world_;
};

/// What a process knows about the owner. With two groups, "0" owns first, and "1" is its replica.
class TwoOwners::Heard final : public OutputsOwner {
 public:
  Heard(size_t number, const Options& options, const Clock& clock)
      : promotions(GroupOf(number, options),
                   IsReplica(number, options) ? std::optional<std::string>("0") : std::nullopt, "cluster"),
        routes({GroupOf(number, options), {}}, promotions, clock),
        forgets_(options.replica_forgets) {}
  bool IsThisGroup() const override { return promotions.IsThisGroup(); }
  std::optional<Beat> LastBeat(int32_t) const override { return std::nullopt; }
  int64_t PublishedTo(int32_t partition) const override {
    return forgets_ ? std::numeric_limits<int64_t>::max() : routes.PublishedTo(partition);
  }
  Promotions promotions;
  PartitionRoutes routes;

 private:
  const bool forgets_;
};

/// The publishing part of a daemon. When the process stands still, its librdkafka does, too.
class TwoOwners::Process final : public SnapshotSink {
 public:
  Process(TwoOwners& world, size_t number)
      : world_(world),
        number_(number),
        lease_(LeaseTimes::Of(kSession)),
        heard_(number, world.options_, world.clock_),
        publisher_(std::make_unique<Publisher>(Made())),
        topic_(world),
        watch_(topic_, guard_, opened_, reporter_) {}

  void Tick() {
    if (world_.Now() < away_until_) return;
    world_.Heartbeat(number_);
    if (world_.options_.two_groups) Hear();
    Control();
    Produce();
    if (auto open = opened_.Find(0)) Work(*open);
    publisher_->Step();
    if (!world_.options_.guarded || world_.Now() - watched_ < OutputWatch::kEvery) return;
    watched_ = world_.Now();
    watch_.Step();
  }
  bool AtRest() const {
    const auto open = opened_.Find(0);
    return open && queue_.empty() && unanswered_.empty() && open->flow->publish.Outstanding() == 0;
  }

  void TrySend(std::span<OutgoingSnapshot> snapshots) override {
    for (OutgoingSnapshot& snapshot : snapshots) {
      snapshot.queued = queue_.size() < 40;
      if (!snapshot.queued) continue;
      const auto view = SnapshotView::Parse(snapshot.bytes);
      // The linger, or sometimes slow brokers.
      const milliseconds wait(world_.Below(world_.at_rest_ || world_.Below(4) > 0 ? 50 : 4'000));
      queue_.push_back({world_.Now(), world_.Now() + wait, snapshot.ticket, std::string(snapshot.user_id),
                        view ? view->meta().item_count : 0});
    }
  }
  void PollAcknowledgements(const Acknowledge& acknowledge) override {
    world_.Passes(number_);
    Produce();
    const auto reports = std::exchange(reports_, {});
    for (const auto& [ticket, offset] : reports) {
      acknowledge(ticket, offset >= 0 ? Delivery::kAcknowledged : Delivery::kFailed);
      const OutputGuard::Delivered delivered{{FilterIndex{0}, 0}, offset};
      if (offset >= 0) guard_.OnDelivered({&delivered, 1});
    }
  }
  void SendNow(const Acknowledge& acknowledge) override { PollAcknowledgements(acknowledge); }
  uint64_t outstanding() const override { return queue_.size() + unanswered_.size(); }

  /// The process loses its memory. Snapshots on the wire stay.
  void Kill() {
    opened_.Take(0);
    guard_.Disown(0);
    queue_.clear();
    unanswered_.clear();
    reports_.clear();
    publisher_ = std::make_unique<Publisher>(Made());
    away_until_ = world_.Now() + milliseconds(world_.Below(8'000));
  }
  /// What the owner says of its partition; empty: nothing now.
  std::string Beat() const {
    const auto open = opened_.Find(0);
    if (!open || !heard_.IsThisGroup()) return {};
    return EncodeBeat({.from = {.group = GroupOf(number_, world_.options_), .instance = {}, .address = {}},
                       .published_to = open->flow->publish.PublishedTo()});
  }
  std::string Promotion() const { return EncodePromotion(heard_.promotions.Next("", {})); }

  /// Keeps a broker's answer until the process goes on.
  void Answered(uint64_t ticket, int64_t offset) {
    if (unanswered_.erase(ticket) > 0) reports_.emplace_back(ticket, offset);
  }

 private:
  struct Queued {
    Instant since;
    Instant leaves;
    uint64_t ticket;
    std::string user;
    uint32_t items;
  };

  Publisher Made() {
    Publisher::Options options;
    options.lease = world_.options_.leased ? static_cast<const PublishLease*>(&lease_) : &always_;
    options.snapshots_a_pass = 8;
    if (world_.options_.two_groups) options.owner = &heard_;
    return {opened_, *this, reporter_, world_.clock_, options};
  }

  // Learns of promotions, and how far the owner has published, each a little late.
  void Hear() {
    const bool owned = heard_.IsThisGroup();
    if (!world_.promotion_.empty() && world_.Below(10) == 0)
      Check(heard_.promotions.Obey(world_.promotion_).has_value(), "both groups know each other");
    const bool owns = heard_.IsThisGroup();
    if (owns != owned && opened_.Find(0)) owns ? guard_.Own(0) : guard_.Disown(0);
    if (!world_.beat_.empty() && world_.Below(20) == 0) heard_.routes.HearOwner(world_.beat_);
  }

  // Once a second, learns from the answer to a commit whether this process still owns the partition.
  void Control() {
    if (world_.Now() - committed_ < kCommitEvery) return;
    const Instant sent = committed_ = world_.Now();
    const bool taken = world_.IsOwner(number_) && world_.Now() >= world_.given_at_;
    world_.Passes(number_);  // the answer is on its way
    if (!taken) {
      if (!opened_.Find(0)) return;
      lease_.Ended(0, world_.Now());
      guard_.Disown(0);
      opened_.Take(0);
      return;
    }
    lease_.Committed(0, sent);
    if (!opened_.Find(0)) Open();
  }

  void Open() {
    auto open = std::make_shared<OpenPartition>();
    open->store = std::make_unique<FatefulStore>(std::make_unique<FakeStore>(durable_, fault_, level0_),
                                                 fate_, level0_);
    PartitionOptions options;
    FilterPolicy filter;
    filter.name = "home";
    filter.snapshot = SnapshotPolicy{{}, milliseconds(200)};
    options.filters = {filter};
    options.checkpoint_interval = milliseconds(2'000);
    open->flow = std::make_unique<PartitionFlow>(options, durable_.position, 0,
                                                 static_cast<int64_t>(world_.log_.size()), *open->store,
                                                 letters_, reporter_, world_.clock_);
    fetch_ = open->flow->intake.ReadFrom(0);
    if (heard_.IsThisGroup()) guard_.Own(0);
    opened_.Add(std::move(open));
  }

  void Work(OpenPartition& open) {
    PartitionFlow& flow = *open.flow;
    const auto end = static_cast<int64_t>(world_.log_.size());
    flow.state.ConfirmEnd(end, world_.Now());
    std::vector<Record> batch;
    for (; fetch_ < end && batch.size() < 30; ++fetch_) {
      const auto& [timestamp, value] = world_.log_[static_cast<size_t>(fetch_)];
      batch.push_back({fetch_, timestamp, "u", value, false});
    }
    if (!batch.empty()) (void)flow.intake.Apply(batch);
    if (fetch_ == end) flow.intake.ReachedEnd(end);
    if (flow.intake.CheckpointDue()) flow.intake.Freeze();
    if (flow.state.HasFrozen()) (void)flow.checkpoint.Write();
  }

  // The work of librdkafka's own threads. Gives up on snapshots that wait too long, then sends more.
  void Produce() {
    const Instant now = world_.Now();
    const milliseconds timeout = LeaseTimes::Of(kSession).delivery;
    const auto late = [&](Instant since) { return now - since >= timeout; };
    std::erase_if(queue_, [&](const Queued& queued) {
      if (late(queued.since)) reports_.emplace_back(queued.ticket, -1);
      return late(queued.since);
    });
    std::erase_if(unanswered_, [&](const auto& one) {
      if (late(one.second)) reports_.emplace_back(one.first, -1);
      return late(one.second);
    });
    while (!queue_.empty() && queue_.front().leaves <= now) {
      const Queued queued = queue_.front();
      queue_.pop_front();
      unanswered_.emplace(queued.ticket, queued.since);
      const bool held = world_.options_.network_holds && !world_.at_rest_ && world_.Below(100) == 0;
      const milliseconds way(world_.Below(held ? kHeldMs : kWireMs));
      last_arrival_ = std::max(last_arrival_, now + way);
      world_.wire_.push_back(
          {last_arrival_, number_, queued.ticket, queued.since, queued.user, queued.items});
    }
  }

  TwoOwners& world_;
  const size_t number_;
  CommitLease lease_;
  Heard heard_;
  const Always always_;
  CountingReporter reporter_;
  DurableState durable_;
  StoreFault fault_ = StoreFault::kNone;
  uint32_t level0_ = 0;
  Fate fate_{world_.random_, 0, 0, false, 0, [this] { world_.Passes(number_); }};
  FakeDeadLetters letters_{world_.random_};
  OpenPartitions opened_;
  int64_t fetch_ = 0;
  Instant committed_{};
  std::deque<Queued> queue_;
  std::map<uint64_t, Instant> unanswered_;             // by ticket: when the snapshot was queued
  std::vector<std::pair<uint64_t, int64_t>> reports_;  // tickets and offsets; -1: not delivered
  Instant last_arrival_{};
  Instant away_until_{};
  std::unique_ptr<Publisher> publisher_;
  OutputGuard guard_;
  Topic topic_;
  OutputWatch watch_;
  Instant watched_{};
};

TwoOwners::TwoOwners(uint64_t seed, Options options) : random_(seed), options_(options) {
  heard_ = {Now(), Now()};
  for (size_t i = 0; i < processes_.size(); ++i) processes_[i] = std::make_unique<Process>(*this, i);
}
TwoOwners::~TwoOwners() = default;

void TwoOwners::Heartbeat(size_t process) { heard_[process] = Now(); }

// If the owner is silent for a session, the partition goes to the other process, unless that one is silent,
// too.
void TwoOwners::Coordinate() {
  Operate();
  if (options_.two_groups) return;
  const size_t other = 1 - owner_;
  if (Now() - heard_[owner_] <= kSession || Now() - heard_[other] > kSession) return;
  owner_ = other;
  given_at_ = Now() + milliseconds(Below(1'000));
  ++takeovers_;
}

// Kills, promotes, and sends the owner's beats.
void TwoOwners::Operate() {
  if (options_.kills) KillSome();
  if (!options_.two_groups) return;
  if (std::string beat = processes_[owner_]->Beat(); !beat.empty()) beat_ = std::move(beat);
  if (at_rest_) return;
  if (Below(400) == 0) {
    owner_ = 1 - owner_;
    promotion_ = processes_[owner_]->Promotion();
    ++takeovers_;
  }
}

void TwoOwners::KillSome() {
  if (at_rest_ || Below(600) != 0) return;
  const auto killed = static_cast<size_t>(Below(2));
  if (killed == still_) return;
  processes_[killed]->Kill();
  ++kills_;
}

void TwoOwners::Arrive() {
  for (auto at = wire_.begin(); at != wire_.end();) {
    if (at->arrives > Now()) {
      ++at;
      continue;
    }
    uint32_t& newest = published_[at->user];
    stale_ += at->items < newest ? 1 : 0;
    newest = at->items;
    ++delivered_;
    const auto offset = static_cast<int64_t>(topic_.size());
    topic_.push_back({at->made, at->user});
    processes_[at->process]->Answered(at->ticket, offset);
    at = wire_.erase(at);
  }
}

void TwoOwners::Grow() {
  if (at_rest_ || Below(3) > 0) return;
  const std::string user = "u" + std::to_string(Below(kUsers));
  const std::string item = std::to_string(items_sent_[user]++);
  const int64_t now = clock_.WallNow().value;
  log_.emplace_back(TimeMs{now}, R"({"user_id":")" + user + R"(","item_id":"i)" + item +
                                     R"(","exposed_at":)" + std::to_string(now) + "}");
}

void TwoOwners::Tick() {
  clock_.Advance(kTick.count());
  Grow();
  Coordinate();
  Arrive();
  for (size_t i = 0; i < processes_.size(); ++i) {
    if (i != still_) processes_[i]->Tick();
  }
}

void TwoOwners::Passes(size_t process) {
  if (at_rest_ || still_ < processes_.size() || Below(1'500) > 0) return;
  still_ = process;
  ++stood_still_inside_;
  const Instant until = Now() + milliseconds(Below(3 * kSession.count()));
  // Buffers that the thread keeps for rendering are in use here. So the other process gets a separate thread.
  std::thread([&] {
    while (Now() < until) Tick();
  }).join();
  still_ = processes_.size();
}

std::string TwoOwners::Run() {
  for (int i = 0; i < kTicks; ++i) Tick();
  at_rest_ = true;
  int rests = 0;
  for (int i = 0; i < kTicks; ++i) {
    Tick();
    if (wire_.empty() && processes_[owner_]->AtRest() && ++rests > kRests) break;
  }
  if (!processes_[owner_]->AtRest()) return "snapshots outstanding at rest";
  for (const auto& [user, items] : items_sent_) {
    if (published_[user] != static_cast<uint32_t>(items)) return "the newest snapshot of " + user + " is old";
  }
  return {};
}

}  // namespace seen::sim
