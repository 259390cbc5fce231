#pragma once
// Finds the entries of a sequence that are done without a gap, and counts their outcomes.

#include <array>
#include <cstdint>
#include <string>

namespace seen {

enum class LineOutcome : uint8_t { kPending, kSent, kRejected, kSkipped };

struct LineCounts {
  uint64_t sent = 0;
  uint64_t rejected = 0;
  uint64_t skipped = 0;  // left out by conditions and kinds of the configuration, or by times
  uint64_t done() const { return sent + rejected + skipped; }
  LineCounts& operator+=(const LineCounts& other) {
    sent += other.sent;
    rejected += other.rejected;
    skipped += other.skipped;
    return *this;
  }
  friend bool operator==(const LineCounts&, const LineCounts&) = default;
};

/// Entries finish in any order. The next run skips the entries before the first unfinished one. So the counts
/// cover only those. One thread.
class LineOutcomes {
 public:
  explicit LineOutcomes(const LineCounts& before = {})
      : counts_(before), done_(before.done()), next_(done_) {}

  uint64_t Begin();  // returns the new entry's number; numbers continue after `before`
  void Finish(uint64_t number, LineOutcome outcome);

  const LineCounts& counts() const { return counts_; }  // of the entries done without a gap
  uint64_t done() const { return done_; }
  uint64_t outstanding() const { return next_ - done_ - finished_ahead_; }

 private:
  LineCounts counts_;
  uint64_t done_;
  uint64_t next_;
  uint64_t finished_ahead_ = 0;  // entries that are finished after a gap
  std::string outcomes_;         // begins with entry done_ - trimmed_
  size_t trimmed_ = 0;           // entries at the front of outcomes_: done, not yet erased
};

}  // namespace seen
