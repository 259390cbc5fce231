#pragma once
// Copies input that has the wrong keys to a topic with the right keys. A separate consumer group, shared by
// the daemons of one group, reads the source topic. Connects consume/rekey_handler.h to Kafka.

#include <functional>
#include <memory>

#include "config/config.h"
#include "consume/consumer_threads.h"
#include "consume/rekey_handler.h"
#include "kafka/consumer.h"
#include "kafka/dead_letter_producer.h"
#include "kafka/keyed_producer.h"

namespace seen {

class Rekeying {
 public:
  /// Called when the process can't go on.
  using OnFailed = std::function<void(const Error&)>;
  /// Makes a keyer. The flow of each partition has its own.
  using MakeKeyer = std::function<RecordKeyer()>;
  struct Options {
    const Config* config = nullptr;
    std::string source_topic;
    std::string keyed_topic;
    std::string_view topic_key;  // the configuration key that names the topic; a constant
    std::string group_id;
    uint64_t record_bytes_max = 1 << 20;  // limit of a record's value
    MakeKeyer make_keyer;
    std::string instance_id;
    bool watch_owners = false;  // see Consumer::Options
    bool rebuild = false;       // reads a source that ends before the committed offset from its start
    int workers = 1;
    size_t keyed_message_bytes_max = 1 << 20;  // limit of the keyed topic
    uint64_t fetch_bytes_max = 0;
    uint64_t dead_letter_bytes_max = 0;
    uint64_t producer_bytes_max = 0;
  };
  /// Options for events keyed by user, as configured. The caller fills in the rest.
  static Options ForEvents(const Config& config, const std::shared_ptr<const EventPlan>& plan);
  using Readers = RekeyHandler::Readers;
  /// `readers`: its pointers are nullptr if no reader waits for re-keying.
  static Result<std::unique_ptr<Rekeying>> Start(const Options& options, const Readers& readers,
                                                 RekeyReporter& reporter, const Clock& clock,
                                                 OnFailed on_failed);
  ~Rekeying();  // calls Stop
  Rekeying(const Rekeying&) = delete;
  Rekeying& operator=(const Rekeying&) = delete;

  /// Stops reading, waits up to `drain` for records under way, commits and leaves the group. Idempotent, one
  /// thread.
  void Stop(std::chrono::milliseconds drain);
  /// Any thread.
  RekeyingStatus GetStatus() const;

 private:
  explicit Rekeying(const Options& options) : options_(options) {}
  Status OpenProducers(RekeyReporter& reporter);
  Status Run(const Readers& readers, RekeyReporter& reporter, const Clock& clock, OnFailed on_failed);

  const Options options_;
  SpaceSignal room_;
  std::unique_ptr<DeadLetterProducer> dead_letters_;
  std::unique_ptr<RekeyHandler> handler_;
  std::unique_ptr<KeyedProducer> producer_;  // calls the handler
  std::unique_ptr<TopicConsumer> topic_consumer_;
  std::unique_ptr<Consumer> consumer_;  // calls the topic_consumer
  std::unique_ptr<ConsumerThreads> threads_;
};

}  // namespace seen
