#include "run/runner_threads.h"

#include "base/threads.h"

namespace seen {
namespace {
using std::chrono::milliseconds;
constexpr milliseconds kPoll{50};
}  // namespace

RunnerThreads::RunnerThreads(TopicRunner& runner, const std::string& name, int workers, OnFailed on_failed)
    : runner_(runner), on_failed_(std::move(on_failed)) {
  for (int number = 0; number < workers; ++number) {
    workers_.emplace_back([this, number, name] {
      NameThread(name + "-" + std::to_string(number));
      while (!workers_stop_.load(std::memory_order_relaxed)) runner_.StepWorker(number, kPoll);
    });
  }
  control_ = std::thread([this, name] {
    NameThread(name + "-control");
    RunControl();
  });
}

RunnerThreads::~RunnerThreads() { Stop(milliseconds(0)); }

void RunnerThreads::RunControl() {
  bool failed = false;
  while (!stop_.load(std::memory_order_relaxed)) {
    if (failed) {  // the process is about to end
      std::this_thread::sleep_for(kPoll);
      continue;
    }
    if (Status stepped = runner_.StepControl(kPoll); !stepped) {
      failed = true;
      on_failed_(stepped.error());
    }
  }
  runner_.Close(milliseconds(drain_ms_.load()));
}

void RunnerThreads::StopWorkers() {
  runner_.StopWorkers();
  workers_stop_.store(true);
  for (std::thread& worker : workers_) {
    if (worker.joinable()) worker.join();
  }
}

void RunnerThreads::Stop(milliseconds drain) {
  StopWorkers();
  drain_ms_.store(drain.count());
  stop_.store(true);
  if (control_.joinable()) control_.join();
}

}  // namespace seen
