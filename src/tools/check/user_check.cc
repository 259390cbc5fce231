#include "tools/check/user_check.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <unordered_set>

#include "filter/snapshot.h"
#include "model/hashes.h"
#include "tools/common_options.h"
#include "tools/load/random.h"

namespace seen {
namespace {

constexpr int64_t kRepublishedWithinMs = 10'000;
constexpr size_t kItemsAtOnce = 10'000;  // the daemon takes at most 20,000 per request

// An item that is only similar to a seen one hasn't been seen.
Status TakeUnseen(const SortedJson& answer, std::unordered_set<std::string>& unseen) {
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

}  // namespace

/// The daemon's answers, and what they should have been.
struct UserChecker::Question {
  std::string snapshot;
  std::string exact;          // the same filter as a list of its fingerprints
  std::vector<uint32_t> own;  // items in events of the user
  std::vector<std::string> negatives;
  std::unordered_set<std::string> unseen;  // of `own` and `negatives`
  Moment moment;
  SeenItems seen;

  /// Whether the filter may rightly hold the fingerprint.
  bool Holds(Fingerprint fingerprint) const {
    return std::binary_search(seen.fingerprints_must.begin(), seen.fingerprints_must.end(), fingerprint) ||
           std::binary_search(seen.fingerprints_may.begin(), seen.fingerprints_may.end(), fingerprint);
  }
};

void CheckOutcome::Add(const CheckOutcome& other) {
  for (const auto& [name, figure] : kCheckFigures) counts.*figure += other.counts.*figure;
  counts.rate_asked_sum += other.counts.rate_asked_sum;
  complete_since = std::max(complete_since, other.complete_since);
  for (const std::string& failure : other.failures) {
    if (failures.size() < kFailuresMax) failures.push_back(failure);
  }
}

void UserChecker::Failed(std::string_view user_id, std::string_view message) {
  if (outcome_.failures.size() >= CheckOutcome::kFailuresMax) return;
  const std::string filter = options_.names_filter ? fmt::format("filter {}, ", options_.filter) : "";
  outcome_.failures.push_back(fmt::format("{}{}: {}", filter, user_id, message));
}

Status UserChecker::Check(std::string_view user_id, const std::string* published) {
  const CheckOutcome before = outcome_;
  const Day today = DayOf(SystemClock().WallNow());
  auto status = CheckToday(user_id, published);
  if (!status || DayOf(SystemClock().WallNow()) == today) return status;
  outcome_ = before;  // midnight (UTC) came in between: the answers are about two windows
  return CheckToday(user_id, published);
}

// Asks all questions first: the oracle's expectation depends on the time of the answers.
Result<UserChecker::Question> UserChecker::Ask(std::string_view user_id) {
  Question question;
  question.moment.from = SystemClock().WallNow();
  auto snapshot = daemon_.Snapshot(options_.filter, user_id);
  if (!snapshot) return Fail(snapshot.error());
  question.snapshot = std::move(*snapshot);
  auto exact = daemon_.Snapshot(options_.filter, user_id, SnapshotFormatName(SnapshotFormat::kFingerprints));
  if (!exact) return Fail(exact.error());
  question.exact = std::move(*exact);
  question.own = oracle_.ItemsOf(user_id);
  question.negatives = NegativesFor(oracle_, user_id, question.own, options_.negatives_per_user);
  if (Status asked = AskUnseen(user_id, question); !asked) return Fail(asked.error());
  question.moment.to = SystemClock().WallNow();
  question.seen = oracle_.Seen(user_id, question.moment, options_.filter_number);
  return question;
}

Status UserChecker::AskUnseen(std::string_view user_id, Question& question) {
  std::vector<std::string> candidates;
  candidates.reserve(question.own.size() + question.negatives.size());
  for (const uint32_t item : question.own) candidates.emplace_back(oracle_.Item(item));
  candidates.insert(candidates.end(), question.negatives.begin(), question.negatives.end());
  for (size_t begin = 0; begin < candidates.size(); begin += kItemsAtOnce) {
    const auto part = std::span(candidates).subspan(begin, std::min(kItemsAtOnce, candidates.size() - begin));
    const auto answer = daemon_.UnseenAnswer(options_.filter, user_id, part);
    if (!answer) return Fail(answer.error());
    if (Status taken = TakeUnseen(*answer, question.unseen); !taken) return taken;
  }
  return {};
}

Status UserChecker::CheckToday(std::string_view user_id, const std::string* published) {
  const Day promised = oracle_.Horizon(SystemClock().WallNow(), options_.filter_number);
  const auto question = Ask(user_id);
  if (!question) return Fail(question.error());
  const auto view = SnapshotView::Parse(question->snapshot);
  if (!view) return Fail(Code::kMalformed, fmt::format("snapshot of {}: {}", user_id, view.error().message));
  outcome_.complete_since = std::max(outcome_.complete_since, view->meta().complete_since);
  CheckCounts& counts = outcome_.counts;
  if (view->meta().horizon != promised) {
    ++counts.horizon_mismatches;
    Failed(user_id,
           fmt::format("the snapshot counts from {} on instead of {}; did you give the filter's window_days?",
                       DayText(view->meta().horizon), DayText(promised)));
  }
  ++counts.users;
  counts.items += question->seen.must.size();
  counts.negatives += question->negatives.size();
  counts.left_window += question->seen.left_window;
  counts.taken_back += question->seen.taken_back;
  counts.too_few_exposures += question->seen.too_few_exposures;
  CheckSnapshot(*question, user_id);
  if (options_.published) CheckPublished(*question, user_id, published);
  CheckUnseen(*question, user_id);
  if (options_.history_complete) CheckStrangers(*question, user_id);
  return {};
}

void UserChecker::CheckSnapshot(const Question& question, std::string_view user_id) {
  const auto view = SnapshotView::Parse(question.snapshot);
  const SnapshotMeta& meta = view->meta();
  outcome_.counts.rate_asked_sum += meta.false_positive_rate;
  for (const uint32_t item : question.seen.must) {
    if (view->MightContain(oracle_.ItemFingerprint(item))) continue;
    ++outcome_.counts.snapshot_false_negatives;
    Failed(user_id, fmt::format("item {} was sent and is not in the snapshot", oracle_.Item(item)));
  }
  for (const std::string& item : question.negatives) {
    if (view->MightContain(item)) ++outcome_.counts.snapshot_false_positives;
  }
  const size_t at_least = question.seen.fingerprints_must.size();
  const size_t at_most = at_least + question.seen.fingerprints_may.size();
  if (meta.item_count < at_least || (options_.history_complete && meta.item_count > at_most)) {
    ++outcome_.counts.count_mismatches;
    Failed(user_id, fmt::format("the snapshot counts {} items, {} to {} were sent", meta.item_count, at_least,
                                at_most));
  }
}

void UserChecker::CheckPublished(const Question& question, std::string_view user_id,
                                 const std::string* published) {
  if (published == nullptr) {
    if (question.seen.must.empty()) return;
    ++outcome_.counts.published_missing;
    Failed(user_id, "no snapshot was published");
    return;
  }
  const auto view = SnapshotView::Parse(*published);
  const auto served_view = SnapshotView::Parse(question.snapshot);
  if (!view) {
    ++outcome_.counts.published_differing;
    Failed(user_id, fmt::format("the published snapshot can't be read: {}", view.error().message));
    return;
  }
  for (const uint32_t item : question.seen.must) {
    if (view->MightContain(oracle_.ItemFingerprint(item))) continue;
    ++outcome_.counts.published_false_negatives;
    Failed(user_id, fmt::format("item {} was sent and is not in the published snapshot", oracle_.Item(item)));
  }
  // A snapshot from before the day changed, or from before a served item ended, may rightly hold more.
  const bool ended =
      std::any_of(question.seen.served_ends.begin(), question.seen.served_ends.end(), [&](uint32_t second) {
        return second * int64_t{1000} + kRepublishedWithinMs >= options_.published_at.value &&
               second * int64_t{1000} <= question.moment.to.value;
      });
  const bool same_day = view->meta().horizon == served_view->meta().horizon;
  const bool same = view->payload() == served_view->payload() && SimilarOf(*view) == SimilarOf(*served_view);
  if (same_day && !ended && !same) {
    ++outcome_.counts.published_differing;
    Failed(
        user_id,
        fmt::format("the published filter ({} items, offset {}) is not the one served ({} items, offset {})",
                    view->meta().item_count, view->meta().input_offset, served_view->meta().item_count,
                    served_view->meta().input_offset));
  }
}

void UserChecker::CheckUnseen(const Question& question, std::string_view user_id) {
  for (const uint32_t item : question.seen.must) {
    if (!question.unseen.contains(std::string(oracle_.Item(item)))) continue;
    ++outcome_.counts.unseen_false_negatives;
    Failed(user_id, fmt::format("item {} was sent, but unseen offers it", oracle_.Item(item)));
  }
  const auto check_extra = [&](std::string_view item, std::string_view what) {
    if (question.unseen.contains(std::string(item))) return;
    ++outcome_.counts.unseen_false_positives;
    // A shared fingerprint explains it. If the topic's start is gone, the item may have been sent before.
    if (!options_.history_complete || question.Holds(FingerprintOf(item))) return;
    ++outcome_.counts.unexplained;
    Failed(user_id, fmt::format("item {} {}, but unseen doesn't offer it", item, what));
  };
  for (const uint32_t item : question.seen.not_seen) check_extra(oracle_.Item(item), "doesn't count");
  for (const std::string& item : question.negatives) check_extra(item, "was never sent");
}

// Checks the whole set, not only the items that were asked for.
void UserChecker::CheckStrangers(const Question& question, std::string_view user_id) {
  const auto view = SnapshotView::Parse(question.exact);
  const auto* set = view ? std::get_if<ExactFingerprintsView>(&view->view()) : nullptr;
  if (set == nullptr) {
    ++outcome_.counts.strangers;
    Failed(user_id, "the daemon doesn't return the filter's fingerprints");
    return;
  }
  for (const Fingerprint fingerprint : set->Fingerprints()) {
    if (question.Holds(fingerprint)) continue;
    ++outcome_.counts.strangers;
    const auto known = std::find_if(question.own.begin(), question.own.end(), [&](uint32_t item) {
      return oracle_.ItemFingerprint(item) == fingerprint;
    });
    Failed(user_id, known != question.own.end()
                        ? fmt::format("the filter holds item {}, which doesn't count", oracle_.Item(*known))
                        : fmt::format("the filter holds fingerprint {:08x}, of no item that was sent",
                                      fingerprint.value));
  }
}

std::vector<std::string> NegativesFor(const Oracle& oracle, std::string_view user_id,
                                      const std::vector<uint32_t>& own, uint32_t count) {
  Random random(UserKeyOf(user_id).low);
  std::vector<std::string> negatives;
  std::unordered_set<uint32_t> taken;
  const auto items = static_cast<uint32_t>(oracle.item_count());
  for (uint32_t attempt = 0; items > 0 && attempt < count * 4 && negatives.size() < count / 2; ++attempt) {
    const uint32_t item = random.Below(items);
    if (std::binary_search(own.begin(), own.end(), item) || !taken.insert(item).second) continue;
    negatives.emplace_back(oracle.Item(item));
  }
  while (negatives.size() < count) negatives.push_back(fmt::format("never-sent-{:016x}", random.Next()));
  return negatives;
}

}  // namespace seen
