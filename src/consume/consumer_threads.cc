#include "consume/consumer_threads.h"

#include "base/threads.h"

namespace seen {
namespace {
using std::chrono::milliseconds;
constexpr milliseconds kPoll{50};
}  // namespace

ConsumerThreads::ConsumerThreads(TopicConsumer& topic_consumer, const std::string& name, int workers,
                                 OnFailed on_failed)
    : topic_consumer_(topic_consumer), on_failed_(std::move(on_failed)) {
  for (int number = 0; number < workers; ++number) {
    workers_.emplace_back([this, number, name] {
      NameThread(name + "-" + std::to_string(number));
      while (!workers_stop_.load(std::memory_order_relaxed)) topic_consumer_.StepWorker(number, kPoll);
    });
  }
  control_ = std::thread([this, name] {
    NameThread(name + "-control");
    RunControl();
  });
}

ConsumerThreads::~ConsumerThreads() { Stop(milliseconds(0)); }

void ConsumerThreads::RunControl() {
  bool failed = false;
  while (!stop_.load(std::memory_order_relaxed)) {
    if (failed) {  // the process is about to end
      std::this_thread::sleep_for(kPoll);
      continue;
    }
    if (Status stepped = topic_consumer_.StepControl(kPoll); !stepped) {
      failed = true;
      on_failed_(stepped.error());
    }
  }
  topic_consumer_.Close(milliseconds(drain_ms_.load()));
}

void ConsumerThreads::StopWorkers() {
  topic_consumer_.StopWorkers();
  workers_stop_.store(true);
  for (std::thread& worker : workers_) {
    if (worker.joinable()) worker.join();
  }
}

void ConsumerThreads::Stop(milliseconds drain) {
  StopWorkers();
  drain_ms_.store(drain.count());
  stop_.store(true);
  if (control_.joinable()) control_.join();
}

}  // namespace seen
