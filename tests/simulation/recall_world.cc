#include "simulation/recall_world.h"

#include <algorithm>
#include <numeric>
#include <utility>

namespace seen::sim {
namespace {
using Kind = RecallTopics::Kind;

constexpr size_t kItems = 6, kReadersMax = 5;
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
  world_.refresh_ms = Chance(10) ? 1'000'000 : std::array{1'000, 5'000, 10'000}[Below(3)];
  world_.replicas_lag = Chance(30);
  world_.beats_are_late = Chance(30);
  users_ = Chance(30) ? 10 : 4;
  if (Chance(10)) replayed_percent_ = kReplayedAlways;
  one_changes_always_ = Chance(20);
  only_cuts_ = Chance(35) && !world_.IsRefreshedSlowly();
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
  event.user = "u" + std::to_string(one_changes_always_ && Chance(60) ? 0 : Below(users_));
  const int kind = static_cast<int>(Below(100));
  event.kind = kind < 85   ? Kind::kExposed
               : kind < 93 ? Kind::kRemoved
               : kind < 98 ? Kind::kErased
                           : Kind::kBad;
  const bool may_be_replayed = pace == RecallPace::kBusy || is_replayed_always();
  event.replayed = event.kind == Kind::kExposed && may_be_replayed && Chance(replayed_percent_);
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
  if (other().is_zombie() && Chance(50)) {  // it may still vouch for what is cut
    CutSnapshots();
    return Replace();
  }
  constexpr std::array kOfCuts = {Fault::kCrash, Fault::kTakeover, Fault::kSnapshotsCut, Fault::kNewReader,
                                  Fault::kReplica};
  // Gaps that the owner knows of.
  constexpr std::array kOfSlow = {Fault::kUpdatesAway, Fault::kUpdatesGivenUp, Fault::kNewReader};
  const auto fault = world_.IsRefreshedSlowly() ? kOfSlow[Below(kOfSlow.size())]
                     : only_cuts_               ? kOfCuts[Below(kOfCuts.size())]
                                  : static_cast<Fault>(Below(static_cast<size_t>(Fault::kCount)));
  switch (fault) {
    case Fault::kCrash:
      return StopOwner();
    case Fault::kTakeover:
      return TakeOver();
    case Fault::kReplica:
      if (!other().is_open()) other().OpenReplica();
      return;
    case Fault::kTooLarge:
      had_too_large_ = true;
      world_.too_large = world_.too_large.empty() ? "u" + std::to_string(Below(users_)) : "";
      return;
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
  ++restarts_[owner().ThirdOfRound()];
  owner().Crash();
  OpenOwner();
}

// Nobody may own the partition for a while.
void RecallWorld::OpenOwner() {
  if (Chance(60)) return owner().Open();
  if (!Chance(only_cuts_ ? 70 : 30)) return;
  CutSnapshots();
  Replace();
  if (Chance(50)) takeover_in_ = static_cast<int>(1 + Below(10));  // the new owner may not have noticed
}

// The owner ends just after a beat that vouched for more.
void RecallWorld::StopVouchingOwner() {
  const std::string beat = std::exchange(beat_, world_.beat);
  if (!owner().is_open() || beat == beat_) return;
  const int64_t published_to = owner().published_to();
  if (std::exchange(vouched_to_, published_to) < published_to && Chance(25)) StopOwner();
}

void RecallWorld::TakeOver() {
  ++restarts_[owner().ThirdOfRound()];
  const bool is_demoted = owner().is_open() && other().is_replica() && Chance(40);
  if (is_demoted) {
    owner().Demote();
  } else {
    Chance(60) ? owner().BecomeZombie() : owner().Crash();
  }
  world_.owner = 1 - world_.owner;
  if (owner().is_replica()) {
    owner().Promote();
    if (is_demoted && Chance(50)) CutSnapshots();                    // the former group doesn't see it
    if (Chance(50)) takeover_in_ = static_cast<int>(3 + Below(20));  // it comes back
    return;
  }
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
  const bool is_recreated = Chance(owner().is_open() ? 50 : 20);
  const size_t spared = std::min(world_.compacted_for_below, snapshots.size());
  snapshots.resize(is_recreated
                       ? 0
                       : std::max(spared, snapshots.size() - std::min(snapshots.size(),
                                                                      1 + Below(owner().is_open() ? 4 : 2))));
  if (is_recreated) world_.compacted_for_below = 0;
  for (const auto& reader : readers_) reader->CutTo(snapshots.size(), world_.updates.size());
  if (!owner().is_open()) return;
  if (Chance(50)) NoticeByDelivery();
  for (int looks = 0; looks < 3; ++looks) owner().LookAtTopics();
  owner().SendBeat();
  for (const auto& reader : readers_) reader->ReadBeat();
  if (Chance(only_cuts_ ? 60 : 30)) takeover_in_ = static_cast<int>(1 + Below(20));
}

// The next snapshot's offset says that the topic was cut, and a beat comes before the watch looks.
void RecallWorld::NoticeByDelivery() {
  if (!owner().DeliverOne()) return;
  world_.clock.Advance(1'000);
  owner().SendBeat();
  Replace();
  for (const auto& reader : readers_) {
    reader->Step(RecallPace::kCalm);
    if (std::string wrong = reader->Check(); !wrong.empty()) world_.Fails(std::move(wrong));
  }
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
    if (Chance(30)) world_.name = world_.name == "home" ? "page" : "home";
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
  if (Chance(5)) world_.Compact();
  if (is_busy && takeover_in_ > 0 && --takeover_in_ == 0) TakeOver();
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
  if (is_busy && only_cuts_) StopVouchingOwner();
  if (is_busy && Chance(only_cuts_ ? 12 : 6)) Break();
}

void RecallWorld::Redeploy() {
  for (auto& reader : readers_) {
    if (reader->filter() == world_.name) continue;
    claims_ += reader->claims();
    reader = std::make_unique<RecallReader>(world_);
  }
}

void RecallWorld::Calm() {
  if (other().is_zombie()) other().Crash();
  Redeploy();
  const auto knows_all = [](const auto& reader) { return reader->KnowsAll(); };
  int kept_up = 0, starts = 0;
  const uint64_t sent = owner().sent(), events = world_.log.size();
  // The refresh goes on throughout a replay.
  const auto awaits_refresh = [&] {
    return is_replayed_always() && !world_.IsRefreshedSlowly() &&
           owner().published_to() < static_cast<int64_t>(events);
  };
  for (int i = 0; i < kCalmMost && world_.problem.empty(); ++i) {
    if (kept_up >= kCalmEnough && !awaits_refresh()) break;
    Step(RecallPace::kCalm);
    // The owner may find only now that a topic was cut.
    const int started = std::accumulate(readers_.begin(), readers_.end(), 0,
                                        [](int sum, const auto& reader) { return sum + reader->starts(); });
    if (std::exchange(starts, started) != started) kept_up = 0;
    if (std::all_of(readers_.begin(), readers_.end(), knows_all)) {
      ++kept_up;
    } else if (kept_up > 0) {
      world_.Fails("a reader falls behind although nothing fails: " +
                   (*std::find_if_not(readers_.begin(), readers_.end(), knows_all))->Describe());
    }
    if (owner().Withholds()) return;
  }
  // A change renders its user at once or by the refresh. Before the calm each user may have become due, and
  // all users may be republished.
  const uint64_t most = 2 * (world_.log.size() - events) + 4 * users_;
  if (owner().sent() - sent > most)
    world_.Fails("too many snapshots: " + std::to_string(owner().sent() - sent) + " of " +
                 std::to_string(most));
  if (awaits_refresh())
    world_.Fails("the refresh doesn't come on: " + std::to_string(owner().published_to()));
  if (kept_up >= kCalmEnough) return;
  const auto behind = std::find_if_not(readers_.begin(), readers_.end(), knows_all);
  if (behind != readers_.end())
    world_.Fails("a reader doesn't catch up although nothing fails: " + (*behind)->Describe());
}

void RecallWorld::Rest() {
  Redeploy();
  const int64_t since_ms = world_.clock.WallNow().value;
  // As long as a snapshot is too large, nobody vouches for it.
  const auto is_at_rest = [&](const auto& reader) {
    return !world_.too_large.empty() || reader->IsAtRest(since_ms);
  };
  const auto has_marks = [&] { return !world_.IsRefreshedSlowly() && owner().Marks() > 0; };
  for (int i = 0; i < kRests && world_.problem.empty(); ++i) {
    Step(RecallPace::kRest);
    if (i <= 20) continue;
    if (owner().Withholds()) return;
    if (std::all_of(readers_.begin(), readers_.end(), is_at_rest) && !has_marks()) return;
  }
  const auto stale = std::find_if_not(readers_.begin(), readers_.end(), is_at_rest);
  if (stale != readers_.end()) return world_.Fails("a reader is stale at rest: " + (*stale)->Describe());
  if (has_marks()) world_.Fails("marks stand at rest: " + std::to_string(owner().Marks()));
}

std::string RecallWorld::Run() {
  for (int i = 0; i < kSteps && world_.problem.empty(); ++i) Step(RecallPace::kBusy);
  const bool is_calm = Chance(50) && !had_too_large_;  // a refused snapshot is tried again within a minute
  if (is_calm && world_.problem.empty()) Calm();
  if (Chance(70)) world_.too_large.clear();
  if (world_.problem.empty()) Rest();
  return world_.problem;
}

}  // namespace seen::sim
