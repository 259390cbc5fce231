#include <gtest/gtest.h>

#include "tools/replay/lag_pacer.h"

namespace seen {
namespace {

using std::chrono::microseconds;
using std::chrono::milliseconds;

/// Brokers that need `service` for each record, one record after the other, and `transit` for the way.
class Brokers {
 public:
  Brokers(SendWindow& window, microseconds transit, microseconds service)
      : window_(window), transit_(transit), service_(service) {}

  void MoveAway(microseconds transit) { transit_ = transit; }
  /// Keeps the window full all the time.
  void Run(int round_trips) {
    for (int i = 0; i < round_trips; ++i) {
      const microseconds latency = transit_ + service_ * static_cast<int64_t>(window_.size());
      now_ += latency;
      window_.Acknowledged(latency, window_.size(), now_);
    }
  }

 private:
  SendWindow& window_;
  microseconds transit_;
  const microseconds service_;
  Instant now_{std::chrono::hours(1)};
};

TEST(SendWindow, GrowsWhileNothingQueues) {
  SendWindow window(milliseconds(10));
  Instant now{std::chrono::hours(1)};
  for (int i = 0; i < 10'000; ++i)
    window.Acknowledged(milliseconds(2), window.size(), now += milliseconds(2));
  EXPECT_EQ(window.size(), SendWindow::kMost);
  EXPECT_EQ(window.quickest(), milliseconds(2));
}

TEST(SendWindow, NarrowsByAThirdWhereSomethingQueues) {
  SendWindow window(milliseconds(10));
  const Instant now{std::chrono::hours(1)};
  window.Acknowledged(milliseconds(2), window.size(), now);
  const size_t before = window.size();
  window.Acknowledged(milliseconds(12), window.size(), now);
  EXPECT_EQ(window.size(), before + SendWindow::kStep) << "as long as it may take";
  window.Acknowledged(microseconds(12'001), window.size(), now);
  EXPECT_EQ(window.size(), (before + SendWindow::kStep) * 2 / 3);
  for (int i = 0; i < 100; ++i) window.Acknowledged(milliseconds(50), window.size(), now);
  EXPECT_EQ(window.size(), SendWindow::kLeast) << "a replay never stands still for good";
}

TEST(SendWindow, DoesntGrowWhereItIsntUsed) {
  SendWindow window(milliseconds(10));
  const Instant now{std::chrono::hours(1)};
  for (int i = 0; i < 100; ++i) window.Acknowledged(milliseconds(2), SendWindow::kFirst / 2 - 1, now);
  EXPECT_EQ(window.size(), SendWindow::kFirst) << "something else bounds the rate";
  window.Acknowledged(milliseconds(2), SendWindow::kFirst / 2, now);
  EXPECT_EQ(window.size(), SendWindow::kFirst + SendWindow::kStep);
}

TEST(SendWindow, FarBrokersMayTakeHalfAsLongAgain) {
  SendWindow window(milliseconds(10));
  const Instant now{std::chrono::hours(1)};
  window.Acknowledged(milliseconds(100), window.size(), now);
  const size_t before = window.size();
  window.Acknowledged(milliseconds(150), window.size(), now);
  EXPECT_EQ(window.size(), before + SendWindow::kStep);
  window.Acknowledged(microseconds(150'001), window.size(), now);
  EXPECT_LT(window.size(), before);
}

TEST(SendWindow, KeepsTheQueueShortForHours) {
  SendWindow window(milliseconds(10));
  Brokers brokers(window, milliseconds(2), microseconds(5));
  for (int minute = 0; minute < 300; ++minute) {
    brokers.Run(6'000);
    const microseconds queue = microseconds(5) * static_cast<int64_t>(window.size());
    EXPECT_LT(queue, milliseconds(20)) << "its own queue doesn't pass for the quickest time";
    EXPECT_GT(queue, milliseconds(2)) << "and the brokers have work";
  }
}

TEST(SendWindow, FollowsBrokersThatBecomeSlower) {
  SendWindow window(milliseconds(10));
  Brokers brokers(window, milliseconds(2), microseconds(1));
  brokers.Run(10'000);
  brokers.MoveAway(milliseconds(40));
  brokers.Run(10);
  EXPECT_LT(window.size(), SendWindow::kFirst) << "slower than ever: that is a queue";
  brokers.Run(10'000);
  EXPECT_GT(window.size(), SendWindow::kFirst) << "for minutes: that is how they are";
}

}  // namespace
}  // namespace seen
