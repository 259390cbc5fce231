#include "consume/fill_queue.h"

#include <utility>

#include "base/log.h"

namespace seen {
namespace {
using std::chrono::seconds;

constexpr seconds kRetry{10};
// Longer than a rebalance, which may take a partition away and give it back.
constexpr seconds kElsewhereFor{30};
constexpr seconds kElsewhereAsked{2};

/// `state`: a constant.
FillPartitionStatus InState(std::string_view state, int32_t partition) {
  return {.partition = partition, .state = state, .complete_since = {}, .problem = {}};
}

}  // namespace

FillQueue::FillQueue(const std::vector<FillRequest>& known, Save save, const Clock& clock)
    : save_(std::move(save)), clock_(clock) {
  const MutexLock lock(mutex_);
  for (const FillRequest& request : known) {
    Fill& fill = fills_[request.filter];
    for (const int32_t partition : request.partitions)
      fill.partitions[partition] = InState("waiting", partition);
    for (const int32_t partition : request.done) fill.partitions[partition] = InState("done", partition);
    fill.request = request;
    fill.request.partitions.insert(request.done.begin(), request.done.end());
    fill.request.done.clear();
  }
}

FillQueue::Fill* FillQueue::Find(const Task& task) {
  const auto found = fills_.find(task.filter);
  return found == fills_.end() || found->second.request.id != task.id ? nullptr : &found->second;
}

FillStatus FillQueue::StatusOf(const Fill& fill) {
  FillStatus status{fill.request.filter, fill.request.id, fill.request.asked_at, {}};
  for (const auto& [number, partition] : fill.partitions) status.partitions.push_back(partition);
  return status;
}

std::vector<FillRequest> FillQueue::Requests() const {
  std::vector<FillRequest> requests;
  for (const auto& [filter, fill] : fills_) {
    FillRequest request = fill.request;
    for (const auto& [number, partition] : fill.partitions) {
      if (partition.state == "done") request.done.insert(request.partitions.extract(number));
    }
    requests.push_back(std::move(request));
  }
  return requests;
}

// If the list can't be saved, a restart fills a partition once more.
void FillQueue::SaveOrWarn() const {
  if (const Status saved = save_(Requests()); !saved)
    log::Warning("the list of fills can't be written", {{"reason", saved.error().message}});
}

Result<FillStatus> FillQueue::Ask(std::string_view filter, std::string_view id,
                                  const std::set<int32_t>& open) {
  const TimeMs now = clock_.WallNow();
  const MutexLock lock(mutex_);
  const auto before = fills_.find(filter);
  std::optional<Fill> replaced;
  if (before != fills_.end()) replaced = before->second;
  Fill& fill = fills_[std::string(filter)];
  if (id.empty() || fill.request.id != id) {
    fill = Fill();
    std::string chosen = "fill-" + std::to_string(now.value);
    fill.request = {std::string(filter), id.empty() ? std::move(chosen) : std::string(id), now, {}, {}};
  }
  for (const int32_t partition : open) {
    if (fill.request.partitions.insert(partition).second)
      fill.partitions[partition] = InState("waiting", partition);
  }
  if (Status saved = save_(Requests()); !saved) {
    if (replaced) {
      fill = std::move(*replaced);
    } else {
      fills_.erase(fills_.find(filter));
    }
    return Fail(saved.error());
  }
  log::Info("a fill was asked for",
            {{"filter", filter}, {"fill", fill.request.id}, {"partitions", fill.request.partitions.size()}});
  return StatusOf(fill);
}

Result<FillStatus> FillQueue::Stop(std::string_view filter) {
  const MutexLock lock(mutex_);
  const auto found = fills_.find(filter);
  if (found == fills_.end())
    return Fail(Code::kNotFound, "filter: nobody asked for a fill of " + std::string(filter));
  // First the list: if the fill stayed there, a restart would go on with it.
  std::vector<FillRequest> others = Requests();
  std::erase_if(others, [&](const FillRequest& request) { return request.filter == filter; });
  if (Status saved = save_(others); !saved) return Fail(saved.error());
  FillStatus status = StatusOf(found->second);
  fills_.erase(found);
  log::Info("a fill was stopped", {{"filter", filter}, {"fill", status.id}});
  return status;
}

std::vector<FillStatus> FillQueue::All() const {
  const MutexLock lock(mutex_);
  std::vector<FillStatus> all;
  all.reserve(fills_.size());
  for (const auto& [filter, fill] : fills_) all.push_back(StatusOf(fill));
  return all;
}

std::optional<FillQueue::Task> FillQueue::Next() const {
  const Instant now = clock_.Now();
  const MutexLock lock(mutex_);
  for (const auto& [filter, fill] : fills_) {
    for (const auto& [number, partition] : fill.partitions) {
      const auto retry = fill.retry_at.find(number);
      if (partition.state == "done" || (retry != fill.retry_at.end() && now < retry->second)) continue;
      return Task{filter, fill.request.id, number};
    }
  }
  return std::nullopt;
}

bool FillQueue::IsWanted(const Task& task) {
  const MutexLock lock(mutex_);
  return Find(task) != nullptr;
}

void FillQueue::Show(const Task& task, const FillPartitionStatus& status) {
  const MutexLock lock(mutex_);
  if (Fill* const fill = Find(task)) fill->partitions.at(task.partition) = status;
}

void FillQueue::Here(const Task& task) {
  const MutexLock lock(mutex_);
  if (Fill* const fill = Find(task)) fill->absent_since.erase(task.partition);
}

// The daemon that has the partition now fills it on request: seenctl fill asks all daemons again and again.
void FillQueue::Elsewhere(const Task& task) {
  const Instant now = clock_.Now();
  const MutexLock lock(mutex_);
  Fill* const fill = Find(task);
  if (fill == nullptr) return;
  const Instant since = fill->absent_since.try_emplace(task.partition, now).first->second;
  fill->retry_at[task.partition] = now + kElsewhereAsked;
  if (now - since < kElsewhereFor) return;
  log::Info("a partition of a fill is another daemon's now",
            {{"filter", task.filter}, {"partition", task.partition}, {"fill", task.id}});
  fill->partitions.erase(task.partition);
  fill->request.partitions.erase(task.partition);
  fill->absent_since.erase(task.partition);
  SaveOrWarn();
}

void FillQueue::Failed(const Task& task, const Error& error) {
  const MutexLock lock(mutex_);
  Fill* const fill = Find(task);
  if (fill == nullptr) return;
  FillPartitionStatus& partition = fill->partitions.at(task.partition);
  if (std::exchange(partition.problem, error.message) != error.message) {
    log::Warning("a partition isn't filled; the daemon tries again",
                 {{"filter", task.filter}, {"partition", task.partition}, {"reason", error.message}});
  }
  partition.state = "waiting";
  fill->retry_at[task.partition] = clock_.Now() + kRetry;
}

void FillQueue::Done(const Task& task) {
  const MutexLock lock(mutex_);
  Fill* const fill = Find(task);
  if (fill == nullptr) return;
  fill->partitions.at(task.partition).state = "done";
  SaveOrWarn();
}

}  // namespace seen
