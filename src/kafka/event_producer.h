#pragma once
// Sends single events to a topic. Each event is answered: its position once all replicas have it, or the
// reason why not.

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

/// acks=all. Connects with the first event. A retry may duplicate an event. Any thread.
class EventProducer {
 public:
  struct Options {
    std::string brokers;
    ClientSettings client;
    std::string topic;
    Partitioner partitioner = Partitioner::kMurmur2;
    // The number of partitions that keys map to. If the topic gained partitions, users stay where they are.
    // 0: all partitions of the topic.
    int32_t partitions = 0;
    std::chrono::milliseconds within{5'000};  // from Send to its answer, plus or minus a second
    size_t outstanding_max = 1'000;
  };
  explicit EventProducer(const Options& options);
  ~EventProducer();  // calls Stop
  EventProducer(const EventProducer&) = delete;
  EventProducer& operator=(const EventProducer&) = delete;

  /// Runs `done` once, from any thread, maybe before Send returns. `done` must not block. kUnavailable: not
  /// known to have been written, try again; kInvalidArgument: the event is too large for the topic; kRefused,
  /// kNotFound: an error of the topic.
  /// `timestamp`: the record's; 0: now.
  void Send(std::string_view key, std::string_view value, ChangePort::Done done, TimeMs timestamp = {});

  /// Answers outstanding events, and all events that come later, with kUnavailable.
  void Stop();

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace seen
