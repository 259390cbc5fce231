#include <gtest/gtest.h>

#include <future>

#include "base/threads.h"

namespace seen {
namespace {

using std::chrono::hours;
using std::chrono::milliseconds;

TEST(RepeatingThreadTest, RepeatsTheStepUntilItIsStopped) {
  std::promise<void> third;
  int steps = 0;
  RepeatingThread thread;
  thread.Start("repeats", milliseconds(0), [&] {
    if (++steps == 3) third.set_value();
    return milliseconds(1);
  });
  third.get_future().wait();
  thread.Stop();
  EXPECT_GE(steps, 3);
  const int at_stop = steps;
  thread.Stop();
  EXPECT_EQ(steps, at_stop);
}

TEST(RepeatingThreadTest, AStopEndsTheFirstWait) {
  bool stepped = false;
  RepeatingThread thread;
  thread.Start("waits", hours(1), [&] {
    stepped = true;
    return milliseconds(0);
  });
  thread.Stop();  // hangs if Stop doesn't end the wait
  EXPECT_FALSE(stepped);
}

TEST(RepeatingThreadTest, AStopEndsTheWaitThatAStepAskedFor) {
  std::promise<void> first;
  int steps = 0;
  RepeatingThread thread;
  thread.Start("waits", milliseconds(0), [&] {
    ++steps;
    first.set_value();
    return hours(1);
  });
  first.get_future().wait();
  thread.Stop();
  EXPECT_EQ(steps, 1);
}

TEST(RepeatingThreadTest, AStepSeesThatItShouldEnd) {
  std::promise<void> began;
  RepeatingThread thread;
  thread.Start("long", milliseconds(0), [&] {
    began.set_value();
    while (!thread.stopping()) std::this_thread::yield();
    return hours(1);
  });
  began.get_future().wait();
  thread.Stop();  // hangs if the step doesn't see the stop
}

TEST(RepeatingThreadTest, OneThatWasNeverStartedStops) {
  RepeatingThread thread;
  thread.Stop();
  EXPECT_TRUE(thread.stopping());
}

}  // namespace
}  // namespace seen
