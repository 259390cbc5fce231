#include "simulation/recall_process.h"

#include <algorithm>

#include "decode/event_plan.h"
#include "model/update.h"
#include "seen/update.h"

namespace seen::sim {
using std::chrono::milliseconds;

namespace {
// The default format reads no kinds: removals would be exposures.
std::shared_ptr<const EventPlan> PlanWithKinds() {
  EventFormat format;
  format.wanted.kind = true;
  format.filters.resize(1);
  return *EventPlan::Make(format);
}
}  // namespace

RecallProcess::RecallProcess(RecallTopics& world, size_t number)
    : world_(world), number_(number), plan_(PlanWithKinds()) {
  Start();
}

// It knows nothing of what it knew.
void RecallProcess::Start() {
  watch_.reset();
  publisher_.reset();
  guard_ = std::make_unique<OutputGuard>();
  watch_ = std::make_unique<OutputWatch>(topic_, *guard_, opened_, reporter_);
}

PartitionOptions RecallProcess::Options() {
  FilterPolicy filter;
  filter.id = FilterId(world_.filter);
  filter.name = world_.name;
  filter.snapshot = SnapshotPolicy{{world_.format, 0.01, false}, milliseconds(200)};
  filter.updates = true;
  PartitionOptions options;
  options.filters = {filter};
  options.plan = plan_;
  options.tail_bytes_max = 1 << 20;
  options.checkpoint_interval = milliseconds(2'000);
  options.replay_idle = milliseconds(5'000);
  options.updates = UpdatePolicy{};
  options.updates->refresh_every = milliseconds(world_.refresh_ms);
  options.updates->generation_if_none = static_cast<int64_t>(world_.random() >> 1) | 1;
  return options;
}

void RecallProcess::Open() {
  if (std::exchange(is_replica_, false)) NoteUnsent();
  OpenFlow();
  guard_->Own(0);
}

void RecallProcess::OpenReplica() {
  is_replica_ = true;
  OpenFlow();
}

void RecallProcess::Promote() {
  is_replica_ = false;
  NoteUnsent();
  guard_->Own(0);
}

void RecallProcess::Demote() {
  is_replica_ = true;
  guard_->Disown(0);
}

// A replica sent nothing of what it has read, and what the former owner hasn't sent, nobody sends.
void RecallProcess::NoteUnsent() { world_.gap_allowed_to = world_.log_end(); }

void RecallProcess::OpenFlow() {
  zombie_ = false;
  round_ = {0, world_.clock.WallNow().value};
  gaps_seen_ = 0;
  auto open = std::make_shared<OpenPartition>();
  auto store = std::make_unique<FakeStore>(durable, fault_, level0_);
  store->before_users = [this] {
    if (world_.Chance(30)) DeliverOne();
  };
  open->store = std::move(store);
  open->flow = std::make_unique<PartitionFlow>(Options(), durable.position, 0, world_.log_end(), *open->store,
                                               letters_, reporter_, world_.clock);
  fetch_ = static_cast<size_t>(open->flow->intake.ReadFrom(0));
  world_.generations.insert(open->flow->state.generation());
  opened_.Add(std::move(open));
  Publisher::Options publishing;
  publishing.lease = this;
  publishing.guard = guard_.get();
  publishing.owner = this;
  publishing.snapshots_a_pass = 32;
  publishing.watermarks = BeatSender{"group", std::to_string(number_), "", false};
  publisher_ = std::make_unique<Publisher>(opened_, *this, reporter_, world_.clock, publishing);
  sender_ = std::make_unique<UpdateSender>(opened_, *this, this, world_.clock);
}

void RecallProcess::Crash() {
  NoteGaps();
  for (size_t left = world_.Below(queue_.size() + 1); left > 0; --left) Arrive(false);
  for (size_t left = world_.Below(updates_.size() + 1); left > 0; --left) ArriveUpdate(false);
  if (!updates_.empty()) {  // of the next one, some parts at most
    std::vector<std::string> parts = PartsOf(updates_.front().second);
    parts.resize(world_.Below(parts.size()));
    for (std::string& part : parts) world_.updates.push_back(std::move(part));
  }
  if (world_.Chance(50)) DeliverBeats();
  beats_.clear();
  queue_.clear();
  updates_.clear();
  reports_.clear();
  update_reports_.clear();
  guard_->Disown(0);
  opened_.Take(0);
  letters_.DeliverAll();
  if (world_.Chance(60)) Start();
}

void RecallProcess::BecomeZombie() {
  for (size_t left = world_.Below(queue_.size() + 1); left > 0; --left) Arrive(false);
  queue_.clear();
  DeliverBeats();
  zombie_ = true;
  NoteGaps();
}

bool RecallProcess::Withholds() const {
  return is_open() && flow().last_published.Withholds(FilterIndex{0}, world_.clock.WallNow());
}

size_t RecallProcess::ThirdOfRound() const {
  return std::min<size_t>(
      2, static_cast<size_t>(3 * (world_.clock.WallNow().value - round_.second) / world_.refresh_ms));
}

size_t RecallProcess::Marks() const {
  return static_cast<size_t>(std::count_if(durable.marks.begin(), durable.marks.end(), [&](const auto& mark) {
    return mark.first.user != UserKeyOf(world_.too_large) && mark.first.filter == FilterId(world_.filter);
  }));
}

void RecallProcess::Step(RecallPace pace) {
  if (!is_open()) return;
  const bool is_calm = pace == RecallPace::kCalm;
  const auto happens = [&](int percent) { return is_calm || world_.Chance(percent); };
  NoteGaps();
  const uint64_t rounds = flow().publish.GetRefreshStatus(world_.clock.Now())->rounds;
  if (rounds != round_.first) round_ = {rounds, world_.clock.WallNow().value};
  if (zombie_ && world_.Chance(3)) return Crash();
  PartitionFlow& its = flow();
  its.state.SetWatermarks(0, world_.log_end());
  if (happens(50)) its.state.ConfirmEnd(world_.log_end(), world_.clock.Now());
  const bool lags = is_replica_ && world_.replicas_lag && pace == RecallPace::kBusy && world_.Chance(85);
  Read(lags                        ? 0
       : is_calm                   ? world_.log.size()
       : pace == RecallPace::kBusy ? world_.Below(world_.reads_at_most + 1)
                                   : world_.Below(4));
  if (fetch_ == world_.log.size()) its.intake.ReachedEnd(world_.log_end());
  if (happens(50)) sender_->Step();
  while (!world_.updates_away && !updates_.empty() && happens(60)) {
    ArriveUpdate(true, is_calm ? 0 : 10);
    if (!is_calm) break;
  }
  if (world_.updates_away && world_.Chance(5)) GiveUpUpdates();
  if (!zombie_) {
    its.intake.EndIdleReplays();
    is_calm ? letters_.DeliverAll() : letters_.DeliverSome();
    if (world_.Chance(pace == RecallPace::kBusy ? world_.checkpoint_percent : 60)) Checkpoint();
    if (world_.Chance(30)) last_published_.Step();
  }
  if (world_.Chance(70)) publisher_->Step();
  if (is_calm || world_.Chance(10)) DeliverBeats();
  if (zombie_) return;
  if (world_.Chance(70) && !queue_.empty()) Arrive(true, is_calm ? 0 : 10);
  if (world_.Chance(20)) watch_->Step();
}

bool RecallProcess::DeliverOne() {
  if (queue_.empty()) return false;
  Arrive(true, 0);
  publisher_->Step();
  return true;
}

// Twice: the acknowledgement of the beat before it may still be on its way.
void RecallProcess::SendBeat() {
  for (int i = 0; i < 2; ++i) {
    DeliverBeats();
    publisher_->Step();
  }
  DeliverBeats();
}

void RecallProcess::DeliverBeats() {
  for (auto& [ticket, bytes] : std::exchange(beats_, {})) {
    world_.beat = std::move(bytes);
    reports_.emplace_back(ticket, kNoSnapshot);
  }
}

void RecallProcess::GiveUpUpdates() {
  for (const auto& [ticket, bytes] : updates_) update_reports_.push_back({0, ticket, -1});
  updates_.clear();
}

void RecallProcess::TrySend(std::span<OutgoingSnapshot> snapshots) {
  for (OutgoingSnapshot& one : snapshots) {
    one.queued = true;
    if (one.output == Output::kWatermarks) {
      beats_.emplace_back(one.ticket, one.bytes);
      if (!world_.beats_are_late) DeliverBeats();
      continue;
    }
    if (one.output == Output::kCluster) {  // a replica's beat
      reports_.emplace_back(one.ticket, kNoSnapshot);
      continue;
    }
    ++sent_;
    queue_.push_back({one.ticket, std::string(one.user_id), std::string(one.bytes)});
  }
}

void RecallProcess::PollAcknowledgements(const Acknowledge& acknowledge) {
  for (const auto& [ticket, offset] : std::exchange(reports_, {})) {
    if (offset >= 0) {
      const OutputGuard::Delivered delivered{{FilterIndex{0}, 0}, offset};
      guard_->OnDelivered({&delivered, 1});
    }
    acknowledge(ticket, offset == kTooLarge       ? Delivery::kTooLarge
                        : offset == kNotDelivered ? Delivery::kFailed
                                                  : Delivery::kAcknowledged);
  }
}

bool RecallProcess::TrySend(int32_t, std::string_view record, uint64_t ticket) {
  if (updates_.size() >= 20) return false;
  updates_.emplace_back(ticket, record);
  return true;
}

void RecallProcess::PollDeliveries(const std::function<void(const PartitionDelivery&)>& on_delivery) {
  for (const PartitionDelivery& one : std::exchange(update_reports_, {})) on_delivery(one);
}

Status RecallProcess::Topic::ReadRange(FilterIndex, int32_t, int64_t from, int64_t to,
                                       const OnRecords& on_records) {
  for (int64_t offset = from; offset < std::min(to, end()); ++offset) {
    const RecallTopics::Snapshot& one = world_.snapshots[static_cast<size_t>(offset)];
    if (one.is_compacted) continue;
    const std::string_view bytes = one.bytes ? std::string_view(*one.bytes) : std::string_view();
    const Record record{offset, {}, one.user, bytes, !one.bytes};
    if (Status taken = on_records({&record, 1}); !taken) return taken;
  }
  return {};
}

void RecallProcess::Read(size_t records) {
  std::vector<Record> batch;
  const size_t end = std::min(world_.log.size(), fetch_ + records);
  batch.reserve(end - fetch_);
  for (; fetch_ < end; ++fetch_) {
    const RecallTopics::Event& event = world_.log[fetch_];
    Record& record = batch.emplace_back();
    record.offset = static_cast<int64_t>(fetch_);
    record.timestamp = event.timestamp;
    record.key = event.user;
    record.value = event.value;
    if (event.replayed) record.replay = &replay_;
  }
  if (batch.empty()) return;
  const auto taken = flow().intake.Apply(batch);
  if (!taken) return world_.Fails("records refused: " + taken.error().message);
  fetch_ -= batch.size() - *taken;
}

void RecallProcess::Checkpoint() {
  PartitionFlow& its = flow();
  if (its.intake.HasChanges() && !its.state.HasFrozen()) its.intake.Freeze();
  if (!its.state.HasFrozen()) return;
  (void)its.checkpoint.Write();
  if (!is_replica_ && world_.Chance(30)) world_.state = durable;
}

void RecallProcess::Arrive(bool reports, int fail_percent) {
  const Queued one = std::move(queue_.front());
  queue_.pop_front();
  if (one.user == world_.too_large && !one.bytes.empty()) {
    if (reports) reports_.emplace_back(one.ticket, kTooLarge);
    return;
  }
  if (reports && world_.Chance(fail_percent)) return reports_.emplace_back(one.ticket, kNotDelivered), void();
  world_.snapshots.push_back({one.user,
                              one.bytes.empty() ? std::optional<std::string>() : std::optional(one.bytes),
                              world_.clock.WallNow().value});
  if (reports) reports_.emplace_back(one.ticket, static_cast<int64_t>(world_.snapshots.size()) - 1);
}

// A record whose report is lost is sent again.
void RecallProcess::ArriveUpdate(bool reports, int fail_percent) {
  const auto [ticket, bytes] = std::move(updates_.front());
  updates_.pop_front();
  LookForGap(bytes);
  for (std::string& part : PartsOf(bytes)) world_.updates.push_back(std::move(part));
  const auto offset = static_cast<int64_t>(world_.updates.size()) - 1;
  if (reports) update_reports_.push_back({0, ticket, world_.Chance(fail_percent) ? -1 : offset});
}

// An update as it came, or as if its first event needed several records: the others hold another item of the
// user.
std::vector<std::string> RecallProcess::PartsOf(const std::string& bytes) {
  const auto update = client::Update::Parse(bytes);
  const int64_t from = update->from(), to = update->to();
  if (from == to || from >= world_.log_end() || update->part() > 0 || world_.Chance(60)) return {bytes};
  const RecallTopics::Event& event = world_.log[static_cast<size_t>(from)];
  const Fingerprint shown = FingerprintOf(event.item);
  int first = 0;  // of the event's additions
  UpdateRows rest;
  update->ForEachSection([&](const client::UpdateSection& section) {
    section.ForEach([&](const client::UpdateEntry& entry) {
      for (uint32_t i = 0; i < entry.count; ++i) {
        const Fingerprint item{static_cast<uint32_t>(entry[i])};
        if (entry.user == UpdateUserOf(event.user) && item == shown) {
          ++first;
        } else {
          rest.Add(section.mask(), AdditionKind::kSeen, section.until_s(), entry.user, {&item, 1});
        }
      }
    });
  });
  if (first != 1 || event.kind != RecallTopics::Kind::kExposed) return {bytes};
  const size_t count = 2 + world_.Below(3), place = world_.Below(count);
  std::vector<std::string> parts(count);
  for (size_t part = 0; part < count; ++part) {
    const bool is_last = part + 1 == count;
    UpdateRows rows;
    if (is_last) std::swap(rows, rest);
    const Fingerprint item = part == place ? shown : FingerprintOf("another");
    rows.Add(1, AdditionKind::kSeen, 0, UpdateUserOf(event.user), {&item, 1});
    const TimeMs as_of{is_last ? update->as_of_ms() : -1};
    EncodeUpdate({0, update->generation(), from, is_last ? to : from, as_of, static_cast<uint8_t>(part)},
                 std::vector<std::string>{world_.name}, rows, parts[part]);
  }
  return parts;
}

// Oracle: what a daemon didn't send, it reported as a gap.
void RecallProcess::LookForGap(const std::string& record) {
  NoteGaps();
  const auto update = client::Update::Parse(record);
  if (!update) return world_.Fails("a malformed update: " + update.error().message);
  const auto [covered, is_first] = world_.covered.try_emplace(update->generation(), update->to());
  if (!is_first && update->from() > std::max(covered->second, world_.gap_allowed_to))
    world_.Fails("nobody reported the gap of updates from " + std::to_string(covered->second) + " to " +
                 std::to_string(update->from()));
  covered->second = std::max(covered->second, update->to());
}

void RecallProcess::NoteGaps() {
  if (!is_open()) return;
  const uint64_t gaps = flow().updates->GetFigures().gaps;
  if (gaps > std::exchange(gaps_seen_, gaps)) world_.gap_allowed_to = world_.log_end();
}

}  // namespace seen::sim
