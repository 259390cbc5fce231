#include "simulation/recall_world.h"

#include <algorithm>
#include <deque>
#include <set>

#include "consume/output_watch.h"
#include "flow/partition_flow.h"
#include "flow/publisher.h"
#include "flow/update_sender.h"
#include "model/update.h"
#include "owner/beat.h"
#include "seen/filter_reader.h"

namespace seen::sim {
namespace {
using std::chrono::milliseconds;

constexpr size_t kUsers = 4, kItems = 6, kReadersMax = 5;
constexpr int kSteps = 160, kRests = 900;
constexpr int64_t kRefusedMs = 70'000;  // longer than UpdateStream::kPatience

std::string ValueOf(const std::string& user, const std::string& item, const char* kind, int64_t at_ms) {
  std::string value = R"({"user_id":")" + user + R"(","kind":")" + kind + '"';
  if (!item.empty()) value += R"(,"item_id":")" + item + '"';
  return value + R"(,"exposed_at":)" + std::to_string(at_ms) + "}";
}
}  // namespace

/// A daemon, as far as the partition is concerned.
class RecallWorld::Process final : public SnapshotSink,
                                   public PartitionSink,
                                   public PublishLease,
                                   public OutputsOwner {
 public:
  Process(RecallWorld& world, size_t number)
      : world_(world), number_(number), topic_(*this), watch_(topic_, guard_, opened_, reporter_) {}

  void Open() {
    zombie_ = false;
    auto open = std::make_shared<OpenPartition>();
    open->store = std::make_unique<FakeStore>(durable, fault_, level0_);
    FilterPolicy filter;
    filter.name = "home";
    filter.snapshot = SnapshotPolicy{{SnapshotFormat::kFingerprints, 0.01, false}, milliseconds(200)};
    filter.updates = true;
    PartitionOptions options;
    options.filters = {filter};
    options.checkpoint_interval = milliseconds(2'000);
    options.replay_idle = milliseconds(5'000);
    options.updates = UpdatePolicy{};
    options.updates->refresh_every = milliseconds(world_.Below(3) == 0 ? 60'000 : 5'000);
    options.updates->generation_if_none = static_cast<int64_t>(world_.random_() >> 1) | 1;
    open->flow = std::make_unique<PartitionFlow>(options, durable.position, 0,
                                                 static_cast<int64_t>(world_.log_.size()), *open->store,
                                                 letters_, reporter_, world_.clock_);
    fetch_ = static_cast<size_t>(open->flow->intake.ReadFrom(0));
    guard_.Own(0);
    opened_.Add(std::move(open));
    Publisher::Options publishing;
    publishing.lease = this;
    publishing.guard = &guard_;
    publishing.owner = this;
    publishing.watermarks = BeatSender{"group", std::to_string(number_), "", false};
    publisher_ = std::make_unique<Publisher>(opened_, *this, reporter_, world_.clock_, publishing);
    sender_ = std::make_unique<UpdateSender>(opened_, *this, nullptr, world_.clock_);
  }
  /// What is under way arrives up to some place, and nobody learns up to where.
  void Crash() {
    for (size_t left = world_.Below(queue_.size() + 1); left > 0; --left) Arrive(false);
    for (size_t left = world_.Below(updates_.size() + 1); left > 0; --left) ArriveUpdate(false);
    if (!updates_.empty()) {  // of the next one, some parts at most
      std::vector<std::string> parts = world_.PartsOf(updates_.front().second);
      parts.resize(world_.Below(parts.size()));
      for (std::string& part : parts) world_.updates_.push_back(std::move(part));
    }
    queue_.clear();
    updates_.clear();
    reports_.clear();
    update_reports_.clear();
    guard_.Disown(0);
    opened_.Take(0);
    letters_.DeliverAll();
  }
  /// The lease keeps it from sending snapshots: those under way arrive before the next owner's, or never.
  void BecomeZombie() {
    for (size_t left = world_.Below(queue_.size() + 1); left > 0; --left) Arrive(false);
    queue_.clear();
    zombie_ = true;
  }
  bool is_open() const { return opened_.Find(0) != nullptr; }
  PartitionFlow& flow() const { return *opened_.Find(0)->flow; }
  void LookAtTopics() { watch_.Step(); }

  void Step(bool quiet) {
    if (!is_open()) return;
    if (zombie_ && world_.Chance(10)) return Crash();
    PartitionFlow& its = flow();
    const size_t end = world_.log_.size();
    its.state.SetWatermarks(0, static_cast<int64_t>(end));
    if (world_.Chance(50)) its.state.ConfirmEnd(static_cast<int64_t>(end), world_.clock_.Now());
    Read(world_.Below(4));
    if (fetch_ == end) its.intake.ReachedEnd(static_cast<int64_t>(end));
    if (world_.Chance(50)) sender_->Step();
    if (!world_.updates_refused_ && world_.Chance(60) && !updates_.empty()) ArriveUpdate(true);
    if (zombie_) return;
    its.intake.EndIdleReplays();
    letters_.DeliverSome();
    if (world_.Chance(quiet ? 60 : 25)) Checkpoint();
    if (world_.Chance(70)) publisher_->Step();
    if (world_.Chance(70) && !queue_.empty()) Arrive(true);
    if (world_.Chance(20)) watch_.Step();
  }

  // SnapshotSink
  void TrySend(std::span<OutgoingSnapshot> snapshots) override {
    for (OutgoingSnapshot& one : snapshots) {
      one.queued = true;
      if (one.output == Output::kWatermarks) {
        if (world_.owner_ == number_) world_.beat_ = one.bytes;
        reports_.emplace_back(one.ticket, -2);
        continue;
      }
      queue_.push_back({one.ticket, std::string(one.user_id), std::string(one.bytes)});
    }
  }
  void PollAcknowledgements(const Acknowledge& acknowledge) override {
    for (const auto& [ticket, offset] : std::exchange(reports_, {})) {
      if (offset >= 0) {
        const OutputGuard::Delivered delivered{{FilterIndex{0}, 0}, offset};
        guard_.OnDelivered({&delivered, 1});
      }
      acknowledge(ticket, offset == -1 ? Delivery::kFailed : Delivery::kAcknowledged);
    }
  }
  void SendNow(const Acknowledge& acknowledge) override { PollAcknowledgements(acknowledge); }
  uint64_t outstanding() const override { return queue_.size() + reports_.size(); }

  // PartitionSink
  bool TrySend(int32_t, std::string_view record, uint64_t ticket) override {
    if (updates_.size() >= 20) return false;
    updates_.emplace_back(ticket, record);
    return true;
  }
  void PollDeliveries(const std::function<void(const PartitionDelivery&)>& on_delivery) override {
    for (const PartitionDelivery& one : std::exchange(update_reports_, {})) on_delivery(one);
  }

  // PublishLease
  bool MayPublish(int32_t, Instant) const override { return world_.owner_ == number_ && !zombie_; }
  bool IsGivenUp(int32_t) const override { return false; }

  // OutputsOwner
  bool IsThisGroup() const override { return true; }
  int64_t PublishedTo(int32_t) const override { return -1; }
  std::optional<Beat> LastBeat(int32_t) const override { return ParseBeat(world_.beat_); }

  DurableState durable;

 private:
  /// The snapshot topic as this process reads it.
  class Topic final : public SnapshotTopics {
   public:
    explicit Topic(Process& process) : process_(process) {}
    Status Read(FilterIndex, int32_t, const OnRecords&) override { return Fail(Code::kNotFound, "not here"); }
    Status ReadRange(FilterIndex, int32_t, int64_t from, int64_t to, const OnRecords& on_records) override {
      const auto& topic = process_.world_.snapshots_;
      for (auto offset = from; offset < to && offset < static_cast<int64_t>(topic.size()); ++offset) {
        const Record record{offset, {}, topic[static_cast<size_t>(offset)].user, "a snapshot", false};
        if (Status taken = on_records({&record, 1}); !taken) return taken;
      }
      return {};
    }
    Result<Recent> FindRecent(FilterIndex, int32_t, milliseconds) override {
      const auto end = static_cast<int64_t>(process_.world_.snapshots_.size());
      return Recent{end, end};
    }
    Result<std::map<int32_t, int64_t>> Ends(FilterIndex, std::span<const int32_t>) override {
      return std::map<int32_t, int64_t>{{0, static_cast<int64_t>(process_.world_.snapshots_.size())}};
    }

   private:
    Process& process_;
  };
  struct Queued {
    uint64_t ticket;
    std::string user, bytes;
  };

  void Read(size_t records) {
    std::vector<Record> batch;
    const size_t end = std::min(world_.log_.size(), fetch_ + records);
    for (; fetch_ < end; ++fetch_) {
      const Event& event = world_.log_[fetch_];
      Record& record = batch.emplace_back();
      record.offset = static_cast<int64_t>(fetch_);
      record.timestamp = {event.written_ms};
      record.key = event.user;
      record.value = event.value;
      if (event.replayed) record.replay = &replay_;
    }
    if (batch.empty()) return;
    const auto taken = flow().intake.Apply(batch);
    if (!taken) {
      world_.problem_ = "records refused: " + taken.error().message;
      return;
    }
    fetch_ -= batch.size() - *taken;
  }
  void Checkpoint() {
    PartitionFlow& its = flow();
    if (its.intake.HasChanges() && !its.state.HasFrozen()) its.intake.Freeze();
    if (!its.state.HasFrozen()) return;
    (void)its.checkpoint.Write();
    if (world_.Chance(30)) world_.state_topic_ = durable;
  }
  void Arrive(bool reports) {
    const Queued one = std::move(queue_.front());
    queue_.pop_front();
    if (reports && world_.Chance(10)) return reports_.emplace_back(one.ticket, -1), void();
    world_.snapshots_.push_back(
        {one.user, one.bytes.empty() ? std::optional<std::string>() : std::optional(one.bytes)});
    if (reports) reports_.emplace_back(one.ticket, static_cast<int64_t>(world_.snapshots_.size()) - 1);
  }
  // A record whose report is lost is sent again.
  void ArriveUpdate(bool reports) {
    const auto [ticket, bytes] = std::move(updates_.front());
    updates_.pop_front();
    for (std::string& part : world_.PartsOf(bytes)) world_.updates_.push_back(std::move(part));
    const auto offset = static_cast<int64_t>(world_.updates_.size()) - 1;
    if (reports) update_reports_.push_back({0, ticket, world_.Chance(10) ? -1 : offset});
  }

  RecallWorld& world_;
  const size_t number_;
  CountingReporter reporter_;
  StoreFault fault_ = StoreFault::kNone;
  uint32_t level0_ = 0;
  const ReplayNote replay_{ReplayNote::Kind::kRecord, false, "run"};
  FakeDeadLetters letters_{world_.random_};
  OpenPartitions opened_;
  OutputGuard guard_;
  size_t fetch_ = 0;
  bool zombie_ = false;
  std::deque<Queued> queue_;
  std::vector<std::pair<uint64_t, int64_t>> reports_;  // -1: not delivered; -2: no snapshot
  std::deque<std::pair<uint64_t, std::string>> updates_;
  std::vector<PartitionDelivery> update_reports_;
  Topic topic_;
  OutputWatch watch_;
  std::unique_ptr<Publisher> publisher_;
  std::unique_ptr<UpdateSender> sender_;
};

/// A recall service: it reads three topics at its own pace.
class RecallWorld::Reader {
 public:
  explicit Reader(RecallWorld& world) : world_(world) {
    constexpr std::array<std::pair<int, int>, 4> kPaces = {{{90, 90}, {90, 20}, {20, 90}, {50, 50}}};
    std::tie(pace_updates_, pace_snapshots_) = kPaces[world.Below(kPaces.size())];
    at_update_ = world.updates_begin_;
    ReadBeat();
    const auto beat = ParseBeat(world.beat_);
    if (beat && beat->updates_from >= static_cast<int64_t>(world.updates_begin_))
      at_update_ = std::min(static_cast<size_t>(beat->updates_from), world.updates_.size());
  }

  void Step() {
    for (size_t left = 1 + world_.Below(3); left > 0; --left) {
      if (world_.Chance(pace_updates_)) ReadUpdate();
      if (world_.Chance(pace_snapshots_)) ReadSnapshot();
    }
    if (world_.Chance(70)) ReadBeat();
  }
  void ReadBeat() {
    const auto beat = ParseBeat(world_.beat_);
    if (!beat) return;
    Take(reader_.TakeBeat("0", world_.beat_));
    generation_ = beat->generation;
    LookForEnd();
  }
  void CutTo(size_t snapshots, size_t updates) {
    at_snapshot_ = std::min(at_snapshot_, snapshots);
    at_update_ = std::min(at_update_, updates);
  }
  bool IsFresh() const {
    const auto complete = reader_.CompleteTo(0);
    return complete && *complete >= static_cast<int64_t>(world_.log_.size());
  }

  /// Each live event that the reader claims to know must be seen, unless it was taken back.
  std::string Check() const {
    const auto complete = reader_.CompleteTo(0);
    if (!complete || !world_.IsCurrent(generation_)) return {};
    ++world_.claims_;
    const auto as_of = reader_.AsOf(0);
    std::set<std::string> erased;
    std::set<std::pair<std::string, std::string>> removed;
    for (size_t at = world_.log_.size(); at-- > 0;) {
      const Event& event = world_.log_[at];
      if (event.kind == Kind::kErased) erased.insert(event.user);
      if (event.kind == Kind::kRemoved) removed.insert({event.user, event.item});
      if (event.kind != Kind::kExposed || event.replayed) continue;
      const bool known = static_cast<int64_t>(at) < *complete;
      const std::string which = "the item " + event.item + " of " + event.user + " at " + std::to_string(at);
      if (as_of && event.written_ms <= as_of->time_since_epoch().count() && !known)
        return which + ": older than the reader's as_of, and beyond what it knows";
      if (!known || erased.contains(event.user) || removed.contains({event.user, event.item})) continue;
      if (!reader_.MightContain(event.user, event.item))
        return which + ": unseen, and the reader knows all below " + std::to_string(*complete);
    }
    return {};
  }

 private:
  void Take(std::optional<client::Error> refused) const {
    if (refused) world_.problem_ = "a reader refused: " + refused->message;
  }
  void ReadUpdate() {
    at_update_ = std::max(at_update_, world_.updates_begin_);
    if (at_update_ == world_.updates_.size()) return;
    const std::string& bytes = world_.updates_[at_update_++];
    if (!world_.Chance(1)) Take(reader_.TakeUpdate(bytes));  // else it was damaged on the way
  }
  void ReadSnapshot() {
    const auto& topic = world_.snapshots_;
    if (at_snapshot_ < topic.size()) {
      const Snapshot& one = topic[at_snapshot_++];
      const bool is_newest =
          std::none_of(topic.begin() + static_cast<std::ptrdiff_t>(at_snapshot_), topic.end(),
                       [&](const Snapshot& later) { return later.user == one.user; });
      if (is_newest || world_.Chance(50))  // else it was compacted away
        Take(reader_.TakeSnapshot(0, one.user,
                                  one.bytes ? std::optional<std::string_view>(*one.bytes) : std::nullopt));
    }
    LookForEnd();
  }
  void LookForEnd() {
    if (at_snapshot_ == world_.snapshots_.size()) reader_.SnapshotsEnd(0, static_cast<int64_t>(at_snapshot_));
  }

  RecallWorld& world_;
  client::FilterReader reader_{"home", {0}};
  int pace_updates_ = 0, pace_snapshots_ = 0;
  size_t at_update_ = 0, at_snapshot_ = 0;
  int64_t generation_ = 0;
};

RecallWorld::RecallWorld(uint64_t seed) : random_(seed) {
  for (size_t i = 0; i < processes_.size(); ++i) processes_[i] = std::make_unique<Process>(*this, i);
  processes_[0]->Open();
  readers_.push_back(std::make_unique<Reader>(*this));
}
RecallWorld::~RecallWorld() = default;

bool RecallWorld::IsCurrent(int64_t generation) const {
  return std::any_of(processes_.begin(), processes_.end(), [&](const auto& process) {
    return process->is_open() && process->flow().state.generation() == generation;
  });
}

/// An update as it came, or as if its first event needed several records: the others hold another item of the
/// user.
std::vector<std::string> RecallWorld::PartsOf(const std::string& bytes) {
  const auto update = client::Update::Parse(bytes);
  const int64_t from = update->from(), to = update->to();
  const auto is_first = [&](const client::UpdateEntry& entry, uint32_t i) {
    const Event& event = log_[static_cast<size_t>(from)];
    return entry.user == UpdateUserOf(event.user) &&
           static_cast<uint32_t>(entry[i]) == FingerprintOf(event.item).value;
  };
  int first = 0;  // of its additions
  UpdateRows rest;
  update->ForEachSection([&](const client::UpdateSection& section) {
    section.ForEach([&](const client::UpdateEntry& entry) {
      for (uint32_t i = 0; i < entry.count; ++i) {
        const Fingerprint item{static_cast<uint32_t>(entry[i])};
        if (from < static_cast<int64_t>(log_.size()) && is_first(entry, i)) {
          ++first;
        } else {
          rest.Add(section.mask(), AdditionKind::kSeen, section.until_s(), entry.user, {&item, 1});
        }
      }
    });
  });
  if (from == to || first != 1 || Chance(60)) return {bytes};
  const Event& event = log_[static_cast<size_t>(from)];
  const size_t count = 2 + Below(3), place = Below(count);
  std::vector<std::string> parts(count);
  for (size_t part = 0; part < count; ++part) {
    const bool is_last = part + 1 == count;
    UpdateRows rows;
    if (is_last) std::swap(rows, rest);
    const Fingerprint item = FingerprintOf(part == place ? event.item : "another");
    rows.Add(1, AdditionKind::kSeen, 0, UpdateUserOf(event.user), {&item, 1});
    EncodeUpdate({0,
                  update->generation(),
                  from,
                  is_last ? to : from,
                  {is_last ? update->as_of_ms() : -1},
                  static_cast<uint8_t>(part)},
                 std::vector<std::string>{"home"}, rows, parts[part]);
  }
  return parts;
}

void RecallWorld::Grow() {
  Event event;
  event.written_ms = clock_.WallNow().value;
  event.user = "u" + std::to_string(Below(kUsers));
  const int kind = static_cast<int>(Below(100));
  event.replayed = kind >= 80 && kind < 88;
  event.kind = kind < 88   ? Kind::kExposed
               : kind < 96 ? Kind::kRemoved
               : kind < 98 ? Kind::kErased
                           : Kind::kBad;
  if (event.kind == Kind::kExposed || event.kind == Kind::kRemoved)
    event.item = "i" + std::to_string(Below(kItems));
  constexpr std::array<const char*, 3> kNames = {"exposed", "removed", "erased"};
  event.value = event.kind == Kind::kBad ? "no event"
                                         : ValueOf(event.user, event.item,
                                                   kNames[static_cast<size_t>(event.kind)], event.written_ms);
  log_.push_back(std::move(event));
}

void RecallWorld::Break() {
  Process& owner = *processes_[owner_];
  const auto restart = [](Process& process) {
    process.Crash();
    process.Open();
  };
  ++faults_;
  switch (static_cast<Fault>(Below(static_cast<size_t>(Fault::kCount)))) {
    case Fault::kCrash:
      return restart(owner);
    case Fault::kTakeover: {
      Chance(60) ? owner.BecomeZombie() : owner.Crash();
      owner_ = 1 - owner_;
      Process& next = *processes_[owner_];
      next.Crash();
      if (state_topic_ && (!next.durable.position || Chance(50))) next.durable = *state_topic_;
      return next.Open();
    }
    case Fault::kUpdatesCut:
      updates_.resize(std::max(updates_begin_, updates_.size() - std::min(updates_.size(), 1 + Below(3))));
      break;
    case Fault::kUpdatesExpire:
      updates_begin_ = std::max(updates_begin_, updates_.size() - std::min(updates_.size(), Below(6)));
      break;
    case Fault::kSnapshotsCut:
      return CutSnapshots(owner);
    case Fault::kInputRecreated:
      for (const auto& process : processes_) {
        process->Crash();
        process->durable = {};
      }
      log_.clear();
      state_topic_.reset();
      return owner.Open();
    case Fault::kStateLost:
      owner.Crash();
      owner.durable = {};
      state_topic_.reset();
      if (Chance(50)) {
        processes_[1 - owner_]->Crash();
        processes_[1 - owner_]->durable = {};
      }
      return owner.Open();
    case Fault::kUpdatesRefused:
      updates_refused_ = true;
      clock_.Advance(kRefusedMs);
      break;
    default:
      return Replace();
  }
  for (const auto& reader : readers_) reader->CutTo(snapshots_.size(), updates_.size());
}

// The owner notices within two looks. What readers do in between isn't part of this world.
void RecallWorld::CutSnapshots(Process& owner) {
  if (snapshots_.empty() || !owner.is_open()) return;
  owner.LookAtTopics();
  snapshots_.resize(Chance(50) ? 0 : snapshots_.size() - std::min(snapshots_.size(), 1 + Below(6)));
  for (const auto& reader : readers_) reader->CutTo(snapshots_.size(), updates_.size());
  for (int looks = 0; looks < 3; ++looks) owner.LookAtTopics();
  // The next beat takes published_to back. Here it comes at once.
  if (auto beat = ParseBeat(beat_); beat && owner.flow().state.generation() == beat->generation) {
    beat->published_to = -1;
    beat->republishing = true;
    beat_ = EncodeBeat(*beat);
  }
  for (const auto& reader : readers_) reader->ReadBeat();
}

void RecallWorld::Replace() {
  auto fresh = std::make_unique<Reader>(*this);
  if (readers_.size() < kReadersMax && Chance(50)) return readers_.push_back(std::move(fresh)), void();
  readers_[Below(readers_.size())] = std::move(fresh);
}

void RecallWorld::Step(bool quiet) {
  clock_.Advance(static_cast<int64_t>(20 + Below(quiet ? 400 : 180)));
  if (!quiet && Chance(50)) Grow();
  if (updates_refused_ && (quiet || Chance(10))) updates_refused_ = false;
  for (const auto& process : processes_) {
    if (Chance(90)) process->Step(quiet);
  }
  for (const auto& reader : readers_) {
    reader->Step();
    if (!Chance(35)) continue;
    if (std::string wrong = reader->Check(); !wrong.empty() && problem_.empty()) problem_ = std::move(wrong);
  }
  if (!quiet && Chance(6)) Break();
}

std::string RecallWorld::Run() {
  for (int i = 0; i < kSteps && problem_.empty(); ++i) Step(false);
  const auto fresh = [](const auto& reader) { return reader->IsFresh(); };
  for (int i = 0; i < kRests && problem_.empty(); ++i) {
    Step(true);
    if (i > 20 && std::all_of(readers_.begin(), readers_.end(), fresh)) break;
  }
  if (!problem_.empty()) return problem_;
  return std::all_of(readers_.begin(), readers_.end(), fresh) ? "" : "a reader is stale at rest";
}

}  // namespace seen::sim
