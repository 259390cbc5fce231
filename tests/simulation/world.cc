#include "simulation/world.h"

#include <algorithm>

#include "base/check.h"
#include "filter/snapshot.h"

namespace seen::sim {
namespace {
constexpr uint64_t kTag = 7ull << 32;
}

std::string_view StepName(Step step) {
  constexpr std::array<std::string_view, static_cast<size_t>(Step::kCount)> kNames = {
      "grow log", "deliver",      "freeze", "write frozen", "store fault", "publish", "acknowledge",
      "scan",     "dead letters", "time",   "read",         "retention",   "level 0"};
  return kNames[static_cast<size_t>(step)];
}

World::World(uint64_t seed, Disk& disk, WorldShape shape)
    : random_(seed), disk_(disk), shape_(shape), snapshots_(random_), dead_letters_(random_) {
  FilterPolicy month{0, "month", 30, 10'000, {}, SnapshotPolicy{0.01, std::chrono::milliseconds(1000)}};
  FilterPolicy days{1, "days", 2, 10'000, {}, SnapshotPolicy{0.05, std::chrono::milliseconds(200)}};
  FilterPolicy quiet{2, "quiet", 7, 10'000, {}, std::nullopt};
  filters_ = {month, days, quiet};
  // A few busy users, or many of whom most are quiet after a change: each finds other mistakes.
  const size_t user_count = 1 + random_() % (seed % 2 == 0 ? 12 : 150);
  snapshots_.late_percent = seed % 5 == 0 ? 90 : 33;
  for (size_t i = 0; i < user_count; ++i) users_.push_back("u" + std::to_string(i));
  Open();
}

World::~World() = default;

void World::Open() {
  store_ = disk_.Open();
  const auto position = store_->ReadPosition();
  Check(position.has_value(), "the position can't be read");
  PartitionOptions options;
  options.filters = filters_;
  options.tail_bytes_max = shape_.tail_bytes_max;
  options.checkpoint_interval = std::chrono::milliseconds(2000);
  options.behind_lag_messages = 40;
  options.publish_entries_max = 600;
  const auto high = static_cast<int64_t>(log_.size());
  flow_ = std::make_unique<PartitionFlow>(options, *position, low_, high, *store_, dead_letters_, reporter_,
                                          clock_);
  if (!*position) {  // nothing was ever checkpointed: it begins with what there is
    for (int64_t offset = 0; offset < low_; ++offset) lost_.insert(offset);
  }
  if (flow_->next_offset() < low_) {
    // Also what was read once but not checkpointed.
    for (int64_t offset = flow_->next_offset(); offset < low_; ++offset) lost_.insert(offset);
    flow_->SkipLost(low_);
  }
  fetch_ = flow_->ReadFrom(low_);
}

void World::Crash() {
  flow_.reset();
  store_.reset();
  snapshots_.Crash();
  dead_letters_.Crash();
  disk_.Crash();
  disk_.Inject(StoreFault::kNone);
  Open();
}

std::string World::RandomBadValue() {
  constexpr std::array<std::string_view, 6> kBad = {
      "",         "{",
      "[1,2]",    R"({"user_id":"u1"})",
      "\xff\xfe", R"({"user_id":"u1","item_id":1.5,"exposed_at":1})"};
  return std::string(kBad[random_() % kBad.size()]);
}

void World::GrowLog() {
  const size_t count = 1 + random_() % (random_() % 10 == 0 ? 120 : 8);
  for (size_t i = 0; i < count; ++i) {
    LogRecord record;
    record.timestamp = {clock_.WallNow().value - static_cast<int64_t>(random_() % 500)};
    record.user = users_[random_() % users_.size()];
    record.key = record.user;
    const uint64_t dice = random_() % 100;
    if (dice < 4) {
      record.bad = true;
      record.value = RandomBadValue();
    } else if (dice < 5) {
      record.bad = record.null = true;
    } else {
      int64_t age_ms = static_cast<int64_t>(random_() % 2000);
      if (dice < 25) age_ms += static_cast<int64_t>(random_() % 4) * kMsPerDay;  // late by days
      if (dice < 8) age_ms += static_cast<int64_t>(random_() % 40) * kMsPerDay;  // perhaps too late
      if (dice == 99) age_ms = -1000 * 1000;                                     // from the future
      record.exposed_at = {record.timestamp.value - age_ms};
      record.bad = dice == 99;
      const size_t items = 1 + random_() % 3;
      std::string list;
      for (size_t k = 0; k < items; ++k) {
        record.items.push_back("n" + std::to_string(random_() % 60));
        list += (k ? ",\"" : "\"") + record.items.back() + "\"";
      }
      record.value = R"({"user_id":")" + record.user + R"(","exposed_at":)" +
                     std::to_string(record.exposed_at.value) + R"(,"items":[)" + list + "]}";
    }
    log_.push_back(std::move(record));
  }
  flow_->SetWatermarks(low_, static_cast<int64_t>(log_.size()));
}

void World::Deliver(size_t records_max) {
  if (fetch_ < low_) {  // retention overtook the reader
    for (int64_t offset = flow_->next_offset(); offset < low_; ++offset) lost_.insert(offset);
    flow_->SkipLost(low_);
    fetch_ = std::max(low_, flow_->next_offset());
  }
  std::vector<Record> batch;
  for (auto at = static_cast<size_t>(fetch_); at < log_.size() && batch.size() < records_max; ++at) {
    const LogRecord& record = log_[at];
    batch.push_back({static_cast<int64_t>(at), record.timestamp, record.key, record.value, record.null});
  }
  const auto taken = flow_->Apply(batch);
  if (!taken) {
    problem_ = "Apply: " + taken.error().message;
    return;
  }
  fetch_ += static_cast<int64_t>(*taken);
  if (fetch_ == static_cast<int64_t>(log_.size())) flow_->ReachedEnd(fetch_);
  read_max_ = std::max(read_max_, flow_->next_offset());
}

void World::WriteFrozen() {
  if (flow_->HasFrozen() && !flow_->AwaitsDeadLetters()) (void)flow_->WriteFrozen();
}

void World::Publish() {
  const auto render = [&](std::span<PublishFlow::Rendering> group) { return flow_->RenderUsers(group); };
  const auto stepped = flow_->publish().Step(clock_.Now(), 1 + random_() % 30, render, snapshots_, kTag);
  if (!stepped.status) problem_ = "render: " + stepped.status.error().message;
  flow_->publish().Report();
}

void World::Acknowledge() {
  snapshots_.PollAcknowledgements([&](uint64_t ticket, bool delivered) {
    const PublishFlow::Acknowledgement one{static_cast<uint32_t>(ticket), delivered};
    flow_->publish().Acknowledged({&one, 1}, clock_.Now(), clock_.WallNow());
  });
}

void World::Scan() {
  const auto request = flow_->publish().WantsScan();
  if (!request.wanted || flow_->LagMessages() > 40) return;
  const size_t limit = std::min<size_t>(request.limit, 1 + random_() % 5);
  const auto marks = store_->ScanMarks(request.after, limit);
  Check(marks.has_value(), "scan failed");
  flow_->publish().Scanned(*marks, limit, clock_.Now());
}

void World::Do(Step step) {
  switch (step) {
    case Step::kGrowLog:
      return GrowLog();
    case Step::kDeliver:
      return Deliver(1 + random_() % 30);
    case Step::kFreeze:
      if (flow_->CheckpointDue()) flow_->Freeze();
      return;
    case Step::kWriteFrozen:
      return WriteFrozen();
    case Step::kStoreFault:
      return disk_.Inject(static_cast<StoreFault>(random_() % 5));
    case Step::kPublish:
      return Publish();
    case Step::kAcknowledge:
      return Acknowledge();
    case Step::kScan:
      return Scan();
    case Step::kDeadLetters:
      return dead_letters_.DeliverSome();
    case Step::kTime:
      // Mostly moments, now and then a night.
      return clock_.Advance(random_() % 40 == 0 ? kMsPerDay / 2 : static_cast<int64_t>(random_() % 1500));
    case Step::kRead: {
      const std::string wrong = CheckUser(users_[random_() % users_.size()]);
      if (!wrong.empty()) problem_ = wrong;
      return;
    }
    case Step::kRetention:
      if (shape_.retention && random_() % 8 == 0) {
        low_ = std::max(low_, static_cast<int64_t>(log_.size()) - static_cast<int64_t>(random_() % 100));
        flow_->SetWatermarks(low_, static_cast<int64_t>(log_.size()));
      }
      return;
    case Step::kLevel0:
      return disk_.SetLevel0Files(random_() % 4 == 0 ? 13 : 1);
    case Step::kCount:
      break;
  }
}

std::string World::Run() {
  for (int i = 0; i < shape_.steps && problem_.empty(); ++i) {
    const Step step = static_cast<Step>(random_() % static_cast<size_t>(Step::kCount));
    Do(step);
    if (disk_.PowerIsGoing() && (step == Step::kWriteFrozen || !problem_.empty())) {
      problem_.clear();
      ++crashes_after_[step];
      Crash();
    }
    if (problem_.empty() && static_cast<int>(random_() % 100) < shape_.crash_percent) {
      ++crashes_after_[step];
      Crash();
    }
  }
  if (!problem_.empty()) return problem_;
  ToRest();
  return problem_.empty() ? CheckAtRest() : problem_;
}

void World::ToRest() {
  if (disk_.PowerIsGoing()) Crash();
  disk_.Inject(StoreFault::kNone);
  disk_.SetLevel0Files(1);
  snapshots_.deliver_all = true;
  for (int round = 0; round < 400 && problem_.empty(); ++round) {
    Deliver(1000);
    dead_letters_.DeliverAll();
    if (flow_->CheckpointDue()) flow_->Freeze();
    WriteFrozen();
    Publish();
    Acknowledge();
    Scan();
    clock_.Advance(250);
  }
  if (flow_->publish().Outstanding() != 0) problem_ = "snapshots outstanding at rest";
  if (flow_->next_offset() != static_cast<int64_t>(log_.size())) problem_ = "records unread at rest";
  const auto marks = store_->ScanMarks(std::nullopt, 1000);
  if (!marks || !marks->empty()) problem_ = "marks in the store at rest";
}

World::Seen World::OracleOf(const std::string& user, size_t filter, int64_t end) const {
  Seen seen;
  for (int64_t offset = 0; offset < end; ++offset) {
    const LogRecord& record = log_[static_cast<size_t>(offset)];
    if (record.bad || record.user != user || lost_.contains(offset)) continue;
    const int32_t day = DayOf(record.exposed_at).since_epoch;
    if (day < DayOf(record.timestamp).since_epoch - filters_[filter].window_days) continue;
    for (const std::string& item : record.items) {
      const auto [at, added] = seen.try_emplace(FingerprintOf(item).value, day);
      if (!added) at->second = std::max(at->second, day);
    }
  }
  return seen;
}

std::vector<Fingerprint> World::Expected(const Seen& seen, Day horizon) const {
  std::vector<Fingerprint> expected;
  for (const auto& [fingerprint, day] : seen) {
    if (day >= horizon.since_epoch) expected.push_back({fingerprint});
  }
  return expected;
}

std::string World::CheckUser(const std::string& user) {
  for (size_t filter = 0; filter < filters_.size(); ++filter) {
    const auto delta = flow_->ReadUser(filter, UserKeyOf(user));
    if (!delta) return "read: " + delta.error().message;
    const Day horizon = filters_[filter].AnswerHorizon(clock_.WallNow());
    const auto actual = SeenFingerprints(*delta, horizon, 10'000);
    const auto least = Expected(OracleOf(user, filter, flow_->next_offset()), horizon);
    const auto most = Expected(OracleOf(user, filter, read_max_), horizon);
    if (!std::includes(actual.begin(), actual.end(), least.begin(), least.end())) {
      return "user " + user + " filter " + filters_[filter].name + ": a seen item is missing";
    }
    // Lost records that had been read before a crash may still be in what survived.
    if (lost_.empty() && !std::includes(most.begin(), most.end(), actual.begin(), actual.end())) {
      return "user " + user + " filter " + filters_[filter].name + ": an item too many";
    }
  }
  return {};
}

std::string World::CheckAtRest() {
  for (const std::string& user : users_) {
    if (std::string wrong = CheckUser(user); !wrong.empty()) return "at rest: " + wrong;
    for (size_t filter = 0; filter < filters_.size(); ++filter) {
      const auto delta = flow_->ReadUser(filter, UserKeyOf(user));
      const Day horizon = filters_[filter].AnswerHorizon(clock_.WallNow());
      const auto all = Expected(OracleOf(user, filter, static_cast<int64_t>(log_.size())), horizon);
      if (lost_.empty() && SeenFingerprints(*delta, horizon, 10'000) != all)
        return "at rest: not the oracle's set: " + user;
      if (!filters_[filter].snapshot) continue;
      const auto published = snapshots_.topic.find({static_cast<FilterIndex>(filter), user});
      if (published == snapshots_.topic.end()) {
        // Where nothing counts there is a tombstone, or nothing.
        if (!SeenFingerprints(*delta, horizon, 10'000).empty()) return "at rest: never published: " + user;
        continue;
      }
      const auto view = SnapshotView::Parse(published->second);
      if (!view) return "at rest: " + view.error().message;
      // Time alone may have moved the horizon since; the set it was rendered from must be the final one.
      const auto wanted = SeenFingerprints(*delta, view->meta().horizon, 10'000);
      // (Where retention took records that were read once, published and lost in a crash, it may hold more.)
      if (lost_.empty() && DayOf(clock_.WallNow()) - filters_[filter].window_days == view->meta().horizon &&
          RenderSnapshot(view->meta(), wanted) != published->second) {
        return "at rest: published snapshot of " + user + " isn't the one of its state";
      }
      for (const Fingerprint fingerprint : all) {
        if (!view->MightContain(fingerprint)) return "at rest: false negative in the snapshot of " + user;
      }
    }
  }
  for (size_t offset = 0; offset < log_.size(); ++offset) {
    const auto at = static_cast<int64_t>(offset);
    if (log_[offset].bad && !lost_.contains(at) && !dead_letters_.topic.contains(at)) {
      return "at rest: no dead letter for offset " + std::to_string(at);
    }
    if (!log_[offset].bad && dead_letters_.topic.contains(at))
      return "at rest: a good event was dead-lettered";
  }
  return {};
}

}  // namespace seen::sim
