#pragma once
// Looks again and again at the topics that the daemon uses: whether they are there, and have the settings
// that the daemon needs. topics/topic_needs.h has the table.

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/mutex.h"
#include "base/threads.h"
#include "kafka/admin.h"
#include "topics/topic_needs.h"

namespace seen {

class TopicsWatch {
 public:
  struct Findings {
    std::vector<TopicProblem> problems;
    std::optional<int64_t> input_retention_ms;  // nullopt: unlimited, or not known
  };
  /// `partitions`: that users map to. `admin` and `config` outlive this object.
  TopicsWatch(const Config& config, const Admin& admin, int32_t partitions)
      : config_(config), admin_(admin), needs_(TopicNeeds(config, partitions)) {}

  /// Looks on a thread of its own. Call it once.
  void Start();
  void Stop() { thread_.Stop(); }
  /// Any thread.
  Findings Get() const;

 private:
  std::chrono::milliseconds Look();
  void Note(const std::string& topic, std::vector<TopicProblem> problems);
  void WarnOfRetention(std::optional<int64_t> kept_ms);

  const Config& config_;
  const Admin& admin_;
  const std::vector<TopicNeed> needs_;
  // The thread's own.
  std::map<std::string, std::vector<TopicProblem>> known_;  // by topic, as last found
  std::set<std::string> missing_;                           // that the last look didn't find
  std::optional<int64_t> warned_of_ms_;
  mutable Mutex mutex_;
  Findings findings_ GUARDED_BY(mutex_);
  RepeatingThread thread_;
};

}  // namespace seen
