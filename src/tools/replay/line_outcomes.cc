#include "tools/replay/line_outcomes.h"

#include "base/result.h"

namespace seen {

uint64_t LineOutcomes::Begin() {
  outcomes_.push_back(static_cast<char>(LineOutcome::kPending));
  return next_++;
}

void LineOutcomes::Finish(uint64_t number, LineOutcome outcome) {
  Check(number >= done_ && number < next_, "an entry finishes once, after it began");
  Check(outcome != LineOutcome::kPending, "an entry finishes with an outcome");
  char& place = outcomes_[static_cast<size_t>(number - done_) + trimmed_];
  Check(place == static_cast<char>(LineOutcome::kPending), "an entry finishes once");
  place = static_cast<char>(outcome);
  ++finished_ahead_;
  while (trimmed_ < outcomes_.size() && outcomes_[trimmed_] != static_cast<char>(LineOutcome::kPending)) {
    const auto ended = static_cast<LineOutcome>(outcomes_[trimmed_]);
    counts_.sent += ended == LineOutcome::kSent ? 1 : 0;
    counts_.rejected += ended == LineOutcome::kRejected ? 1 : 0;
    counts_.skipped += ended == LineOutcome::kSkipped ? 1 : 0;
    ++trimmed_;
    ++done_;
    --finished_ahead_;
  }
  if (trimmed_ > 65'536 && trimmed_ * 2 > outcomes_.size()) {
    outcomes_.erase(0, trimmed_);
    trimmed_ = 0;
  }
}

}  // namespace seen
