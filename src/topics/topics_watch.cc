#include "topics/topics_watch.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/log.h"
#include "model/day.h"

namespace seen {
namespace {
using std::chrono::milliseconds;

constexpr milliseconds kEvery{10'000};
constexpr milliseconds kAgain{
    2'000};                          // a topic isn't there: it counts as missing if it isn't at the next look
constexpr milliseconds kAsk{1'000};  // a stop waits for the answer
}  // namespace

void TopicsWatch::Start() {
  thread_.Start("topics-watch", milliseconds(0), [this] { return Look(); });
}

TopicsWatch::Findings TopicsWatch::Get() const {
  const MutexLock lock(mutex_);
  return findings_;
}

milliseconds TopicsWatch::Look() {
  milliseconds next = kEvery;
  Findings findings = Get();
  for (const TopicNeed& need : needs_) {
    if (thread_.stopping()) return next;
    const std::string& topic = need.spec.name;
    const auto found = admin_.Describe(topic, kAsk, need.spec.used_for);
    const bool is_missing = !found && found.error().code == Code::kNotFound;
    if (!found && !is_missing) continue;  // what was known stays
    // A broker that has just started may not know a topic yet.
    if (is_missing && missing_.insert(topic).second) {
      next = kAgain;
      continue;
    }
    if (found) missing_.erase(topic);
    Note(topic, ProblemsOf(need, found, config_.kafka.brokers));
    if (topic != config_.input.topic || !found) continue;
    findings.input_retention_ms = RetentionMs(*found);
    WarnOfRetention(findings.input_retention_ms);
  }
  findings.problems.clear();
  for (const auto& [topic, problems] : known_)
    findings.problems.insert(findings.problems.end(), problems.begin(), problems.end());
  const MutexLock lock(mutex_);
  findings_ = std::move(findings);
  return next;
}

void TopicsWatch::Note(const std::string& topic, std::vector<TopicProblem> problems) {
  std::vector<TopicProblem>& known = known_[topic];
  for (const TopicProblem& problem : problems) {
    if (std::find(known.begin(), known.end(), problem) == known.end())
      log::Warning("a topic isn't as the daemon needs it", {{"topic", topic}, {"reason", problem.text}});
  }
  if (problems.empty() && !known.empty()) log::Info("a topic is as the daemon needs it", {{"topic", topic}});
  known = std::move(problems);
}

// Not among the problems: with a state topic, a lost disk costs nothing.
void TopicsWatch::WarnOfRetention(std::optional<int64_t> kept_ms) {
  const int32_t window_days = LongestWindowDays(config_);
  const int64_t needed_ms = int64_t{window_days} * kMsPerDay;
  if (!kept_ms || *kept_ms >= needed_ms) return warned_of_ms_.reset();
  if (warned_of_ms_ == kept_ms) return;
  warned_of_ms_ = kept_ms;
  log::Warning("retention of the input topic",
               {{"reason", fmt::format("topic \"{}\" keeps records for {:.1f} days (retention.ms = {}), and "
                                       "the longest window of a filter is {} days: lost state can't be "
                                       "rebuilt in full. Remedy: set the topic's retention.ms to {} or more",
                                       config_.input.topic, static_cast<double>(*kept_ms) / kMsPerDay,
                                       *kept_ms, window_days, needed_ms + kMsPerDay)}});
}

}  // namespace seen
