#include "simulation/recall_reader.h"

#include <algorithm>
#include <array>
#include <set>
#include <tuple>
#include <utility>

#include "owner/beat.h"

namespace seen::sim {
namespace {
constexpr size_t kFewAdditions = 5;

std::string NameOf(const RecallTopics::Event& event, size_t at) {
  return "the item " + event.item + " of " + event.user + " at " + std::to_string(at);
}
}  // namespace

RecallReader::RecallReader(RecallTopics& world)
    : world_(world),
      filter_(world.name),
      is_limited_(world.Chance(15) && !world.IsRefreshedSlowly()),
      reader_(filter_, {0}, is_limited_ ? kFewAdditions : client::FilterReader::kAdditionsMax) {
  constexpr std::array<std::pair<int, int>, 4> kPaces = {{{90, 90}, {90, 20}, {20, 90}, {50, 50}}};
  std::tie(pace_updates_, pace_snapshots_) = kPaces[world.Below(kPaces.size())];
  at_update_ = world.updates_begin;
  ReadBeat();
  const auto beat = ParseBeat(world.beat);
  if (beat && beat->updates_from >= static_cast<int64_t>(world.updates_begin))
    at_update_ = std::min(static_cast<size_t>(beat->updates_from), world.updates.size());
}

void RecallReader::Step(RecallPace pace) {
  if (pace != RecallPace::kBusy) sleeps_ = 0;
  if (sleeps_ > 0 && --sleeps_ > 0) return;
  if (pace == RecallPace::kCalm) {
    while (at_update_ < world_.updates.size()) ReadUpdate();
    while (at_snapshot_ != world_.snapshots.size()) ReadSnapshot();
  }
  // Who starts over behind a gap waits for the refresh.
  if (pace == RecallPace::kBusy && !world_.IsRefreshedSlowly() && world_.Chance(1)) StartOver();
  const int least = pace == RecallPace::kRest ? 50 : 0;  // a slow reader catches up in the end
  for (size_t left = 1 + world_.Below(3); left > 0; --left) {
    if (world_.Chance(std::max(pace_updates_, least))) ReadUpdate();
    if (world_.Chance(std::max(pace_snapshots_, least))) ReadSnapshot();
  }
  if (world_.Chance(70)) ReadBeat();
}

void RecallReader::ReadBeat() {
  const auto beat = ParseBeat(world_.beat);
  if (!beat || sleeps_ > 0) return;
  beat_ = world_.beat;
  Take(reader_.TakeBeat("0", beat_));
  generation_ = beat->generation;
  if (reader_.MustRestart(0)) StartOver();
  LookForEnd();
}

// Kafka's client goes on at the new end, or starts over. Or it sleeps until a topic that was made anew has
// grown again. (A client notices by the leader's epoch if a topic lost its end.)
void RecallReader::CutTo(size_t snapshots, size_t updates) {
  at_update_ = std::min(at_update_, updates);
  if (at_snapshot_ <= snapshots) return;
  if (snapshots == 0 && world_.Chance(60)) sleeps_ = 20 + world_.Below(60);
  if (sleeps_ > 0) return;
  at_snapshot_ = snapshots;
  if (world_.Chance(50)) StartOver();
}

void RecallReader::StartOver() {
  at_snapshot_ = 0;
  ++starts_;
  reader_.SnapshotsRestart(0);
}

bool RecallReader::KnowsAll() const {
  const auto complete = reader_.CompleteTo(0);
  return complete && world_.generations.contains(generation_) && *complete >= world_.log_end();
}

bool RecallReader::IsAtRest(int64_t since_ms) const {
  const auto as_of = reader_.AsOf(0);
  return KnowsAll() && as_of && as_of->time_since_epoch().count() >= since_ms &&
         (reader_.additions() == 0 || world_.IsRefreshedSlowly());
}

std::string RecallReader::Describe() const {
  const auto complete = reader_.CompleteTo(0);
  const auto as_of = reader_.AsOf(0);
  const int64_t age = as_of ? world_.clock.WallNow().value - as_of->time_since_epoch().count() : -1;
  return "complete to " + std::to_string(complete.value_or(-1)) + " of " + std::to_string(world_.log_end()) +
         ", " + std::to_string(age) + " ms old, " + std::to_string(reader_.additions()) + " additions" +
         (reader_.MustRestart(0) ? ", must start over" : "") + ", at " + std::to_string(at_snapshot_) +
         " of " + std::to_string(world_.snapshots.size()) + " snapshots, by the beat " + beat_;
}

std::string RecallReader::Check() const {
  const auto complete = reader_.CompleteTo(0);
  if (!complete || !world_.generations.contains(generation_)) return {};
  ++claims_;
  const auto as_of = reader_.AsOf(0);
  const int64_t as_of_ms = as_of ? as_of->time_since_epoch().count() : -1;
  std::set<std::string> erased;
  std::set<std::pair<std::string, std::string>> removed;
  for (size_t at = world_.log.size(); at-- > 0;) {
    const RecallTopics::Event& event = world_.log[at];
    if (event.kind == RecallTopics::Kind::kErased) erased.insert(event.user);
    if (event.kind == RecallTopics::Kind::kRemoved) removed.insert({event.user, event.item});
    if (event.kind != RecallTopics::Kind::kExposed || event.replayed) continue;
    const bool is_below = static_cast<int64_t>(at) < *complete;
    const bool is_older = event.written_ms <= as_of_ms;
    if (!is_limited_ && is_older && !is_below)
      return NameOf(event, at) + ": older than the reader's as_of, and beyond what it knows";
    if (!is_older && (is_limited_ || !is_below)) continue;
    if (world_.MayLack(static_cast<int64_t>(at)) || erased.contains(event.user) ||
        removed.contains({event.user, event.item}))
      continue;
    if (!reader_.MightContain(event.user, event.item))
      return NameOf(event, at) + ": unseen, and the reader knows all below " + std::to_string(*complete) +
             (is_older ? ", and its as_of is later" : "");
  }
  return CheckTakenBack();
}

// Oracle: what was taken back leaves with the user's next snapshot. Additions of another log or state may
// stay a little longer, so only worlds with one are looked at.
std::string RecallReader::CheckTakenBack() const {
  if (world_.generations.size() > 1 || world_.had_another_log) return {};
  std::set<std::pair<std::string, std::string>> later;
  for (size_t at = world_.log.size(); at-- > 0;) {
    const RecallTopics::Event& event = world_.log[at];
    const bool is_last = later.insert({event.user, event.item}).second;
    if (event.kind != RecallTopics::Kind::kRemoved || !is_last) continue;
    const auto found = snapshots_.find(event.user);
    if (found == snapshots_.end()) continue;
    const auto snapshot = client::Snapshot::ParseCopyWithUpdates(found->second);
    if (!snapshot || snapshot->input_offset() <= static_cast<int64_t>(at)) continue;
    if (reader_.MightContain(event.user, event.item) && !snapshot->MightContain(event.item))
      return NameOf(event, at) + ": taken back, and an addition outlives the user's next snapshot";
  }
  return {};
}

void RecallReader::Take(const std::optional<client::Error>& refused) const {
  if (refused) world_.Fails("a reader refused: " + refused->message);
}

void RecallReader::ReadUpdate() {
  at_update_ = std::max(at_update_, world_.updates_begin);
  if (at_update_ < world_.updates.size()) Take(reader_.TakeUpdate(world_.updates[at_update_++]));
}

void RecallReader::ReadSnapshot() {
  const auto& topic = world_.snapshots;
  if (at_snapshot_ > topic.size()) StartOver();  // out of range, the brokers say
  if (at_snapshot_ < topic.size()) {
    const RecallTopics::Snapshot& one = topic[at_snapshot_++];
    const bool is_gone = one.is_compacted || (world_.Chance(50) && world_.CompactsAway(at_snapshot_ - 1));
    if (!is_gone) {
      Take(reader_.TakeSnapshot(0, one.user,
                                one.bytes ? std::optional<std::string_view>(*one.bytes) : std::nullopt));
      snapshots_.erase(one.user);
      if (one.bytes) snapshots_[one.user] = *one.bytes;
    }
  }
  LookForEnd();
}

// A topic that was cut while nobody owned it may have grown again. The newest beat says so.
void RecallReader::LookForEnd() {
  const auto read = ParseBeat(beat_), newest = ParseBeat(world_.beat);
  if (newest && beat_ != world_.beat &&
      (newest->republishing || !read || read->snapshots_log != newest->snapshots_log))
    return ReadBeat();
  if (at_snapshot_ == world_.snapshots.size()) reader_.SnapshotsEnd(0, static_cast<int64_t>(at_snapshot_));
}

}  // namespace seen::sim
