#include "flow/replay_runs.h"

#include <algorithm>

namespace seen {

void ReplayRuns::Changed() {
  count_ = runs_.size();
  holds_ = std::any_of(runs_.begin(), runs_.end(), [](const Run& run) { return !run.publishes_live; });
}

void ReplayRuns::Note(const ReplayNote& note, Instant now) {
  const MutexLock lock(mutex_);
  const auto found =
      std::find_if(runs_.begin(), runs_.end(), [&](const Run& run) { return run.name == note.run; });
  if (note.kind == ReplayNote::Kind::kEnd) {
    if (found == runs_.end()) return;
    runs_.erase(found);
    return Changed();
  }
  if (found != runs_.end()) {
    found->heard = now;
    return;
  }
  if (runs_.size() == kRunsMax) return;
  runs_.push_back({std::string(note.run), note.publishes_live, now});
  Changed();
}

void ReplayRuns::EndIdle(Instant now) {
  if (count_ == 0) return;
  const MutexLock lock(mutex_);
  if (std::erase_if(runs_, [&](const Run& run) { return now - run.heard >= idle_; }) > 0) Changed();
}

bool ReplayRuns::Defers(const ReplayNote& note) const {
  if (!holds_ || note.publishes_live) return false;
  const MutexLock lock(mutex_);
  return std::any_of(runs_.begin(), runs_.end(), [&](const Run& run) { return run.name == note.run; });
}

std::vector<std::string> ReplayRuns::Names() const {
  const MutexLock lock(mutex_);
  std::vector<std::string> names;
  names.reserve(runs_.size());
  for (const Run& run : runs_) names.push_back(run.name);
  return names;
}

}  // namespace seen
