#include "simulation/world.h"

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <thread>

#include "base/result.h"
#include "decode/event_decoder.h"
#include "filter/snapshot.h"
#include "flow/change_port.h"

namespace seen::sim {
std::string_view StepName(Step step) {
  constexpr std::array<std::string_view, static_cast<size_t>(Step::kCount)> kNames = {
      "grow log", "deliver",   "freeze",  "write frozen", "store fault", "publish", "dead letters", "time",
      "read",     "retention", "level 0", "reassign",     "wrong clock", "fill",    "erase"};
  return kNames[static_cast<size_t>(step)];
}

World::World(uint64_t seed, std::span<Disk* const> disks, WorldShape shape)
    : random_(seed),
      shape_(shape),
      snapshots_(random_),
      fate_{random_, shape.read_fail_percent, shape.power_cut_permille} {
  ChooseFilters(seed);
  for (Disk* const disk : disks) {
    lanes_.push_back(std::make_unique<Lane>(Lane{static_cast<int32_t>(lanes_.size()),
                                                 disk,
                                                 {},
                                                 {},
                                                 0,
                                                 0,
                                                 {},
                                                 FakeDeadLetters(random_),
                                                 1,
                                                 {},
                                                 0,
                                                 {},
                                                 {}}));
  }
  crowded_ = seed % 8 == 5;
  ChooseUsers(seed);
  late_filter_ = FilterIndex(seed % 2);
  for (const auto& lane : lanes_) lane->late_is_filled = !shape.late_filter;
  snapshots_.late_percent = seed % 5 == 0 ? 90 : 33;
  snapshots_.before_call = [this] { fate_.MayCutPower(); };
  publishing_.snapshots_a_pass = 1 + random_() % 30;
  publishing_.marks_a_step = (1 + random_() % 5) * (crowded_ ? 50 : 1);
  publishing_.watermarks = BeatSender{"group", "instance", ""};
  for (const auto& lane : lanes_) Open(*lane);
  OpenFillQueue();
  publisher_ = std::make_unique<Publisher>(opened_, snapshots_, reporter_, clock_, publishing_);
}

// A few busy users, or many users who are mostly quiet after a change. Each choice finds different mistakes.
void World::ChooseUsers(uint64_t seed) {
  const size_t count =
      crowded_ ? 300 * lanes_.size() : lanes_.size() + random_() % (seed % 2 == 0 ? 12 : 150);
  for (size_t i = 0; i < count; ++i) {
    std::string user = "u" + std::to_string(i);
    const uint32_t hash = PartitionHash(Partitioner::kMurmur2, user);
    lanes_[hash % lanes_.size()]->users.push_back(std::move(user));
  }
  for (const auto& lane : lanes_) {  // a partition without users gets one, wherever that user's events belong
    if (lane->users.empty()) lane->users.push_back("lonely" + std::to_string(lane->number));
  }
}

// Each rule holds in some of the worlds, together with others and alone.
void World::ChooseFilters(uint64_t seed) {
  FilterPolicy month{0, "month", 30, 10'000, {}, SnapshotPolicy{}};
  FilterPolicy days{1,  "days",
                    2,  10'000,
                    {}, SnapshotPolicy{{SnapshotFormat::kAuto, 0.05}, std::chrono::milliseconds(200)}};
  FilterPolicy quiet{2, "quiet", 7, 12, {}, std::nullopt};
  filters_ = {month, days, quiet};
  rules_.resize(filters_.size());
  const bool plain = seed % 7 == 0;  // only exposures, all of them in all filters
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

void World::Open(Lane& lane) {
  auto open = std::make_shared<OpenPartition>();
  open->partition = lane.number;
  open->store = std::make_unique<FatefulStore>(lane.disk->Open(), fate_, lane.level0_files);
  const auto position = open->store->ReadPosition();
  Check(position.has_value(), "the position can't be read");
  PartitionOptions options;
  options.partition = lane.number;
  options.partition_count = static_cast<int32_t>(lanes_.size());
  options.filters = filters_;
  if (shape_.late_filter && !late_is_added_)
    options.covered = static_cast<FilterMask>(options.covered & ~(1U << late_filter_));
  // In these worlds, records that retention deleted are gone. The worlds of simulation/incomplete_test.cc
  // know what was published.
  options.publish_incomplete = true;
  options.retired_topics = {{kRetiredTopicLast, "before"}};
  options.plan = plan_;
  options.kinds.fill(kDeclaredKindFirst);
  options.tail_bytes_max = shape_.tail_bytes_max;
  options.checkpoint_interval = std::chrono::milliseconds(2000);
  options.behind_lag_messages = crowded_ ? 1000 : 40;
  options.publish_entries_max = crowded_ ? 300 : 600;
  open->flow = std::make_unique<PartitionFlow>(options, *position, lane.low, lane.end(), *open->store,
                                               lane.dead_letters, reporter_, clock_);
  lane.open = open;
  lane.filling.clear();
  if (!*position) {  // no checkpoint yet: the flow begins with the log's first record
    for (int64_t offset = 0; offset < lane.low; ++offset) lane.lost.insert(offset);
  }
  if (lane.flow().state.next_offset() < lane.low) {
    // Also the records that were read but not checkpointed.
    for (int64_t offset = lane.flow().state.next_offset(); offset < lane.low; ++offset)
      lane.lost.insert(offset);
    lane.flow().intake.SkipLost(lane.low);
  }
  lane.fetch = lane.flow().intake.ReadFrom(lane.low);
  opened_.Add(std::move(open));
}

void World::Crash() {
  publisher_.reset();
  snapshots_.Crash();
  for (const auto& lane : lanes_) {
    opened_.Take(lane->number);
    lane->open.reset();
    lane->dead_letters.Crash();
    lane->disk->Crash();
    lane->disk->Inject(StoreFault::kNone);
    Open(*lane);
  }
  publisher_ = std::make_unique<Publisher>(opened_, snapshots_, reporter_, clock_, publishing_);
  OpenFillQueue();
}

// Revokes the partition and assigns it again, with snapshots under way.
void World::Reassign(Lane& lane) {
  if (random_() % 2 == 0 && !lane.flow().state.HasFrozen() && lane.flow().intake.HasChanges()) {
    lane.flow().intake.Freeze();
    (void)lane.flow().checkpoint.Write();
  }
  if (lane.disk->PowerIsGoing()) return;
  opened_.Take(lane.number);
  lane.open.reset();
  lane.dead_letters.Forget(lane.number);
  Open(lane);
}

bool World::PowerIsGoing() const {
  return std::any_of(lanes_.begin(), lanes_.end(),
                     [](const auto& lane) { return lane->disk->PowerIsGoing(); });
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

World::LogRecord World::RandomRecord(const Lane& lane) {
  LogRecord record;
  // The events' own times are right. So are the records' timestamps, with few exceptions.
  record.timestamp = {clock_.WallNow().value - clock_error_ms_ - static_cast<int64_t>(random_() % 500)};
  const TimeMs now = record.timestamp;
  const bool is_ahead = static_cast<int>(random_() % 1000) < shape_.ahead_permille;
  if (is_ahead) {
    record.timestamp.value += static_cast<int64_t>(1 + random_() % 60) * 365 * kMsPerDay;
  }
  record.user = lane.users[random_() % lane.users.size()];
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
  record.event = RandomEvent(now);
  // A timestamp of years ahead is a false claim, so the event's own time decides.
  record.event.record_ms = is_ahead ? record.event.at_ms : record.timestamp.value;
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

void World::GrowLog(Lane& lane) {
  const size_t count = 1 + random_() % (random_() % 10 == 0 || crowded_ ? 120 : 8);
  for (size_t i = 0; i < count; ++i) lane.log.push_back(RandomRecord(lane));
  lane.flow().state.SetWatermarks(lane.low, lane.end());
}

void World::Deliver(Lane& lane, size_t records_max) {
  PartitionFlow& flow = lane.flow();
  if (lane.fetch < lane.low) {  // retention overtook the reader
    for (int64_t offset = flow.state.next_offset(); offset < lane.low; ++offset) lane.lost.insert(offset);
    flow.intake.SkipLost(lane.low);
    lane.fetch = std::max(lane.low, flow.state.next_offset());
  }
  std::vector<Record> batch;
  for (int64_t at = lane.fetch; at < lane.end() && batch.size() < records_max; ++at) {
    const LogRecord& record = lane.log[static_cast<size_t>(at)];
    batch.push_back({at, record.timestamp, record.key, record.value, record.null});
  }
  const auto taken = flow.intake.Apply(batch);
  if (!taken) {
    problem_ = "Apply: " + taken.error().message;
    return;
  }
  lane.fetch += static_cast<int64_t>(*taken);
  if (lane.fetch == lane.end()) flow.intake.ReachedEnd(lane.fetch);
  lane.read_max = std::max(lane.read_max, flow.state.next_offset());
}

// Reads the records that the log still has below the flow's position, through the flow of a fill.
void World::BeginFill(Lane& lane, FilterIndex filter) {
  const auto folder = std::filesystem::temp_directory_path() / ("seen-fill-" + std::to_string(getpid()));
  std::filesystem::create_directories(folder);
  HistoryFill::Options options{filter, lane.low, folder.string(), 1 << 16, 200};
  HistoryFill fill(lane.flow().state.options(), options, clock_);
  const int64_t end = lane.flow().state.next_offset();
  std::vector<Record> batch;
  for (int64_t at = lane.low; at < end && problem_.empty(); ++at) {
    const LogRecord& record = lane.log[static_cast<size_t>(at)];
    batch.push_back({at, record.timestamp, record.key, record.value, record.null});
    if (batch.size() < 64 && at + 1 < end) continue;
    if (const Status applied = fill.Apply(batch); !applied) problem_ = "fill: " + applied.error().message;
    batch.clear();
  }
  const Status paged = fill.ForEachPage([&](const FillPage& page) {
    lane.filling.push_back(page);
    return Status();
  });
  if (!paged) problem_ = "fill: " + paged.error().message;
  lane.filling_filter = filter;
}

// False: a write failed, and the fill begins once more.
bool World::WritePages(Lane& lane, size_t pages) {
  for (; pages > 0 && !lane.filling.empty(); --pages) {
    if (!lane.flow().fill.Write(lane.filling.front())) {
      lane.filling.clear();
      return false;
    }
    ++fill_pages_;
    lane.filling.pop_front();
  }
  if (lane.filling.empty()) ++fills_;
  return true;
}

void World::OpenFillQueue() {
  fill_queue_ = std::make_unique<FillQueue>(
      fill_file_,
      [this](const std::vector<FillRequest>& requests) -> Status {
        if (random_() % 8 == 0) return Fail(Code::kNoSpace, "the disk is full");
        fill_file_ = requests;
        return {};
      },
      clock_);
}

// The queue decides which partition gets the added filter's history next. After a crash or a failure the fill
// of a partition begins once more.
void World::FillLate() {
  if (fill_queue_->All().empty()) {
    std::set<int32_t> all;
    for (const auto& lane : lanes_) all.insert(lane->number);
    if (!fill_queue_->Ask(filters_[late_filter_].name, "late", all)) return;
  }
  const auto task = fill_queue_->Next();
  if (!task) return;
  Lane& lane = *lanes_[static_cast<size_t>(task->partition)];
  if (lane.filling.empty() || lane.filling_filter != late_filter_) {
    BeginFill(lane, late_filter_);
  } else if (!WritePages(lane, 1 + random_() % 8)) {
    return fill_queue_->Failed(*task, {Code::kUnavailable, "a write"});
  }
  if (!lane.filling.empty()) return;
  fill_queue_->Done(*task);
  lane.late_is_filled = true;
}

void World::Fill(Lane& lane) {
  if (shape_.late_filter && !late_is_added_) {
    if (random_() % 8 > 0) return;
    late_is_added_ = true;
    for (const auto& each : lanes_) Reassign(*each);
    return;
  }
  if (shape_.late_filter && random_() % 3 > 0) return FillLate();
  if (lane.filling.empty()) return BeginFill(lane, FilterIndex(random_() % filters_.size()));
  const FilterIndex filter = lane.filling_filter;
  if (WritePages(lane, 1 + random_() % 8) && lane.filling.empty())
    lane.late_is_filled = lane.late_is_filled || filter == late_filter_;
}

void World::WriteFrozen(Lane& lane) {
  if (lane.flow().state.HasFrozen() && !lane.flow().checkpoint.AwaitsDeadLetters())
    (void)lane.flow().checkpoint.Write();
}

// The power may be cut at any call that the publisher makes.
void World::Publish() {
  const uint64_t failed_before = fate_.reads_failed;
  fate_.armed = true;
  bool cut = false;
  try {
    publisher_->Step();
  } catch (const PowerCut&) {
    cut = true;
  }
  fate_.armed = false;
  for (const auto& lane : lanes_) {
    if (lane->open->stopped) problem_ = "stopped: " + lane->open->stop_reason();
  }
  if (!cut) return;
  // Nobody hears of a failure that the step had not reported yet.
  uint64_t reported = 0;
  for (const auto& [step, times] : reporter_.publish_failures) reported += times;
  fate_.reads_failed = std::max(failed_before, std::min(fate_.reads_failed, reported));
  ++crashes_after_[Step::kPublish];
  Crash();
}

void World::Do(Step step) {
  Lane& lane = AnyLane();
  switch (step) {
    case Step::kGrowLog:
      return GrowLog(lane);
    case Step::kDeliver:
      return Deliver(lane, 1 + random_() % (crowded_ ? 120 : 30));
    case Step::kFreeze:
      if (lane.flow().intake.CheckpointDue()) lane.flow().intake.Freeze();
      return;
    case Step::kWriteFrozen:
      return WriteFrozen(lane);
    case Step::kStoreFault:
      return lane.disk->Inject(static_cast<StoreFault>(random_() % 5));
    case Step::kPublish:
      return Publish();
    case Step::kDeadLetters:
      return lane.dead_letters.DeliverSome();
    case Step::kTime:
      // Mostly a moment, sometimes half a day.
      return clock_.Advance(random_() % 40 == 0 ? kMsPerDay / 2 : static_cast<int64_t>(random_() % 1500));
    case Step::kRead: {
      // By a clock that is behind, more items would count than the state keeps.
      if (clock_error_ms_ < 0) return;
      const std::string& user = lane.users[random_() % lane.users.size()];
      std::string wrong = CheckUser(lane, user);
      if (wrong.empty()) wrong = CheckAllIsPublished(lane, user);
      if (!wrong.empty()) problem_ = wrong;
      return;
    }
    case Step::kRetention:
      if (shape_.retention && random_() % 8 == 0) {
        lane.low = std::max(lane.low, lane.end() - static_cast<int64_t>(random_() % 100));
        lane.flow().state.SetWatermarks(lane.low, lane.end());
      }
      return;
    case Step::kLevel0:
      lane.level0_files = random_() % 4 == 0 ? 13 : 1;
      return;
    case Step::kReassign:
      if (random_() % 4 == 0) Reassign(lane);
      return;
    case Step::kWrongClock:
      if (!shape_.wrong_clocks || random_() % 4 > 0) return;
      if (clock_error_ms_ != 0) return SetClockError(0);
      return SetClockError((random_() % 3 == 0 ? -1 : 1) * (random_() % 3 == 0 ? 1 : 40) * kMsPerDay);
    case Step::kFill:
      return Fill(lane);
    case Step::kErase:
      return EraseByDaemon(lane);
    case Step::kCount:
      break;
  }
}

// A daemon whose clock is right or a day behind erases a user.
void World::EraseByDaemon(Lane& lane) {
  const bool may_be_written = !kinds_.empty() && clock_error_ms_ <= 0 && clock_error_ms_ >= -kMsPerDay;
  if (random_() % 4 > 0 || !may_be_written) return;
  const std::string& user = lane.users[random_() % lane.users.size()];
  const TimeMs wall = clock_.WallNow();
  const auto newest = lane.flow().reader.Newest(UserKeyOf(user), ChangeTimeMax(wall));
  if (!newest) {
    problem_ = "newest: " + newest.error().message;
    return;
  }
  const bool is_behind = lane.fetch < lane.end();
  const TimeMs at = ChangeTime(wall, newest->value_or(TimeMs{}));
  LogRecord record{at, user, EncodeOwnEvent({user, {}, "erased", at}), false, false, user, {}};
  record.event = {at.value, at.value, "erased", {}, {}};
  lane.log.push_back(std::move(record));
  lane.flow().state.SetWatermarks(lane.low, lane.end());
  if (is_behind) return;
  Deliver(lane, 1);
  if (problem_.empty() && lane.fetch == lane.end()) problem_ = CheckErased(lane, user);
}

void World::SetClockError(int64_t ms) {
  clock_.SetWall(clock_.WallNow().value - clock_error_ms_ + ms);
  clock_error_ms_ = ms;
  clock_was_wrong_ = true;
}

std::string World::Run() {
  const int steps = shape_.steps * static_cast<int>(1 + lanes_.size()) / 2;
  for (int i = 0; i < steps && problem_.empty(); ++i) {
    // The publisher's step is more frequent than any other.
    const auto kinds = static_cast<size_t>(Step::kCount);
    const Step step = static_cast<Step>(random_() % (kinds + 2));
    const Step done = step < Step::kCount ? step : Step::kPublish;
    Do(done);
    if (PowerIsGoing() &&
        (done == Step::kWriteFrozen || done == Step::kReassign || done == Step::kFill || !problem_.empty())) {
      problem_.clear();
      ++crashes_after_[done];
      Crash();
    }
    if (problem_.empty() && static_cast<int>(random_() % 100) < shape_.crash_percent) {
      ++crashes_after_[done];
      Crash();
    }
  }
  if (!problem_.empty()) return problem_;
  ToRest();
  for (const auto& lane : lanes_) {
    if (problem_.empty()) problem_ = CheckAtRest(*lane);
  }
  return problem_;
}

// A real store compacts in real time, not by the world's clock.
void World::AwaitCompaction(const Lane& lane) {
  const uint32_t most = lane.flow().state.options().level0_files_max;
  for (int i = 0; i < 10'000 && lane.open->store->Level0Files() > most; ++i)
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
}

void World::ToRest() {
  if (PowerIsGoing()) Crash();
  snapshots_.deliver_all = true;
  SetClockError(0);
  for (const auto& lane : lanes_) {
    lane->disk->Inject(StoreFault::kNone);
    lane->level0_files = 1;
  }
  late_is_added_ = true;
  for (const auto& lane : lanes_) {
    if (!IsUnknown(*lane, late_filter_)) continue;
    Reassign(*lane);  // now the configuration has the filter
    for (int i = 0; i < 3; ++i) Deliver(*lane, 1000);
    lane->dead_letters.DeliverAll();
    if (lane->flow().intake.HasChanges() && !lane->flow().state.HasFrozen()) lane->flow().intake.Freeze();
    WriteFrozen(*lane);
  }
  for (int round = 0; shape_.late_filter && round < 100'000; ++round) {
    FillLate();
    if (const auto all = fill_queue_->All(); !all.empty() && all[0].done()) break;
    if (!fill_queue_->Next()) clock_.Advance(1'000);  // one that failed is tried again after a while
  }
  for (const auto& lane : lanes_) {
    if (IsUnknown(*lane, late_filter_)) problem_ = "the added filter isn't filled";
  }
  for (int round = 0; round < 400 && problem_.empty(); ++round) {
    for (const auto& lane : lanes_) {
      AwaitCompaction(*lane);
      Deliver(*lane, 1000);
      lane->dead_letters.DeliverAll();
      if (lane->flow().intake.CheckpointDue()) lane->flow().intake.Freeze();
      WriteFrozen(*lane);
    }
    const int passes = crowded_ ? 80 : 8;
    for (int i = 0; i < passes && publisher_->Step() == std::chrono::milliseconds(0); ++i) continue;
    clock_.Advance(250);
    // Served items end, and a day may end. Leave time to publish these changes.
    if (round == 200) clock_.Advance(3'600 * 1000);
    if (round > 300 && DayOf(clock_.WallNow()) != DayOf({clock_.WallNow().value - 250})) round = 300;
  }
}

}  // namespace seen::sim
