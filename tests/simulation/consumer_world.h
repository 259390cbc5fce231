#pragma once
// What the worlds around one TopicConsumer share: a fake log, partitions that come and go, and crashes. At
// rest all that a partition lacks must be one of its own faults.

#include <cstdint>
#include <map>
#include <memory>
#include <random>
#include <set>
#include <string>

#include "consume/topic_consumer.h"
#include "support/fake_group_log.h"
#include "support/fakes.h"

namespace seen::sim {

class ConsumerWorld : public ConsumerWait {
 public:
  /// Returns the problem found; empty: none.
  std::string Run() {
    for (int step = 0; step < steps_ && problem_.empty(); ++step) {
      Step();
      if (Chance(3)) Crash();
    }
    if (problem_.empty()) problem_ = CheckAtRest();
    return problem_;
  }

  int crashes = 0, refused = 0;
  uint64_t lost = 0;

 protected:
  ConsumerWorld(uint64_t seed, int32_t partitions, int steps, int steps_to_rest)
      : random_(seed),
        topic_{partitions},
        partitions_(partitions),
        steps_(steps),
        steps_to_rest_(steps_to_rest) {
    for (int32_t partition = 0; partition < partitions; ++partition) mine_.insert(partition);
  }

  virtual void Step() = 0;
  virtual void Crash() = 0;
  /// Ends all faults that may end.
  virtual void Mend() = 0;
  virtual void StepAtRest() = 0;
  /// The partitions that are not read any more, and why.
  virtual std::map<int32_t, std::string> Stopped() = 0;
  /// Returns what is wrong with a partition that must be whole; empty: nothing.
  virtual std::string CheckPartition(int32_t partition) = 0;

  bool Chance(uint64_t percent) { return random_() % 100 < percent; }
  int32_t Any() { return static_cast<int32_t>(random_() % static_cast<uint64_t>(partitions_)); }
  static std::string Name(int32_t partition) { return "partition " + std::to_string(partition); }
  static bool Stops(Code code) { return code == Code::kRefused || code == Code::kCorrupt; }

  void Start(const TopicConsumer::Options& run, TopicHandler& handler, int workers) {
    runner_ = std::make_unique<TopicConsumer>(run, handler, *this, clock_);
    log_ = std::make_unique<FakeGroupLog>(topic_, *runner_, workers, 1 + random_() % 40);
    runner_->SetLog(*log_);
    log_->Assign({mine_.begin(), mine_.end()});
  }
  /// A crash, or the end of the world. The handler goes after it.
  void Stop() {
    ++crashes;
    log_->Crash();
    log_.reset();
    runner_.reset();
  }
  void Control() {
    if (Status stepped = runner_->StepControl(kNoWait); !stepped)
      problem_ = "ended: " + stepped.error().message;
  }
  void Rebalance() {
    const int32_t partition = Any();
    if (mine_.erase(partition) > 0) {
      log_->Revoke({partition}, Chance(30));
    } else {
      mine_.insert(partition);
      log_->Assign({partition});
    }
    Control();
  }

  static constexpr std::chrono::milliseconds kNoWait{0};
  std::mt19937_64 random_;
  VirtualClock clock_;
  FakeTopic topic_;
  std::set<int32_t> mine_;
  std::set<int32_t> bad_;  // may be refused
  std::string problem_;
  std::unique_ptr<TopicConsumer> runner_;
  std::unique_ptr<FakeGroupLog> log_;

 private:
  std::string CheckAtRest() {
    Mend();
    log_->SetReachable(true);
    for (int32_t partition = 0; partition < partitions_; ++partition) {
      if (mine_.insert(partition).second) log_->Assign({partition});
    }
    for (int step = 0; step < steps_to_rest_ && problem_.empty(); ++step) {
      Control();
      StepAtRest();
      clock_.Advance(100);
    }
    if (!problem_.empty()) return problem_;
    const std::map<int32_t, std::string> stopped = Stopped();
    for (int32_t partition = 0; partition < partitions_; ++partition) {
      const auto reason = stopped.find(partition);
      if (bad_.contains(partition)) {
        refused += reason != stopped.end() ? 1 : 0;
        continue;
      }
      if (reason != stopped.end()) return Name(partition) + " is harmed: " + reason->second;
      if (std::string wrong = CheckPartition(partition); !wrong.empty())
        return Name(partition) + ": " + wrong;
    }
    return "";
  }

  const int32_t partitions_;
  const int steps_, steps_to_rest_;
};

}  // namespace seen::sim
