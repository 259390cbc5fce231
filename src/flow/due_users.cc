#include "flow/due_users.h"

#include <algorithm>
#include <utility>

namespace seen {
namespace {
constexpr size_t kPrefetched = 12;  // entries ahead of the current one
constexpr std::chrono::milliseconds kRetryAfter{500};
constexpr std::chrono::milliseconds kRetryAfterMax{60'000};
}  // namespace

void DueUsers::Queue(bool leading, uint32_t number) {
  PublishEntry& entry = table_[number];
  entry.queued = true;
  entry.leading = leading;
  (leading ? leading_ : waiting_).push_back(number);
}

void DueUsers::AddLeading(uint32_t number) {
  if (!table_[number].queued || !table_[number].leading) Queue(true, number);
}

void DueUsers::PutBack(uint32_t number) {
  PublishEntry& entry = table_[number];
  if (std::exchange(entry.queued, true)) return;
  (entry.leading ? leading_ : waiting_).push_front(number);
}

uint32_t DueUsers::Take(Limits& limits) {
  if (limits.leading > 0 && !leading_.empty()) {
    --limits.leading;
    return TakeFront(leading_);
  }
  while (limits.waiting > 0 && !waiting_.empty()) {
    const uint32_t number = TakeFront(waiting_);
    const PublishEntry& entry = table_[number];
    if (!entry.used || !entry.queued || entry.leading) continue;  // see waiting_
    --limits.waiting;
    return number;
  }
  return PublishTable::kNone;
}

uint32_t DueUsers::TakeFront(std::deque<uint32_t>& due) {
  if (due.size() > kPrefetched) table_.PrefetchEntry(due[kPrefetched]);
  const uint32_t number = due.front();
  due.pop_front();
  return number;
}

void DueUsers::Debounce(uint32_t number, Instant until) {
  PublishEntry& entry = table_[number];
  entry.timed = true;
  debounces_[static_cast<size_t>(entry.outlet)].push_back({until, number});
}

void DueUsers::Retry(uint32_t number, size_t doubled, Instant now) {
  const size_t at = std::min(doubled, kDelays - 1);
  retries_[at].push_back({now + std::min(kRetryAfter * (1 << at), kRetryAfterMax), number});
}

void DueUsers::EndDebounce(uint32_t number) {
  PublishEntry& entry = table_[number];
  entry.timed = false;
  if (entry.in_flight) return;  // the acknowledgement decides
  if (!entry.dirty) {
    table_.Remove(number);
  } else if (!entry.waits) {
    Add(number);
  }
}

void DueUsers::Fire(Instant now) {
  for (auto& timers : debounces_) {
    while (!timers.empty() && timers.front().at <= now) {
      if (timers.size() > 2 * kPrefetched) table_.PrefetchEntry(timers[2 * kPrefetched].entry);
      if (timers.size() > kPrefetched) table_.PrefetchIndex(table_[timers[kPrefetched].entry].ref());
      const uint32_t number = timers.front().entry;
      timers.pop_front();
      EndDebounce(number);
    }
  }
  for (auto& retries : retries_) {
    while (!retries.empty() && retries.front().at <= now) {
      const uint32_t number = retries.front().entry;
      retries.pop_front();
      PublishEntry& entry = table_[number];
      entry.retry_set = false;
      if (entry.used && entry.dirty && !entry.in_flight) Add(number);
    }
  }
}

Instant DueUsers::NextAt() const {
  Instant next = Instant::max();
  for (const auto& timers : debounces_) {
    if (!timers.empty()) next = std::min(next, timers.front().at);
  }
  for (const auto& retries : retries_) {
    if (!retries.empty()) next = std::min(next, retries.front().at);
  }
  return next;
}

}  // namespace seen
