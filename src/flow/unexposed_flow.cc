#include "flow/unexposed_flow.h"

#include <algorithm>
#include <iterator>
#include <limits>
#include <map>

#include "model/delta.h"

namespace seen {
namespace {
constexpr size_t kServedAPage = 256;
constexpr size_t kUnderWayMax = 4096;

// Whether an exposure that was read in time resolves the item as it was served in `bucket`. The exposure may
// be in that bucket or later.
bool Resolves(const Delta& delta, Fingerprint item, uint32_t bucket, const UnexposedPolicy& policy) {
  const int64_t served_from = int64_t{bucket} * policy.width_s;
  for (const OtherSegment& segment : delta.others) {
    if (segment.kind != SegmentKind::kResolving) continue;
    const auto start = static_cast<int64_t>(segment.StartSecond());
    if (start + segment.width_s <= served_from) continue;
    const auto found = std::lower_bound(segment.fingerprints.begin(), segment.fingerprints.end(), item);
    if (found == segment.fingerprints.end() || *found != item) continue;
    const uint32_t after = segment.times[static_cast<size_t>(found - segment.fingerprints.begin())];
    if (start + after <= policy.DueOf(bucket)) return true;
  }
  return false;
}
}  // namespace

Status UnexposedFlow::Step(TimeMs partition_time, SnapshotSink& sink, uint64_t ticket_tag) {
  // Due means that partition time has passed it.
  const auto due_s = static_cast<uint32_t>(
      std::clamp<int64_t>(partition_time.value / 1000, 0, std::numeric_limits<uint32_t>::max()));
  uint64_t round = 0;
  {
    const MutexLock lock(mutex_);
    round = round_;
  }
  // Rows come only with a checkpoint, and partition time moves with it.
  bool all_read = due_s == read_s_ && round == read_round_;
  while (in_flight_.size() < kUnderWayMax) {
    if (to_send_.empty()) {
      if (all_read) break;
      std::optional<ServedRow> after;
      {
        const MutexLock lock(mutex_);
        after = after_;
        round = round_;
      }
      const auto page = store_.ScanServed(after, due_s, kServedAPage);
      if (!page) return Fail(page.error());
      all_read = page->size() < kServedAPage;
      if (Status judged = Judge(*page); !judged) return judged;
      const MutexLock lock(mutex_);
      if (round_ != round) {
        all_read = false;  // a checkpoint added rows that the page may lack
      } else if (!page->empty()) {
        after_ = page->back().first;
        read_rows_ += page->size();
      }
      continue;
    }
    if (!Send(to_send_.front(), sink, ticket_tag)) break;
    to_send_.pop_front();
  }
  outstanding_.store(in_flight_.size() + to_send_.size(), std::memory_order_relaxed);
  if (all_read) {
    read_s_ = due_s;
    read_round_ = round;
  }
  if (all_read && in_flight_.empty() && to_send_.empty()) {
    const MutexLock lock(mutex_);
    if (round_ == round) done_s_ = std::max(done_s_, due_s);
  }
  return {};
}

Status UnexposedFlow::Judge(const PartitionStore::ServedPage& page) {
  Delta delta;
  std::optional<UserKey> read;
  std::string stored;
  uint64_t resolved = 0;
  std::vector<Message> unexposed;  // taken over at the end: an error leaves the whole page to the next try
  for (const auto& [row, text] : page) {
    const auto parts = SplitUnexposedText(text);
    if (!parts) return Fail(parts.error());
    if (read != row.user) {
      const auto found = store_.ReadDelta({kResolvingFilter, row.user}, stored);
      if (!found) return Fail(found.error());
      delta = {};
      if (*found) {
        auto decoded = DecodeDelta(stored);
        if (!decoded) return Fail(decoded.error());
        delta = std::move(*decoded);
      }
      read = row.user;
    }
    if (Resolves(delta, row.item, policy_.BucketOf(parts->served_at.value / 1000), policy_)) {
      ++resolved;
    } else {
      unexposed.push_back({std::string(parts->user_id), std::string(parts->json)});
    }
  }
  resolved_.fetch_add(resolved, std::memory_order_relaxed);
  std::move(unexposed.begin(), unexposed.end(), std::back_inserter(to_send_));
  return {};
}

bool UnexposedFlow::Send(Message message, SnapshotSink& sink, uint64_t ticket_tag) {
  const uint32_t ticket = next_ticket_++;
  OutgoingSnapshot outgoing{Output::kUnexposed, {}, message.user_id, message.json, ticket_tag | ticket};
  sink.TrySend({&outgoing, 1});
  if (outgoing.queued) in_flight_.emplace(ticket, std::move(message));
  return outgoing.queued;
}

void UnexposedFlow::Acknowledged(uint32_t ticket, bool delivered) {
  const auto found = in_flight_.find(ticket);
  if (found == in_flight_.end()) return;
  if (delivered) {
    published_.fetch_add(1, std::memory_order_relaxed);
  } else {
    retried_.fetch_add(1, std::memory_order_relaxed);
    to_send_.push_back(std::move(found->second));
  }
  in_flight_.erase(found);
  outstanding_.store(in_flight_.size() + to_send_.size(), std::memory_order_relaxed);
}

Status UnexposedFlow::Begin(Checkpoint& checkpoint, CheckpointWriter&) {
  checkpoint.frozen.unexposed->Sort();
  earliest_added_.reset();
  const MutexLock lock(mutex_);
  read_rows_ = 0;
  done_written_s_ = done_s_;
  return {};
}

Status UnexposedFlow::Write(Checkpoint& checkpoint, CheckpointWriter& writer) {
  const UnexposedLog& log = *checkpoint.frozen.unexposed;
  if (done_written_s_ > 0) {
    if (Status dropped = writer.DropServed(done_written_s_); !dropped) return dropped;
  }
  if (Status dropped = DropErased(log, writer); !dropped) return dropped;
  return AddRows(log, done_written_s_, writer);
}

// Drops the rows of erased users, for each second at which something is due.
Status UnexposedFlow::DropErased(const UnexposedLog& log, CheckpointWriter& writer) const {
  std::optional<ServedRow> after;
  while (!log.erased().empty()) {
    const auto next = store_.ScanServed(after, std::numeric_limits<uint32_t>::max(), 1);
    if (!next) return Fail(next.error());
    if (next->empty()) break;
    const uint32_t due_s = next->front().first.due_s;
    for (const UserKey& user : log.erased()) {
      if (Status dropped = writer.DropServedOf(due_s, user); !dropped) return dropped;
    }
    after = ServedRow::LastOf(due_s);
  }
  return {};
}

// A row comes late if the rows due at its second are done already. Late rows become due at `done`.
Status UnexposedFlow::AddRows(const UnexposedLog& log, uint32_t done, CheckpointWriter& writer) {
  std::map<ServedRow, const UnexposedLog::Served*> late;
  const auto& served = log.served();
  auto at = served.begin();
  for (; at != served.end() && at->row.due_s < done; ++at) {
    ServedRow row = at->row;
    row.due_s = done;
    late.emplace(row, &*at);
  }
  while (at != served.end() || !late.empty()) {
    const bool late_is_next = !late.empty() && (at == served.end() || late.begin()->first < at->row);
    const ServedRow row = late_is_next ? late.begin()->first : at->row;
    const UnexposedLog::Served& from = late_is_next ? *late.begin()->second : *at;
    if (!earliest_added_) earliest_added_ = row;
    if (Status added = writer.AddServed(row, log.TextOf(from)); !added) return added;
    if (late_is_next) {
      late.erase(late.begin());
    } else {
      ++at;
    }
  }
  return {};
}

void UnexposedFlow::Committed(const Checkpoint&) {
  const MutexLock lock(mutex_);
  if (!earliest_added_) return;
  // If the rows came late, the scan has passed their places without them. Then it must go back.
  ++round_;
  done_s_ = std::min(done_s_, earliest_added_->due_s);
  if (after_ && *earliest_added_ < *after_) after_.reset();
}

bool UnexposedFlow::HasChanges() const {
  const MutexLock lock(mutex_);
  return read_rows_ > 0;
}

Horizon UnexposedFlow::ResolvingHorizon() const {
  const MutexLock lock(mutex_);
  Horizon horizon;
  // Rows still to be judged are due at done_s_ or later. So their items were served at most grace and TTL
  // before done_s_.
  horizon.served_second = done_s_ > policy_.grace_s ? done_s_ - policy_.grace_s - 1 : 0;
  return horizon;
}

UnexposedStatus UnexposedFlow::GetStatus() const {
  return {published_.load(std::memory_order_relaxed), resolved_.load(std::memory_order_relaxed),
          retried_.load(std::memory_order_relaxed), outstanding_.load(std::memory_order_relaxed)};
}

}  // namespace seen
