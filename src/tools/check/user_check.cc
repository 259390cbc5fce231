#include "tools/check/user_check.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>
#include <unordered_set>

#include "filter/snapshot.h"
#include "model/user_key.h"
#include "tools/ask/calendar.h"
#include "tools/load/random.h"

namespace seen {
namespace {

constexpr size_t kItemsAtOnce = 10'000;  // the daemon takes at most 20,000 a question

// What is only like the seen hasn't been seen.
Status TakeUnseen(const nlohmann::json& answer, std::unordered_set<std::string>& unseen) {
  try {
    for (const auto& item : answer.at("unseen")) unseen.insert(item.get<std::string>());
    if (!answer.contains("similar")) return {};
    for (const auto& similar : answer.at("similar")) unseen.insert(similar.at("item_id").get<std::string>());
    return {};
  } catch (const nlohmann::json::exception& error) {
    return Fail(Code::kMalformed, fmt::format("the daemon's answer can't be read: {}", error.what()));
  }
}

std::optional<std::string_view> SimilarOf(const SnapshotView& view) {
  if (!view.has_similar()) return std::nullopt;
  return view.similar()->payload;
}

std::vector<Fingerprint> FingerprintsOf(const Oracle& oracle, const std::vector<uint32_t>& items) {
  std::vector<Fingerprint> fingerprints;
  fingerprints.reserve(items.size());
  for (const uint32_t item : items) fingerprints.push_back(oracle.ItemFingerprint(item));
  std::sort(fingerprints.begin(), fingerprints.end());
  fingerprints.erase(std::unique(fingerprints.begin(), fingerprints.end()), fingerprints.end());
  return fingerprints;
}

}  // namespace

struct UserChecker::Question {
  SeenItems seen;
  std::vector<std::string> negatives;
};

void CheckOutcome::Add(const CheckOutcome& other) {
  CheckCounts& sum = counts;
  const CheckCounts& more = other.counts;
  sum.users += more.users;
  sum.items += more.items;
  sum.negatives += more.negatives;
  sum.snapshot_false_negatives += more.snapshot_false_negatives;
  sum.unseen_false_negatives += more.unseen_false_negatives;
  sum.published_false_negatives += more.published_false_negatives;
  sum.published_missing += more.published_missing;
  sum.published_differing += more.published_differing;
  sum.count_mismatches += more.count_mismatches;
  sum.horizon_mismatches += more.horizon_mismatches;
  sum.unexplained += more.unexplained;
  sum.snapshot_false_positives += more.snapshot_false_positives;
  sum.unseen_false_positives += more.unseen_false_positives;
  sum.rate_asked_sum += more.rate_asked_sum;
  for (const std::string& failure : other.failures) {
    if (failures.size() < kFailuresMax) failures.push_back(failure);
  }
}

void UserChecker::Failed(std::string message) {
  if (outcome_.failures.size() < CheckOutcome::kFailuresMax) outcome_.failures.push_back(std::move(message));
}

Status UserChecker::Check(std::string_view user_id, const std::string* published) {
  const CheckOutcome before = outcome_;
  const Day today = DayOf(SystemClock().WallNow());
  auto status = CheckToday(user_id, published);
  if (!status || DayOf(SystemClock().WallNow()) == today) return status;
  outcome_ = before;  // midnight (UTC) came in between: the answers are about two windows
  return CheckToday(user_id, published);
}

Status UserChecker::CheckToday(std::string_view user_id, const std::string* published) {
  const Day promised = oracle_.Horizon(SystemClock().WallNow());
  const auto served = daemon_.Snapshot(options_.filter, user_id);
  if (!served) return Fail(served.error());
  const auto view = SnapshotView::Parse(*served);
  if (!view) return Fail(Code::kMalformed, fmt::format("snapshot of {}: {}", user_id, view.error().message));
  if (view->meta().horizon != promised) {
    ++outcome_.counts.horizon_mismatches;
    Failed(fmt::format("{}: the snapshot counts from {} on instead of {}; is the filter's window_days given?",
                       user_id, DayText(view->meta().horizon), DayText(promised)));
  }
  Question question;
  question.seen = oracle_.Seen(user_id, std::min(promised, view->meta().horizon));
  question.negatives = NegativesFor(oracle_, user_id, question.seen, options_.negatives_per_user);
  ++outcome_.counts.users;
  outcome_.counts.items += question.seen.must.size();
  outcome_.counts.negatives += question.negatives.size();
  CheckSnapshot(question, user_id, *served);
  if (options_.published) CheckPublished(question, user_id, published, *served);
  return CheckUnseen(question, user_id);
}

void UserChecker::CheckSnapshot(const Question& question, std::string_view user_id, std::string_view bytes) {
  const auto view = SnapshotView::Parse(bytes);
  const SnapshotMeta& meta = view->meta();
  outcome_.counts.rate_asked_sum += meta.false_positive_rate;
  for (const uint32_t item : question.seen.must) {
    if (view->MightContain(oracle_.ItemFingerprint(item))) continue;
    ++outcome_.counts.snapshot_false_negatives;
    Failed(fmt::format("{}: item {} was sent and is not in the snapshot", user_id, oracle_.Item(item)));
  }
  for (const std::string& item : question.negatives) {
    if (view->MightContain(item)) ++outcome_.counts.snapshot_false_positives;
  }
  const size_t at_least = FingerprintsOf(oracle_, question.seen.must).size();
  std::vector<uint32_t> all = question.seen.must;
  all.insert(all.end(), question.seen.may.begin(), question.seen.may.end());
  const size_t at_most = FingerprintsOf(oracle_, all).size();
  if (meta.item_count < at_least || (options_.history_complete && meta.item_count > at_most)) {
    ++outcome_.counts.count_mismatches;
    Failed(fmt::format("{}: the snapshot counts {} items, {} to {} were sent", user_id, meta.item_count,
                       at_least, at_most));
  }
}

void UserChecker::CheckPublished(const Question& question, std::string_view user_id,
                                 const std::string* published, std::string_view served) {
  if (published == nullptr) {
    if (question.seen.must.empty()) return;
    ++outcome_.counts.published_missing;
    Failed(fmt::format("{}: no snapshot was published", user_id));
    return;
  }
  const auto view = SnapshotView::Parse(*published);
  const auto served_view = SnapshotView::Parse(served);
  if (!view) {
    ++outcome_.counts.published_differing;
    Failed(fmt::format("{}: the published snapshot can't be read: {}", user_id, view.error().message));
    return;
  }
  for (const uint32_t item : question.seen.must) {
    if (view->MightContain(oracle_.ItemFingerprint(item))) continue;
    ++outcome_.counts.published_false_negatives;
    Failed(fmt::format("{}: item {} was sent and is not in the published snapshot", user_id,
                       oracle_.Item(item)));
  }
  // One published before the day changed may rightly count a day more.
  const bool same_day = view->meta().horizon == served_view->meta().horizon;
  const bool same = view->payload() == served_view->payload() && SimilarOf(*view) == SimilarOf(*served_view);
  if (same_day && !same) {
    ++outcome_.counts.published_differing;
    Failed(fmt::format(
        "{}: the published filter ({} items, offset {}) is not the one served ({} items, offset {})", user_id,
        view->meta().item_count, view->meta().input_offset, served_view->meta().item_count,
        served_view->meta().input_offset));
  }
}

Status UserChecker::CheckUnseen(const Question& question, std::string_view user_id) {
  std::vector<std::string> candidates;
  candidates.reserve(question.seen.must.size() + question.negatives.size());
  for (const uint32_t item : question.seen.must) candidates.emplace_back(oracle_.Item(item));
  candidates.insert(candidates.end(), question.negatives.begin(), question.negatives.end());
  std::unordered_set<std::string> unseen;
  for (size_t begin = 0; begin < candidates.size(); begin += kItemsAtOnce) {
    const auto part = std::span(candidates).subspan(begin, std::min(kItemsAtOnce, candidates.size() - begin));
    const auto answer = daemon_.UnseenAnswer(options_.filter, user_id, part);
    if (!answer) return Fail(answer.error());
    if (Status taken = TakeUnseen(*answer, unseen); !taken) return taken;
  }
  for (const uint32_t item : question.seen.must) {
    if (!unseen.contains(std::string(oracle_.Item(item)))) continue;
    ++outcome_.counts.unseen_false_negatives;
    Failed(fmt::format("{}: item {} was sent and is said to be unseen", user_id, oracle_.Item(item)));
  }
  std::vector<uint32_t> all = question.seen.must;
  all.insert(all.end(), question.seen.may.begin(), question.seen.may.end());
  const auto known = FingerprintsOf(oracle_, all);
  for (const std::string& item : question.negatives) {
    if (unseen.contains(item)) continue;
    ++outcome_.counts.unseen_false_positives;
    if (!options_.history_complete || std::binary_search(known.begin(), known.end(), FingerprintOf(item)))
      continue;
    ++outcome_.counts.unexplained;
    Failed(fmt::format("{}: item {} was never sent and is said to be seen", user_id, item));
  }
  return {};
}

std::vector<std::string> NegativesFor(const Oracle& oracle, std::string_view user_id, const SeenItems& seen,
                                      uint32_t count) {
  Random random(UserKeyOf(user_id).low);
  std::vector<std::string> negatives;
  std::unordered_set<uint32_t> taken;
  const auto items = static_cast<uint32_t>(oracle.item_count());
  for (uint32_t attempt = 0; items > 0 && attempt < count * 4 && negatives.size() < count / 2; ++attempt) {
    const uint32_t item = random.Below(items);
    if (std::binary_search(seen.must.begin(), seen.must.end(), item) ||
        std::binary_search(seen.may.begin(), seen.may.end(), item) || !taken.insert(item).second) {
      continue;
    }
    negatives.emplace_back(oracle.Item(item));
  }
  while (negatives.size() < count) negatives.push_back(fmt::format("never-sent-{:016x}", random.Next()));
  return negatives;
}

}  // namespace seen
