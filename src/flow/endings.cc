#include "flow/endings.h"

#include <algorithm>

#include "flow/publish_flow.h"

namespace seen {
namespace {
constexpr size_t kEndingsPage = 256;
constexpr std::chrono::milliseconds kEvery{500};
constexpr uint32_t kAheadS = 60;
}  // namespace

Status Endings::Step(Instant now, TimeMs wall) {
  if (!publishes_ || now - read_at_ < kEvery || !publish_.TakesMore(kEndingsPage)) return {};
  const uint32_t until = SecondOf(wall);
  std::optional<Ending> after;
  uint64_t round = 0;
  {
    const MutexLock lock(mutex_);
    FollowBackTo(until);
    if (until < next_) {
      done_ = std::max(done_, until + 1);
      read_at_ = now;
      return {};
    }
    after = after_;
    round = round_;
  }
  const auto page = store_.ScanEndings(after, until, kEndingsPage);
  if (!page) return Fail(page.error());
  due_.clear();
  for (const Ending& ending : *page) due_.push_back(ending.user);
  publish_.AddDue(due_, now);
  due_count_.fetch_add(page->size(), std::memory_order_relaxed);
  if (page->size() < kEndingsPage) read_at_ = now;  // else the next page is read at once
  const Result<uint32_t> next = page->empty() ? Next(after, until) : 0;
  if (!next) return Fail(next.error());
  const MutexLock lock(mutex_);
  // A checkpoint added endings that the page may lack: the page is read again.
  if (round_ != round) return {};
  next_ = *next;
  if (!page->empty()) after_ = page->back();
  // A full page may lack endings of its last second.
  done_ = std::max(done_, page->size() < kEndingsPage ? until + 1 : page->back().at_s);
  if (!page->empty()) has_changes_.store(true, std::memory_order_release);
  return {};
}

// The second before which there are no endings, unless a checkpoint adds some.
Result<uint32_t> Endings::Next(const std::optional<Ending>& after, uint32_t until) const {
  const uint32_t ahead = until + kAheadS;
  const auto next = store_.ScanEndings(after, ahead, 1);
  if (!next) return Fail(next.error());
  return next->empty() ? ahead + 1 : next->front().at_s;
}

void Endings::FollowBack(TimeMs wall) {
  const MutexLock lock(mutex_);
  FollowBackTo(SecondOf(wall));
}

void Endings::FollowBackTo(uint32_t now_s) {
  if (done_ <= now_s + 1) return;
  done_ = now_s + 1;
  after_.reset();
  next_ = 0;
}

uint32_t Endings::ServedSecond(TimeMs wall) const {
  return std::max(SecondOf(wall), std::max(ended(), 1U) - 1);
}

uint32_t Endings::ended() const {
  const MutexLock lock(mutex_);
  return ended_;
}

void Endings::Opened(uint32_t ended) {
  const MutexLock lock(mutex_);
  ended_ = std::max(ended_, ended);
}

Status Endings::Begin(Checkpoint& checkpoint, CheckpointWriter&) {
  const MutexLock lock(mutex_);
  // A clock that is ahead makes users due too soon; their endings stay for the right moment.
  written_ = std::min(done_, SecondOf(checkpoint.position.partition_time));
  ended_ = std::max(ended_, written_);
  has_changes_.store(false, std::memory_order_release);
  return {};
}

Status Endings::Write(Checkpoint& checkpoint, CheckpointWriter& writer) {
  uint32_t done = 0;
  {
    const MutexLock lock(mutex_);
    if (written_ > dropped_) done = written_;
  }
  if (done > 0) {
    if (Status dropped = writer.DropEndings(done); !dropped) return dropped;
  }
  // Endings before `done` are dropped. An ending that comes so late is added at `done`, so it ends at once.
  auto& endings = checkpoint.endings;
  for (Ending& ending : endings) ending.at_s = std::max(ending.at_s, done);
  std::sort(endings.begin(), endings.end());
  endings.erase(std::unique(endings.begin(), endings.end()), endings.end());
  for (const Ending& ending : endings) {
    if (Status added = writer.AddEnding(ending); !added) return added;
  }
  return {};
}

void Endings::Committed(const Checkpoint& checkpoint) {
  Written(checkpoint.endings);
  const MutexLock lock(mutex_);
  dropped_ = std::max(dropped_, written_);
}

void Endings::KeepNotDone(std::vector<Ending>& endings) const {
  const MutexLock lock(mutex_);
  std::erase_if(endings, [&](const Ending& ending) REQUIRES(mutex_) { return ending.at_s < dropped_; });
}

void Endings::Written(std::span<const Ending> endings) {
  if (endings.empty()) return;
  const MutexLock lock(mutex_);
  // If the endings came late, the scan has passed their seconds without them. Then it must go back.
  const uint32_t earliest = endings.front().at_s;
  ++round_;
  next_ = 0;
  done_ = std::min(done_, earliest);
  if (after_ && earliest <= after_->at_s) after_.reset();
}

}  // namespace seen
