#include "simulation/recall_world.h"

#include <algorithm>
#include <utility>

namespace seen::sim {
namespace {
using Kind = RecallTopics::Kind;

constexpr size_t kUsers = 4, kItems = 6, kReadersMax = 5;
constexpr int kSteps = 160, kCalmMost = 200, kCalmEnough = 10, kRests = 900;
constexpr int64_t kAheadMs = 300'000;

std::string ValueOf(const std::string& user, const std::string& item, const char* kind, int64_t at_ms) {
  std::string value = R"({"user_id":")" + user + R"(","kind":")" + kind + '"';
  if (!item.empty()) value += R"(,"item_id":")" + item + '"';
  return value + R"(,"exposed_at":)" + std::to_string(at_ms) + "}";
}
}  // namespace

RecallWorld::RecallWorld(uint64_t seed) : world_(seed) {
  world_.checkpoint_percent = std::array{3, 25, 60}[Below(3)];
  world_.reads_at_most = 1 + Below(4);
  world_.refresh_ms = std::array{1'000, 5'000, 10'000}[Below(3)];
  if (Chance(10)) replayed_percent_ = 50;  // a replay throughout
  one_changes_always_ = Chance(20);
  only_cuts_ = Chance(35);
  for (size_t i = 0; i < processes_.size(); ++i) processes_[i] = std::make_unique<RecallProcess>(world_, i);
  owner().Open();
  readers_.push_back(std::make_unique<RecallReader>(world_));
}

int RecallWorld::claims() const {
  int claims = claims_;
  for (const auto& reader : readers_) claims += reader->claims();
  return claims;
}

void RecallWorld::Grow(RecallPace pace) {
  if (pace == RecallPace::kRest) return;
  if (pace == RecallPace::kCalm || Chance(50)) Append(pace);
  if (pace == RecallPace::kBusy && Chance(3)) {
    for (size_t left = 5 + Below(10); left > 0; --left) Append(pace);
  }
}

void RecallWorld::Append(RecallPace pace) {
  RecallTopics::Event event;
  event.written_ms = world_.clock.WallNow().value;
  event.timestamp = {event.written_ms + (Chance(4) ? static_cast<int64_t>(Below(kAheadMs)) : 0)};
  event.user = "u" + std::to_string(one_changes_always_ && Chance(60) ? 0 : Below(kUsers));
  const int kind = static_cast<int>(Below(100));
  event.kind = kind < 85   ? Kind::kExposed
               : kind < 93 ? Kind::kRemoved
               : kind < 98 ? Kind::kErased
                           : Kind::kBad;
  event.replayed = event.kind == Kind::kExposed && pace == RecallPace::kBusy && Chance(replayed_percent_);
  if (event.kind == Kind::kExposed || event.kind == Kind::kRemoved)
    event.item = "i" + std::to_string(Below(kItems));
  constexpr std::array<const char*, 3> kNames = {"exposed", "removed", "erased"};
  event.value = event.kind == Kind::kBad ? "no event"
                                         : ValueOf(event.user, event.item,
                                                   kNames[static_cast<size_t>(event.kind)], event.written_ms);
  world_.log.push_back(std::move(event));
}

void RecallWorld::Break() {
  ++faults_;
  if (other().is_open() && Chance(50)) {  // a zombie may still vouch for what is cut
    CutSnapshots();
    return Replace();
  }
  constexpr std::array kOfCuts = {Fault::kCrash, Fault::kTakeover, Fault::kSnapshotsCut, Fault::kNewReader};
  const auto fault = only_cuts_ ? kOfCuts[Below(kOfCuts.size())]
                                : static_cast<Fault>(Below(static_cast<size_t>(Fault::kCount)));
  switch (fault) {
    case Fault::kCrash:
      return StopOwner();
    case Fault::kTakeover:
      return TakeOver();
    case Fault::kUpdatesCut:
    case Fault::kUpdatesExpire:
      return CutUpdates(fault);
    case Fault::kUpdatesAway:
      world_.updates_away = true;
      updates_back_ms_ = world_.clock.WallNow().value + (Chance(50) ? 30'000 : 120'000);
      return;
    case Fault::kUpdatesGivenUp:
      for (const auto& process : processes_) process->GiveUpUpdates();
      return;
    case Fault::kSnapshotsCut:
      return CutSnapshots();
    case Fault::kInputRecreated:
      return RecreateInput();
    case Fault::kStateLost:
      return LoseState();
    case Fault::kFilterChanged:
      return ChangeFilter();
    default:
      return Replace();
  }
}

void RecallWorld::StopOwner() {
  owner().Crash();
  OpenOwner();
}

// Nobody may own the partition for a while.
void RecallWorld::OpenOwner() {
  if (Chance(60)) return owner().Open();
  if (Chance(30)) CutSnapshots();
}

void RecallWorld::TakeOver() {
  Chance(60) ? owner().BecomeZombie() : owner().Crash();
  world_.owner = 1 - world_.owner;
  owner().Crash();
  if (world_.state && (!owner().durable.position || Chance(50))) owner().durable = *world_.state;
  OpenOwner();
}

void RecallWorld::CutUpdates(Fault fault) {
  auto& updates = world_.updates;
  if (fault == Fault::kUpdatesCut) {
    updates.resize(std::max(world_.updates_begin, updates.size() - std::min(updates.size(), 1 + Below(3))));
  } else {
    world_.updates_begin =
        std::max(world_.updates_begin, updates.size() - std::min(updates.size(), Below(6)));
  }
  for (const auto& reader : readers_) reader->CutTo(world_.snapshots.size(), updates.size());
}

// An owner notices within two looks. What readers do in between isn't part of this world.
void RecallWorld::CutSnapshots() {
  auto& snapshots = world_.snapshots;
  if (snapshots.empty()) return;
  if (owner().is_open()) owner().LookAtTopics();
  snapshots.resize(Chance(50) ? 0 : snapshots.size() - std::min(snapshots.size(), 1 + Below(4)));
  for (const auto& reader : readers_) reader->CutTo(snapshots.size(), world_.updates.size());
  if (!owner().is_open()) return;
  for (int looks = 0; looks < 3; ++looks) owner().LookAtTopics();
  owner().SendBeat();
  for (const auto& reader : readers_) reader->ReadBeat();
}

void RecallWorld::RecreateInput() {
  for (const auto& process : processes_) {
    process->Crash();
    process->durable = {};
  }
  world_.log.clear();
  world_.generations.clear();
  world_.had_another_log = true;
  world_.lacks_below = world_.gap_allowed_to = 0;
  world_.state.reset();
  if (Chance(50)) owner().Open();
}

void RecallWorld::LoseState() {
  owner().Crash();
  owner().durable = {};
  world_.state.reset();
  if (Chance(50)) {
    other().Crash();
    other().durable = {};
  }
  owner().Open();
}

void RecallWorld::ChangeFilter() {
  for (const auto& process : processes_) process->Crash();
  if (Chance(50)) {
    ++world_.filter;
    world_.lacks_below = world_.log_end();
  } else {
    world_.format = SnapshotFormat::kCuckoo;
  }
  owner().Open();
}

void RecallWorld::Replace() {
  auto fresh = std::make_unique<RecallReader>(world_);
  if (readers_.size() < kReadersMax && Chance(50)) return readers_.push_back(std::move(fresh)), void();
  auto& former = readers_[Below(readers_.size())];
  claims_ += former->claims();
  former = std::move(fresh);
}

void RecallWorld::Step(RecallPace pace) {
  const bool is_busy = pace == RecallPace::kBusy;
  world_.clock.Advance(static_cast<int64_t>(20 + Below(is_busy ? 180 : 400)));
  Grow(pace);
  if (world_.updates_away) {
    if (is_busy) world_.clock.Advance(static_cast<int64_t>(Below(6'000)));
    if (!is_busy || world_.clock.WallNow().value >= updates_back_ms_) world_.updates_away = false;
  }
  if (!owner().is_open() && (!is_busy || Chance(20))) owner().Open();
  for (const auto& process : processes_) {
    if (pace == RecallPace::kCalm || Chance(90)) process->Step(pace);
  }
  for (const auto& reader : readers_) {
    reader->Step(pace);
    if (!Chance(35)) continue;
    if (std::string wrong = reader->Check(); !wrong.empty()) world_.Fails(std::move(wrong));
  }
  if (is_busy && Chance(only_cuts_ ? 12 : 6)) Break();
}

void RecallWorld::Calm() {
  if (other().is_open()) other().Crash();
  const auto knows_all = [](const auto& reader) { return reader->KnowsAll(); };
  int kept_up = 0;
  for (int i = 0; i < kCalmMost && world_.problem.empty() && kept_up < kCalmEnough; ++i) {
    Step(RecallPace::kCalm);
    if (std::all_of(readers_.begin(), readers_.end(), knows_all)) {
      ++kept_up;
    } else if (kept_up > 0) {
      world_.Fails("a reader falls behind although nothing fails: " +
                   (*std::find_if_not(readers_.begin(), readers_.end(), knows_all))->Describe());
    }
    if (owner().Withholds()) return;
  }
  if (kept_up >= kCalmEnough) return;
  const auto behind = std::find_if_not(readers_.begin(), readers_.end(), knows_all);
  if (behind != readers_.end())
    world_.Fails("a reader doesn't catch up although nothing fails: " + (*behind)->Describe());
}

void RecallWorld::Rest() {
  const int64_t since_ms = world_.clock.WallNow().value;
  const auto is_at_rest = [&](const auto& reader) { return reader->IsAtRest(since_ms); };
  for (int i = 0; i < kRests && world_.problem.empty(); ++i) {
    Step(RecallPace::kRest);
    if (i > 20 && (owner().Withholds() || std::all_of(readers_.begin(), readers_.end(), is_at_rest))) return;
  }
  const auto stale = std::find_if_not(readers_.begin(), readers_.end(), is_at_rest);
  if (stale != readers_.end()) world_.Fails("a reader is stale at rest: " + (*stale)->Describe());
}

std::string RecallWorld::Run() {
  for (int i = 0; i < kSteps && world_.problem.empty(); ++i) Step(RecallPace::kBusy);
  if (Chance(50) && world_.problem.empty()) Calm();
  if (world_.problem.empty()) Rest();
  return world_.problem;
}

}  // namespace seen::sim
