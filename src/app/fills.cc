#include "app/fills.h"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "base/durable_file.h"
#include "base/log.h"
#include "base/threads.h"

namespace seen {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr milliseconds kFillLooksEvery{200};
constexpr seconds kRetry{10};
// Longer than a rebalance, which may take a partition away and give it back.
constexpr seconds kElsewhereFor{30};
constexpr seconds kElsewhereAsked{2};
constexpr std::string_view kFileName = "/fills.json";

/// `state`: a constant.
FillPartitionStatus InState(std::string_view state, int32_t partition) {
  return {.partition = partition, .state = state, .complete_since = {}, .problem = {}};
}

}  // namespace

/// The observer of one run.
class Fills::Observer final : public FillObserver {
 public:
  Observer(Fills& fills, const Task& task) : fills_(fills), task_(task) {}
  bool IsWanted() const override { return fills_.IsWanted(task_); }
  void Show(const FillPartitionStatus& status) override {
    fills_.Update(task_, [&](FillPartitionStatus& partition) { partition = status; });
  }
  void Count(uint64_t records, uint64_t users) override {
    fills_.records_.fetch_add(records, std::memory_order_relaxed);
    fills_.users_.fetch_add(users, std::memory_order_relaxed);
    if (users > 0) fills_.hooks_.on_written();
  }

 private:
  Fills& fills_;
  const Task& task_;
};

Fills::Fills(FillRun::Options options, const OpenPartitions& partitions, Hooks hooks, const Clock& clock)
    : options_(std::move(options)), partitions_(partitions), hooks_(std::move(hooks)), clock_(clock) {
  auto known = ReadFillRequests(options_.directory + std::string(kFileName));
  if (!known) {
    log::Error("the list of fills can't be read, and is dropped; ask for them again",
               {{"reason", known.error().message}});
    known = std::vector<FillRequest>();
  }
  const MutexLock lock(mutex_);
  for (FillRequest& request : *known) {
    if (!IndexOf(request.filter)) {
      if (!request.partitions.empty()) {
        log::Warning("a fill is dropped: its filter isn't configured any more", {{"filter", request.filter}});
      }
      continue;
    }
    if (!request.partitions.empty()) {
      log::Info(
          "a fill goes on, from the beginning of each of its partitions",
          {{"filter", request.filter}, {"fill", request.id}, {"partitions", request.partitions.size()}});
    }
    Fill& fill = fills_[request.filter];
    for (const int32_t partition : request.partitions)
      fill.partitions[partition] = InState("waiting", partition);
    for (const int32_t partition : request.done) fill.partitions[partition] = InState("done", partition);
    request.partitions.merge(request.done);
    fill.request = std::move(request);
  }
  thread_.Start("fills", kFillLooksEvery, [this] {
    YieldToOtherThreads();
    return Step();
  });
}

std::optional<size_t> Fills::IndexOf(std::string_view filter) const {
  const auto& filters = options_.config->filters;
  const auto found = std::find_if(filters.begin(), filters.end(),
                                  [&](const FilterConfig& each) { return each.name == filter; });
  if (found == filters.end()) return std::nullopt;
  return static_cast<size_t>(found - filters.begin());
}

FillStatus Fills::StatusOf(const Fill& fill) {
  FillStatus status{fill.request.filter, fill.request.id, fill.request.asked_at, {}};
  for (const auto& [number, partition] : fill.partitions) status.partitions.push_back(partition);
  return status;
}

