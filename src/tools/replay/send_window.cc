#include "tools/replay/send_window.h"

namespace seen {
namespace {
constexpr std::chrono::minutes kRemembered{1};
}  // namespace

void SendWindow::Acknowledged(std::chrono::microseconds latency, uint64_t in_flight, Instant now) {
  const bool is_first = since_ == Instant{};
  if (is_first || now - since_ >= kRemembered) {
    // The run's own queue must not count as the quickest latency. So a narrow window measures it again.
    if (!is_first) size_ = kLeast;
    quickest_before_ = quickest_;
    quickest_ = latency;
    since_ = now;
  }
  quickest_ = std::min(quickest_, latency);
  // The latency of distant brokers varies more.
  const auto latency_max = quickest() + std::max(queueing_max_, quickest() / 2);
  if (latency > latency_max) {
    size_ = std::max(size_ * 2 / 3, kLeast);
  } else if (in_flight >= size_ / 2) {
    size_ = std::min(size_ + kStep, kMost);
  }
}

}  // namespace seen
