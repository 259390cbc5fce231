#include "tools/check/demo_checks.h"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_set>

#include "filter/snapshot.h"
#include "tools/check/user_check.h"
#include "tools/load/random.h"
#include "tools/progress.h"

namespace seen {
namespace {

// With 10 unseen candidates at 1%, only 2 runs in a million have more false positives than this.
constexpr size_t kFalsePositivesMax = 3;

std::string Joined(const std::vector<std::string>& items) {
  return items.empty() ? "(none)" : fmt::format("{}", fmt::join(items, " "));
}

bool PrintVerdict(std::string_view way, const CandidateVerdict& verdict, size_t false_positives_max) {
  fmt::print("  {}\n    unseen: {}\n", way, Joined(verdict.offered));
  if (!verdict.false_negatives.empty())
    fmt::print("    WRONG: sent, yet offered: {}\n", Joined(verdict.false_negatives));
  const bool too_many = verdict.false_positives.size() > false_positives_max;
  if (!verdict.false_positives.empty()) {
    fmt::print("    {}: {}\n",
               too_many ? "WRONG: not sent, yet held back"
                        : "not sent, yet held back (false positives, as the rate allows)",
               Joined(verdict.false_positives));
  }
  const bool well = verdict.false_negatives.empty() && !too_many;
  if (well) fmt::print("    agrees with what was sent: no seen item passes\n");
  return well;
}

}  // namespace

std::vector<std::string> DemoCandidates::Unsent() const {
  std::vector<std::string> unsent;
  for (size_t i = 0; i < items.size(); ++i) {
    if (!sent[i]) unsent.push_back(items[i]);
  }
  return unsent;
}

DemoCandidates ChooseCandidates(const Oracle& oracle, std::string_view user_id, size_t count, TimeMs now) {
  const SeenItems seen = oracle.Seen(user_id, Moment::At(now));
  std::vector<std::pair<std::string, bool>> chosen;
  const size_t sent = std::min(count / 2, seen.must.size());
  chosen.reserve(count);
  for (size_t i = 0; i < sent; ++i)
    chosen.emplace_back(oracle.Item(seen.must[i * seen.must.size() / sent]), true);
  auto others =
      NegativesFor(oracle, user_id, oracle.ItemsOf(user_id), static_cast<uint32_t>(2 * (count - sent)));
  others.resize(count - sent);  // the first half: items of other users
  for (std::string& item : others) chosen.emplace_back(std::move(item), false);
  Random random(count);
  for (size_t i = chosen.size(); i > 1; --i)
    std::swap(chosen[i - 1], chosen[random.Below(static_cast<uint32_t>(i))]);
  DemoCandidates candidates;
  for (auto& [item, was_sent] : chosen) {
    candidates.items.push_back(std::move(item));
    candidates.sent.push_back(was_sent);
  }
  return candidates;
}

CandidateVerdict Judge(const DemoCandidates& candidates, const std::vector<bool>& passes) {
  CandidateVerdict verdict;
  for (size_t i = 0; i < candidates.items.size(); ++i) {
    if (passes[i]) verdict.offered.push_back(candidates.items[i]);
    if (passes[i] && candidates.sent[i]) verdict.false_negatives.push_back(candidates.items[i]);
    if (!passes[i] && !candidates.sent[i]) verdict.false_positives.push_back(candidates.items[i]);
  }
  return verdict;
}

Result<bool> ShowBusiestUser(const Oracle& oracle, DaemonClient& daemon, const std::string& filter,
                             const SnapshotTopic& published) {
  const std::string user(oracle.BusiestUser());
  const TimeMs now = SystemClock().WallNow();
  const SeenItems seen = oracle.Seen(user, Moment::At(now));
  const DemoCandidates candidates = ChooseCandidates(oracle, user, 20, now);
  fmt::print("\nThe busiest user, {}: {} exposures of {} items were sent. 20 candidates go in:\n", user,
             WithThousands(oracle.ExposuresOf(user)), WithThousands(seen.must.size() + seen.may.size()));
  fmt::print("    {}\n    never sent to this user: {}\n", Joined(candidates.items),
             Joined(candidates.Unsent()));

  const auto answer = daemon.Unseen(filter, user, candidates.items);
  if (!answer) return Fail(answer.error());
  const std::unordered_set<std::string> offered(answer->begin(), answer->end());
  std::vector<bool> passes;
  passes.reserve(candidates.items.size());
  for (const std::string& item : candidates.items) passes.push_back(offered.contains(item));
  // Exact, except for an item that shares its 32-bit fingerprint with another one.
  bool well = PrintVerdict("through HTTP, POST .../unseen (exact)", Judge(candidates, passes), 1);
  if (*answer != Judge(candidates, passes).offered) {
    fmt::print("    WRONG: the answer isn't in the order asked: {}\n", Joined(*answer));
    well = false;
  }

  const std::string* bytes = published.Find(user);
  if (bytes == nullptr) {
    fmt::print("  through the published snapshot\n    WRONG: there is none\n");
    return false;
  }
  const auto snapshot = SnapshotView::Parse(*bytes);
  if (!snapshot) return Fail(snapshot.error());
  passes.clear();
  for (const std::string& item : candidates.items) passes.push_back(!snapshot->MightContain(item));
  const std::string way =
      fmt::format("through the last published snapshot ({} items in {}, false-positive rate {} %)",
                  WithThousands(snapshot->meta().item_count), WithByteUnit(bytes->size()),
                  snapshot->meta().false_positive_rate * 100);
  return PrintVerdict(way, Judge(candidates, passes), kFalsePositivesMax) && well;
}

Result<bool> CheckOtherUsers(const Oracle& oracle, DaemonClient daemon, const std::string& filter,
                             const SnapshotTopic& published, size_t count) {
  auto users = oracle.Users();
  std::erase(users, oracle.BusiestUser());
  Random random(count);
  const size_t chosen = std::min(count, users.size());
  for (size_t i = 0; i < chosen; ++i)
    std::swap(users[i], users[i + random.Below(static_cast<uint32_t>(users.size() - i))]);
  UserChecker checker(oracle, daemon, {.filter = filter, .negatives_per_user = 64, .published = true});
  for (size_t i = 0; i < chosen; ++i) {
    const std::string user(users[i]);
    if (auto status = checker.Check(user, published.Find(user)); !status) return Fail(status.error());
  }
  const CheckCounts& counts = checker.outcome().counts;
  fmt::print(
      "\n{} other users, {} items they must not see again: {} false negatives; false positives {:.2f} % in "
      "snapshots ({:.2f} % asked), {} in unseen; {} of their published snapshots are not the one served\n",
      WithThousands(counts.users), WithThousands(counts.items), counts.FalseNegatives(),
      counts.SnapshotFalsePositiveRate() * 100, counts.RateAsked() * 100, counts.unseen_false_positives,
      counts.published_differing + counts.published_missing);
  for (const std::string& failure : checker.outcome().failures) fmt::print("    WRONG: {}\n", failure);
  return counts.Failures() == 0;
}

}  // namespace seen