// The list survives the process: what isn't done goes on, and what is done is still known to be.
std::vector<FillRequest> Fills::Requests() const {
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

Status Fills::Save(const std::vector<FillRequest>& requests) const {
  return WriteFillRequests(options_.directory + std::string(kFileName), requests);
}

Result<FillStatus> Fills::Start(std::string_view filter, std::string_view id) {
  if (!IndexOf(filter)) {
    return Fail(
        Code::kNotFound,
        fmt::format("filter: {} isn't configured. GET /v1/status lists the configured filters", filter));
  }
  std::set<int32_t> open;
  for (const PartitionPointer& each : partitions_.All()) {
    if (each->assigned.load()) open.insert(each->partition);
  }
  if (open.empty()) return Fail(Code::kUnavailable, "no partition is open here yet; try again later");
  const TimeMs now = clock_.WallNow();
  const MutexLock lock(mutex_);
  const auto before = fills_.find(std::string(filter));
  std::optional<Fill> replaced;
  if (before != fills_.end()) replaced = before->second;
  Fill& fill = fills_[std::string(filter)];
  if (id.empty() || fill.request.id != id) {
    fill = Fill();
    fill.request = {
        std::string(filter), id.empty() ? fmt::format("fill-{}", now.value) : std::string(id), now, {}, {}};
  }
  for (const int32_t partition : open) {
    if (fill.request.partitions.insert(partition).second)
      fill.partitions[partition] = InState("waiting", partition);
  }
  if (Status saved = Save(Requests()); !saved) {
    if (replaced) {
      fill = std::move(*replaced);
    } else {
      fills_.erase(std::string(filter));
    }
    return Fail(saved.error());
  }
  log::Info("a fill was asked for",
            {{"filter", filter}, {"fill", fill.request.id}, {"partitions", fill.request.partitions.size()}});
  return StatusOf(fill);
}

Result<FillStatus> Fills::Stop(std::string_view filter) {
  const MutexLock lock(mutex_);
  const auto found = fills_.find(std::string(filter));
  if (found == fills_.end())
    return Fail(Code::kNotFound, fmt::format("filter: nobody asked for a fill of {}", filter));
  // First the file: if the fill stayed in the file, a restart would go on with it.
  std::vector<FillRequest> others = Requests();
  std::erase_if(others, [&](const FillRequest& request) { return request.filter == filter; });
  if (Status saved = Save(others); !saved) return Fail(saved.error());
  FillStatus status = StatusOf(found->second);
  fills_.erase(found);
  log::Info("a fill was stopped", {{"filter", filter}, {"fill", status.id}});
  return status;
}

FillFigures Fills::Figures() const {
  FillFigures figures;
  figures.records = records_.load(std::memory_order_relaxed);
  figures.users = users_.load(std::memory_order_relaxed);
  const MutexLock lock(mutex_);
  for (const auto& [filter, fill] : fills_) figures.fills.push_back(StatusOf(fill));
  return figures;
}

bool Fills::IsWanted(const Task& task) const {
  if (thread_.stopping().load()) return false;
  const MutexLock lock(mutex_);
  const auto found = fills_.find(task.filter);
  return found != fills_.end() && found->second.request.id == task.id;
}

void Fills::Update(const Task& task, const std::function<void(FillPartitionStatus&)>& change) {
  const MutexLock lock(mutex_);
  const auto found = fills_.find(task.filter);
  if (found != fills_.end() && found->second.request.id == task.id)
    change(found->second.partitions.at(task.partition));
}

std::optional<Fills::Task> Fills::NextTask() {
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

milliseconds Fills::Step() {
  const auto task = NextTask();
  if (!task) return kFillLooksEvery;
  if (IsElsewhere(task->partition)) {
    NoteElsewhere(*task);
    return milliseconds(0);
  }
  Observer observer(*this, *task);
  FillRun run(options_, partitions_, FilterIndex(*IndexOf(task->filter)), task->partition, clock_, observer);
  {
    const MutexLock lock(mutex_);
    const auto found = fills_.find(task->filter);
    if (found != fills_.end()) found->second.absent_since.erase(task->partition);
  }
  const Status filled = run.Run();
  hooks_.on_written();
  if (!IsWanted(*task)) return milliseconds(0);
  if (!filled) {
    NoteFailure(*task, filled.error());
    return milliseconds(0);
  }
  const MutexLock lock(mutex_);
  // If the list can't be saved, a restart fills the partition once more.
  if (const Status saved = Save(Requests()); !saved)
    log::Warning("the list of fills can't be written", {{"reason", saved.error().message}});
  return milliseconds(0);
}

bool Fills::IsElsewhere(int32_t partition) const {
  if (!hooks_.is_settled()) return false;
  const PartitionPointer open = partitions_.Find(partition);
  if (open) return !open->assigned.load();
  return partitions_.RefusalOf(partition).empty();
}

// The daemon that has the partition now fills it on request: seenctl fill asks all daemons again and again.
void Fills::NoteElsewhere(const Task& task) {
  const Instant now = clock_.Now();
  const MutexLock lock(mutex_);
  const auto found = fills_.find(task.filter);
  if (found == fills_.end() || found->second.request.id != task.id) return;
  Fill& fill = found->second;
  const auto [since, is_first] = fill.absent_since.try_emplace(task.partition, now);
  fill.retry_at[task.partition] = now + kElsewhereAsked;
  if (now - since->second < kElsewhereFor) return;
  log::Info("a partition of a fill is another daemon's now",
            {{"filter", task.filter}, {"partition", task.partition}, {"fill", task.id}});
  fill.partitions.erase(task.partition);
  fill.request.partitions.erase(task.partition);
  fill.absent_since.erase(task.partition);
  if (const Status saved = Save(Requests()); !saved)
    log::Warning("the list of fills can't be written", {{"reason", saved.error().message}});
}

void Fills::NoteFailure(const Task& task, const Error& error) {
  bool is_new = false;
  Update(task, [&](FillPartitionStatus& partition) {
    is_new = partition.problem != error.message;
    partition.state = "waiting";
    partition.problem = error.message;
  });
  if (is_new) {
    log::Warning("a partition isn't filled; the daemon tries again",
                 {{"filter", task.filter}, {"partition", task.partition}, {"reason", error.message}});
  }
  const MutexLock lock(mutex_);
  const auto found = fills_.find(task.filter);
  if (found != fills_.end()) found->second.retry_at[task.partition] = clock_.Now() + kRetry;
}

namespace {

using Json = nlohmann::ordered_json;

}  // namespace

Result<std::vector<FillRequest>> ReadFillRequests(const std::string& path) {
  std::vector<FillRequest> requests;
  std::ifstream file(path, std::ios::binary);
  if (!file) return requests;
  std::ostringstream text;
  text << file.rdbuf();
  const Json json = Json::parse(text.str(), nullptr, false);
  try {
    for (const Json& each : json.at("fills")) {
      FillRequest& request = requests.emplace_back();
      request.filter = each.at("filter").get<std::string>();
      request.id = each.at("id").get<std::string>();
      request.asked_at = {each.at("asked_at_ms").get<int64_t>()};
      request.partitions = each.at("partitions").get<std::set<int32_t>>();
      request.done = each.value("done", std::set<int32_t>());
    }
  } catch (const std::exception&) {
    return Fail(Code::kCorrupt, path + ": isn't a list of fills");
  }
  return requests;
}

Status WriteFillRequests(const std::string& path, const std::vector<FillRequest>& requests) {
  Json json = {{"fills", Json::array()}};
  for (const FillRequest& request : requests) {
    json["fills"].push_back({{"filter", request.filter},
                             {"id", request.id},
                             {"asked_at_ms", request.asked_at.value},
                             {"partitions", request.partitions},
                             {"done", request.done}});
  }
  return WriteDurably(path, json.dump(1, ' ', false, Json::error_handler_t::replace) + "\n");
}

}  // namespace seen
