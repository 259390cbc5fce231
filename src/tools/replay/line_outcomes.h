#pragma once
// Which entries of a sequence are done without a gap, and how many of them came to which end.

#include <array>
#include <cstdint>
#include <string>

namespace seen {

enum class LineOutcome : uint8_t { kPending, kSent, kRejected, kSkipped };

struct LineCounts {
  uint64_t sent = 0;
  uint64_t rejected = 0;
  uint64_t skipped = 0;  // the configuration's conditions and kinds leave it out
  uint64_t done() const { return sent + rejected + skipped; }
  LineCounts& operator+=(const LineCounts& other) {
    sent += other.sent;
    rejected += other.rejected;
    skipped += other.skipped;
    return *this;
  }
  friend bool operator==(const LineCounts&, const LineCounts&) = default;
};

/// Entries finish in any order. What stands before the first unfinished one is what a next run leaves out, so
/// the counts are of those alone. One thread.
class LineOutcomes {
 public:
  explicit LineOutcomes(const LineCounts& before = {})
      : counts_(before), done_(before.done()), next_(done_) {}

  uint64_t Begin();  // the new entry's number, from the count of those before on
  void Finish(uint64_t number, LineOutcome outcome);

  const LineCounts& counts() const { return counts_; }  // without a gap
  uint64_t done() const { return done_; }
  uint64_t outstanding() const { return next_ - done_ - finished_ahead_; }

 private:
  LineCounts counts_;
  uint64_t done_;
  uint64_t next_;
  uint64_t finished_ahead_ = 0;  // behind a gap
  std::string outcomes_;         // from done_ - trimmed_ on
  size_t trimmed_ = 0;           // of outcomes_, done and not yet erased
};

}  // namespace seen
