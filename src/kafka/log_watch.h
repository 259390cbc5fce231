#pragma once
// Checks whether a topic's partitions still hold the records that were read from them: in the stream,
// whenever the log may have become another one, and every few seconds with another client. Internal to this
// room.
//
// librdkafka may read on in a topic that was recreated, or read nothing more of it, and report no error. So
// another client reads one record of each partition again. It is the record that was the
// last one at the check before. The present last record may already be of another log.

#include <atomic>
#include <chrono>
#include <map>
#include <set>
#include <string>

#include "base/clock.h"
#include "base/mutex.h"
#include "base/threads.h"
#include "flow/log_port.h"
#include "kafka/rdkafka_handles.h"

namespace seen {

class ConsumerLink;
class RecordFetcher;

/// What the reader of a partition remembers of its log. After an outage, an error of the partition, or
/// another leader epoch, the log may not be the one that was read. Then reading goes back to the last record
/// delivered, and compares it. Guarded by the mutex of the partition's worker.
struct LogMemory {
  Anchor last;                // the last record delivered
  Anchor sample;              // `last` of some time ago, for LogWatch
  bool checking = false;      // reading goes back to `last`
  bool replaced = false;      // the log is another one, and no handler knows it yet
  uint64_t outages_seen = 0;  // the value of ConsumerLink::outages seen last
  int32_t leader_epoch = -1;  // of the records; -1: not known

  void Begin(const Anchor& last_read, uint64_t outages);
  void Delivered(const Anchor& record);
  /// The caller may read again because the log is another one. So older anchors don't count any more.
  void Seek(int64_t offset);
  /// Whether `last` must be compared before this record counts.
  bool Doubts(const rd_kafka_message_t& record, uint64_t outages);
  enum class Verdict : uint8_t {
    kDrop,     // the message is older than `last`, or the log is shorter for now
    kDeliver,  // the message counts: it is an error, or `last` is gone and can't be compared
    kSame,
    kReplaced,
  };
  /// Judges the next message while `checking`.
  Verdict Compare(const rd_kafka_message_t& message);
};

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
  /// Whether a check that began at `since` or later didn't show another log. If none did, one begins soon.
  /// Any thread.
  bool IsChecked(int32_t partition, Instant since);

 private:
  struct Question {
    Anchor sample;  // to be compared
    Anchor last;    // the next sample
  };
  /// Reads the samples again, and sets the notices that are due. Returns when to do so again.
  std::chrono::milliseconds Look();
  /// Of partitions that nothing was read from, there is nothing to compare: notes that they are checked.
  std::map<int32_t, Question> MakeQuestions(Instant began);
  void NoteChecked(int32_t partition, Instant began);
  /// True: the log seems too short; ask again soon.
  bool NoteFinding(int32_t partition, const Question& asked, const kafka::LogFinding& finding);

  const ConsumerLink& link_;
  RecordFetcher& fetcher_;
  std::atomic<bool> is_wanted_{false};  // a check
  Mutex checked_mutex_;
  std::map<int32_t, Instant> checked_at_ GUARDED_BY(checked_mutex_);  // when the last check began
  // The thread's own, of the last check.
  Instant looked_at_{};
  Instant look_at_{};
  std::set<int32_t> shorter_;  // whose log ended before the sample
  std::map<int32_t, int64_t> next_offsets_;
  RepeatingThread thread_;
};

}  // namespace seen
