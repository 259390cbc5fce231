#pragma once
// A bound on the bytes of everything that is in flight.

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace seen {

/// Thread-safe; never waits.
class ByteBudget {
 public:
  /// `whole`: outlives this. Bytes that are taken here are taken there too. With a whole, the first to take
  /// may have more than `total`, as far as the whole has room. Otherwise a body that fits into the whole
  /// could be too long for the part.
  explicit ByteBudget(size_t total, ByteBudget* whole = nullptr) : total_(total), whole_(whole) {}
  ByteBudget(const ByteBudget&) = delete;
  ByteBudget& operator=(const ByteBudget&) = delete;

  /// False: so many bytes aren't left now. Refusals are counted.
  bool Take(size_t bytes) {
    size_t taken = taken_.load(std::memory_order_relaxed);
    do {
      const bool fits = taken <= total_ && bytes <= total_ - taken;
      if (!fits && (whole_ == nullptr || taken > 0)) {
        refused_.fetch_add(1, std::memory_order_relaxed);
        return false;
      }
    } while (!taken_.compare_exchange_weak(taken, taken + bytes, std::memory_order_relaxed));
    if (whole_ == nullptr || whole_->Take(bytes)) return true;
    taken_.fetch_sub(bytes, std::memory_order_relaxed);
    return false;
  }
  void GiveBack(size_t bytes) {
    taken_.fetch_sub(bytes, std::memory_order_relaxed);
    if (whole_ != nullptr) whole_->GiveBack(bytes);
  }

  size_t total() const { return total_; }
  size_t taken() const { return taken_.load(std::memory_order_relaxed); }
  uint64_t refused_total() const { return refused_.load(std::memory_order_relaxed); }

 private:
  const size_t total_;
  ByteBudget* const whole_;
  std::atomic<size_t> taken_{0};
  std::atomic<uint64_t> refused_{0};
};

/// The bytes that one holder has taken of a budget. The budget outlives its holders. One thread.
class BudgetShare {
 public:
  explicit BudgetShare(ByteBudget& budget) : budget_(budget) {}
  ~BudgetShare() { GiveBack(); }
  BudgetShare(const BudgetShare&) = delete;
  BudgetShare& operator=(const BudgetShare&) = delete;

  /// False: the budget doesn't have that many bytes now; what is held stays.
  bool GrowTo(size_t bytes) {
    if (bytes <= held_) return true;
    if (!budget_.Take(bytes - held_)) return false;
    held_ = bytes;
    return true;
  }
  void GiveBack() {
    budget_.GiveBack(held_);
    held_ = 0;
  }
  size_t held() const { return held_; }
  const ByteBudget& budget() const { return budget_; }

 private:
  ByteBudget& budget_;
  size_t held_ = 0;
};

}  // namespace seen
