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
      "scan",     "dead letters", "time",   "read",         "retention",   "level 0", "republish"};
  return kNames[static_cast<size_t>(step)];
}

World::World(uint64_t seed, Disk& disk, WorldShape shape)
    : random_(seed), disk_(disk), shape_(shape), snapshots_(random_), dead_letters_(random_) {
  ChooseFilters(seed);
  // A few busy users, or many of whom most are quiet after a change: each finds other mistakes.
  const size_t user_count = 1 + random_() % (seed % 2 == 0 ? 12 : 150);
  snapshots_.late_percent = seed % 5 == 0 ? 90 : 33;
  for (size_t i = 0; i < user_count; ++i) users_.push_back("u" + std::to_string(i));
  Open();
}

// Each rule in some of the worlds, beside others and alone.
void World::ChooseFilters(uint64_t seed) {
  FilterPolicy month{0, "month", 30, 10'000, {}, SnapshotPolicy{}};
  FilterPolicy days{1,  "days",
                    2,  10'000,
                    {}, SnapshotPolicy{{SnapshotFormat::kAuto, 0.05}, std::chrono::milliseconds(200)}};
  FilterPolicy quiet{2, "quiet", 7, 12, {}, std::nullopt};
  filters_ = {month, days, quiet};
  rules_.resize(filters_.size());
  const bool plain = seed % 7 == 0;  // exposures alone, all of them in all filters
  if (!plain) {
    if (seed % 3 > 0) rules_[0].scenes = {"home", "video_*"};
    if (seed % 2 > 0) rules_[1].scenes = {"home"};
    rules_[0].served_ttl_s = 1'800;
    rules_[1].served_ttl_s = seed % 5 == 0 ? 4 : 60;
    if (seed % 4 > 1) rules_[0].kinds["clicked"] = 40;
    if (seed % 4 > 0) rules_[1].kinds["clicked"] = 1;
    if (seed % 4 == 1) rules_[0].by_creation = true;
    if (seed % 5 < 2) rules_[1].exposures_min = 2;
    if (seed % 6 < 2) rules_[1].cooldown_days = 1;
    if (seed % 5 > 2) rules_[2].exposures_min = 3;
    if (seed % 3 == 1) rules_[2].by_creation = rules_[2].exposures_min == 1;
  }
  EventFormat format;
  if (!plain) {
    format.wanted.kind = true;
    format.wanted.item_created_at = true;
    format.declared_kinds = {{"clicked", static_cast<EventKind>(kDeclaredKindFirst)}};
  }
  format.filters.resize(filters_.size());
  for (size_t i = 0; i < filters_.size(); ++i) {
    FilterPolicy& filter = filters_[i];
    Rules& rules = rules_[i];
    rules.window_days = filter.window_days;
    rules.items_max = filter.items_max;
    format.filters[i].scenes = rules.scenes;
    filter.limits.served_width_s = static_cast<uint32_t>(std::max(1, rules.served_ttl_s / 6));
    if (rules.served_ttl_s == 0) rules.served_ttl_s = 6 * static_cast<int32_t>(filter.limits.served_width_s);
    filter.limits.repeated = rules.exposures_min > 1;
    filter.exposures_min = rules.exposures_min;
    filter.cooldown_days = rules.cooldown_days;
    if (rules.by_creation) filter.window_by = WindowBy::kItemCreatedAt;
    for (const auto& [name, window_days] : rules.kinds) {
      filter.kinds.push_back({name, kDeclaredKindFirst, window_days});
    }
  }
  kinds_ =
      plain ? std::vector<std::string>{} : std::vector<std::string>{"removed", "erased", "served", "clicked"};
  plan_ = *EventPlan::Make(format);
}

World::~World() = default;

void World::Open() {
  store_ = disk_.Open();
  const auto position = store_->ReadPosition();
  Check(position.has_value(), "the position can't be read");
  PartitionOptions options;
  options.filters = filters_;
  options.plan = plan_;
  options.kinds.fill(kDeclaredKindFirst);
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

LoggedEvent World::RandomEvent(TimeMs timestamp) {
  const auto below = [&](uint64_t bound) { return static_cast<int64_t>(random_() % bound); };
  LoggedEvent event;
  event.record_ms = timestamp.value;
  int64_t age_ms = below(2000);
  const int64_t dice = below(100);
  if (dice < 20) age_ms += below(4) * kMsPerDay;  // late by days
  if (dice < 4) age_ms += below(40) * kMsPerDay;  // perhaps too late
  event.at_ms = timestamp.value - age_ms;
  constexpr std::array<std::string_view, 5> kScenes = {"", "home", "video_1", "video_2", "search"};
  event.scene = kScenes[random_() % kScenes.size()];
  const auto choose = [&](int64_t chosen, const char* kind) {
    if (std::find(kinds_.begin(), kinds_.end(), kind) != kinds_.end() && chosen < 0) event.kind = kind;
  };
  const int64_t kind = below(100);
  choose(kind - 30, "served");
  choose(kind - 18, "clicked");
  choose(kind - 9, "removed");
  choose(kind - 1, "erased");
  if (event.kind == "erased") return event;
  std::optional<int64_t> created_ms;
  if (below(3) > 0) created_ms = event.at_ms - below(45 * kMsPerDay) + (below(9) == 0 ? 5 * kMsPerDay : 0);
  for (int64_t items = 1 + below(3); items > 0; --items) {
    event.items.push_back({"n" + std::to_string(below(60)), created_ms});
  }
  return event;
}

World::LogRecord World::RandomRecord() {
  LogRecord record;
  record.timestamp = {clock_.WallNow().value - static_cast<int64_t>(random_() % 500)};
  record.user = users_[random_() % users_.size()];
  record.key = record.user;
  const uint64_t dice = random_() % 100;
  record.bad = dice < 6;
  if (dice < 4) {
    record.value = RandomBadValue();
    return record;
  }
  if (dice < 5) {
    record.null = true;
    return record;
  }
  record.event = RandomEvent(record.timestamp);
  if (record.bad) record.event.at_ms = record.timestamp.value + 1000 * 1000;  // from the future
  record.value = R"({"user_id":")" + record.user + R"(","exposed_at":)" + std::to_string(record.event.at_ms);
  if (record.event.kind != "exposed") record.value += R"(,"kind":")" + record.event.kind + "\"";
  if (!record.event.scene.empty()) record.value += R"(,"scene":")" + record.event.scene + "\"";
  std::string list;
  for (const LoggedItem& item : record.event.items) {
    if (list.empty() && item.created_ms) {
      record.value += R"(,"item_created_at":)" + std::to_string(*item.created_ms);
    }
    list += (list.empty() ? "\"" : ",\"") + item.id + "\"";
  }
  if (!list.empty()) record.value += R"(,"items":[)" + list + "]";
  record.value += "}";
  return record;
}

void World::GrowLog() {
  const size_t count = 1 + random_() % (random_() % 10 == 0 ? 120 : 8);
  for (size_t i = 0; i < count; ++i) log_.push_back(RandomRecord());
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
  flow_->MarksScanned(*marks, limit);
}

void World::Republish() {
  if (flow_->LagMessages() > 40) return;
  if (const Status done = flow_->Republish(); !done) problem_ = "republish: " + done.error().message;
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
    case Step::kRepublish:
      return Republish();
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
    Republish();
    Publish();
    Acknowledge();
    Scan();
    clock_.Advance(250);
    // What was served ends, and days may: time has to be left for that to be published.
    if (round == 200) clock_.Advance(3'600 * 1000);
    if (round > 300 && DayOf(clock_.WallNow()) != DayOf({clock_.WallNow().value - 250})) round = 300;
  }
  if (flow_->publish().Outstanding() != 0) problem_ = "snapshots outstanding at rest";
  if (flow_->next_offset() != static_cast<int64_t>(log_.size())) problem_ = "records unread at rest";
  const auto marks = store_->ScanMarks(std::nullopt, 1000);
  if (!marks || !marks->empty()) problem_ = "marks in the store at rest";
}

}  // namespace seen::sim
