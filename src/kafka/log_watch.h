#pragma once
// Checks whether a topic's partitions still hold the records that were read from them. Internal to this room.
//
// librdkafka may read on in a topic that was recreated, or read nothing more of it, and report no error. So
// every few seconds another client reads one record of each partition again. It is the record that was the
// last one at the check before. The present last record may already be of another log.

#include <atomic>
#include <chrono>
#include <map>
#include <set>
#include <string>

#include "base/threads.h"
#include "flow/log_port.h"
#include "kafka/record_fetcher.h"

namespace seen {
namespace kafka {

struct LogFinding {
  enum class Kind : uint8_t {
    kSame,      // the record is there
    kReplaced,  // another record is there
    kShorter,   // the log ends before it: it was cut or replaced, or a new leader isn't up to date yet
    kGone,      // retention or compaction deleted it: there is nothing to compare
  };
  Kind kind = Kind::kGone;
  int64_t end = -1;  // of the log; -1: not known
};

struct LogCheckOptions {
  std::string brokers;
  ClientSettings client;
  std::string topic;
};

/// Reads these records again. Creates a client for this call, so what another client believes about the topic
/// doesn't matter. Takes at most `timeout`, and ends soon after `stop` is set. A partition that doesn't
/// answer has no finding. Errors: the client can't be created.
Result<std::map<int32_t, LogFinding>> CheckLogs(const LogCheckOptions& options,
                                                const std::map<int32_t, Anchor>& records,
                                                std::chrono::milliseconds timeout,
                                                const std::atomic<bool>& stop);

}  // namespace kafka

/// Watches the logs that a consumer reads, on a thread of its own.
class LogWatch {
 public:
  LogWatch(const ConsumerLink& link, RecordFetcher& fetcher) : link_(link), fetcher_(fetcher) {}
  void Start();
  void Stop() { thread_.Stop(); }

 private:
  struct Question {
    Anchor sample;  // to be compared
    Anchor last;    // the next sample
  };
  /// Reads the samples again, and sets the notices that are due. Returns when to do so again.
  std::chrono::milliseconds Look();
  std::map<int32_t, Question> MakeQuestions();
  /// True: the log seems too short; ask again soon.
  bool NoteFinding(int32_t partition, const Question& asked, const kafka::LogFinding& finding);

  const ConsumerLink& link_;
  RecordFetcher& fetcher_;
  // The thread's own, of the last check.
  std::set<int32_t> shorter_;  // whose log ended before the sample
  std::map<int32_t, int64_t> next_offsets_;
  RepeatingThread thread_;
};

}  // namespace seen
