#pragma once
// What the daemon's topics lose: one watch for each topic that this daemon reads events or items from.

#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "config/config.h"
#include "flow/loss_watch.h"

namespace seen {

class LossWatches {
 public:
  /// `clock` outlives this.
  LossWatches(const Config& config, const Clock& clock);

  LossWatch& input() { return *input_; }
  LossWatch* source() { return source_.get(); }  // nullptr: the input is keyed by user
  LossWatch* items() { return items_.get(); }    // nullptr: there are none
  /// Any thread.
  std::vector<TopicLoss> Look() const;
  /// Logs each trouble when it begins, and when it has ended. One thread.
  void LogChanges(const std::vector<TopicLoss>& losses);

 private:
  std::unique_ptr<LossWatch> input_;
  std::unique_ptr<LossWatch> source_;
  std::unique_ptr<LossWatch> items_;
  std::set<std::pair<std::string, LossCause>> logged_;  // troubles that haven't ended
};

}  // namespace seen
