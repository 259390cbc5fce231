#pragma once
// Single events into a topic, each answered for: where it stands once all replicas have it, or why not.

#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "base/result.h"
#include "flow/change_port.h"
#include "kafka/client_settings.h"
#include "model/partitioner.h"

namespace seen {

/// acks=all. Connects with the first event. A retry may double an event. Any thread.
class EventProducer {
 public:
  struct Options {
    std::string brokers;
    ClientSettings client;
    std::string topic;
    Partitioner partitioner = Partitioner::kMurmur2;
    // That keys map to: a topic that gained partitions keeps its users where they are. 0: all of the topic's.
    int32_t partitions = 0;
    std::chrono::milliseconds within{5'000};  // from Send to its answer, give or take a second
    size_t outstanding_max = 1'000;
  };
  explicit EventProducer(const Options& options);
  ~EventProducer();  // Stop
  EventProducer(const EventProducer&) = delete;
  EventProducer& operator=(const EventProducer&) = delete;

  /// Runs `done` once, maybe before it returns, from any thread; it must not block. kUnavailable: not known
  /// to have been written, try again; kInvalidArgument: the topic takes no event so large; kRefused,
  /// kNotFound: the topic.
  void Send(std::string_view key, std::string_view value, ChangePort::Done done);

  /// Answers what is outstanding, and all that comes after it, with kUnavailable.
  void Stop();

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace seen
