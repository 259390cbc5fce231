#include "app/fills.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <thread>

#include "base/log.h"
#include "base/threads.h"
#include "flow/partition_flow.h"
#include "kafka/reader.h"
#include "model/day.h"
#include "store/store_directory.h"

namespace seen {
namespace {

namespace fs = std::filesystem;
using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr milliseconds kLooksEvery{200};
constexpr seconds kRetry{10};
constexpr seconds kQuestion{10};  // to the brokers
constexpr milliseconds kPoll{200};
constexpr milliseconds kLevel0Slice{20};
constexpr std::string_view kFileName = "/fills.json";

Status Ended() { return Fail(Code::kNotFound, "it was stopped"); }

}  // namespace

Fills::Fills(Options options, const OpenPartitions& partitions, std::function<void()> on_written,
             const Clock& clock)
    : options_(std::move(options)),
      partitions_(partitions),
      on_written_(std::move(on_written)),
      clock_(clock) {
  auto known = ReadFillRequests(options_.directory + std::string(kFileName));
  if (!known) {
    log::Error("the list of fills can't be read, and is dropped; ask for them again",
               {{"reason", known.error().message}});
    known->clear();
  }
  const MutexLock lock(mutex_);
  for (FillRequest& request : *known) {
    if (!IndexOf(request.filter)) {
      log::Warning("a fill is dropped: its filter isn't configured any more", {{"filter", request.filter}});
      continue;
    }
    log::Info("a fill goes on, from the beginning of each of its partitions",
              {{"filter", request.filter}, {"fill", request.id}, {"partitions", request.partitions.size()}});
    Fill& fill = fills_[request.filter];
    for (const int32_t partition : request.partitions)
      fill.partitions[partition] = {
          .partition = partition, .state = "waiting", .complete_since = {}, .problem = {}};
    fill.request = std::move(request);
  }
  thread_.Start("fills", kLooksEvery, [this] {
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

// Those that aren't done: what must outlive the process.
std::vector<FillRequest> Fills::Requests() const {
  std::vector<FillRequest> requests;
  for (const auto& [filter, fill] : fills_) {
    FillRequest request = fill.request;
    std::erase_if(request.partitions, [&fill = fill](int32_t partition) {
      return fill.partitions.at(partition).state == "done";
    });
    if (!request.partitions.empty()) requests.push_back(std::move(request));
  }
  return requests;
}

Status Fills::Save(const std::vector<FillRequest>& requests) const {
  return WriteFillRequests(options_.directory + std::string(kFileName), requests);
}

Result<FillStatus> Fills::Start(std::string_view filter, std::string_view id) {
  if (!IndexOf(filter)) {
    return Fail(Code::kNotFound,
                fmt::format("filter: {} isn't configured. GET /v1/status has those that are", filter));
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
        std::string(filter), id.empty() ? fmt::format("fill-{}", now.value) : std::string(id), now, {}};
  }
  for (const int32_t partition : open) {
    if (fill.request.partitions.insert(partition).second)
      fill.partitions[partition] = {
          .partition = partition, .state = "waiting", .complete_since = {}, .problem = {}};
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
  const FillStatus status = StatusOf(found->second);
  fills_.erase(found);
  // If the file keeps it, a restart would go on with it.
  if (Status saved = Save(Requests()); !saved) return Fail(saved.error());
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
  if (!task) return kLooksEvery;
  const Status filled = Run(*task);
  if (!IsWanted(*task)) return milliseconds(0);
  if (!filled) {
    log::Warning(
        "a partition isn't filled; it is tried again",
        {{"filter", task->filter}, {"partition", task->partition}, {"reason", filled.error().message}});
    Update(*task, [&](FillPartitionStatus& partition) {
      partition.state = "waiting";
      partition.problem = filled.error().message;
    });
    const MutexLock lock(mutex_);
    const auto found = fills_.find(task->filter);
    if (found != fills_.end()) found->second.retry_at[task->partition] = clock_.Now() + kRetry;
    return milliseconds(0);
  }
  const MutexLock lock(mutex_);
  // If it can't be saved, a restart fills the partition once more.
  if (const Status saved = Save(Requests()); !saved)
    log::Warning("the list of fills can't be written", {{"reason", saved.error().message}});
  return milliseconds(0);
}

Result<Fills::Source> Fills::SourceOf(const Task& task) const {
  const PartitionPointer open = partitions_.Find(task.partition);
  if (!open || !open->assigned.load()) {
    return Fail(Code::kUnavailable,
                fmt::format("partition {} isn't this daemon's now: whoever has it fills it", task.partition));
  }
  if (open->stopped.load()) return Fail(Code::kUnavailable, open->stop_reason());
  const PartitionState& state = open->flow->state;
  Source source;
  source.flow = state.options();
  source.filter = FilterIndex(*IndexOf(task.filter));
  source.open = open;
  source.losses = state.wholeness().losses();
  source.to = state.next_offset();
  // A clock that is ahead would leave out what counts. One day more: the window's first day is whole.
  const TimeMs now = std::min(clock_.WallNow(), state.partition_time());
  const int64_t days = source.flow.filters[source.filter].LongestWindowDays() + 1;
  source.since = {std::max<int64_t>(0, DayOf(now).since_epoch - days) * kMsPerDay};
  return source;
}

Status Fills::Run(const Task& task) {
  const auto source = SourceOf(task);
  if (!source) return Fail(source.error());
  const Config& config = *options_.config;
  TopicReader::Options reading;
  reading.brokers = config.kafka.brokers;
  reading.client = config.kafka.client;
  reading.topic = config.input.topic;
  reading.only_partition = task.partition;
  reading.to_offsets[task.partition] = source->to;
  reading.queue_bytes_max = options_.memory_bytes / 4;
  if (options_.seeks_by_time) reading.from_time = source->since;
  auto reader = TopicReader::Open(reading, kQuestion);
  if (!reader) return Fail(reader.error());
  // Asked for after the range: records stood before it, so none of it was deleted.
  const auto low = (*reader)->QueryLow(task.partition, kQuestion);
  if (!low) return Fail(low.error());
  const auto place = static_cast<size_t>(task.partition);
  if ((*reader)->ranges().at(place).from >= source->to && *low < source->to) {
    // Right after records were deleted, a broker may know no offset of any time (seen with Kafka 3.9).
    reading.from_time.reset();
    reader = TopicReader::Open(reading, kQuestion);
    if (!reader) return Fail(reader.error());
  }
  const TopicReader::Range range = (*reader)->ranges().at(place);
  Update(task, [&](FillPartitionStatus& partition) {
    partition = {.partition = task.partition,
                 .state = "reading",
                 .from_offset = range.from,
                 .next_offset = range.from,
                 .to_offset = source->to,
                 .complete_since = {},
                 .problem = {}};
  });
  log::Info("a partition is read again for a filter", {{"filter", task.filter},
                                                       {"partition", task.partition},
                                                       {"from_offset", range.from},
                                                       {"to_offset", source->to}});

  const std::string folder =
      fmt::format("{}/fill-{}", StoreDirectory::IncomingPath(options_.directory), task.partition);
  std::error_code code;
  fs::remove_all(folder, code);
  if (!fs::create_directories(folder, code)) {
    return Fail(code == std::errc::no_space_on_device ? Code::kNoSpace : Code::kUnavailable,
                fmt::format("can't make {}: {}", folder, code.message()));
  }
  const auto remove = [&] {
    std::error_code ignored;
    fs::remove_all(folder, ignored);
  };
  const Status filled = [&]() -> Status {
    HistoryFill::Options options;
    options.filter = source->filter;
    options.from = range.from;
    options.folder = folder;
    options.memory_bytes = options_.memory_bytes / 2;
    HistoryFill fill(source->flow, options, clock_);
    uint64_t counted = 0;
    for (bool more = range.from < source->to; more;) {
      Status applied;
      const auto polled = (*reader)->Poll(kPoll, [&](int32_t, std::span<const Record> records) {
        if (applied) applied = fill.Apply(records);
      });
      if (!polled) return Fail(polled.error());
      if (!applied) return applied;
      if (!IsWanted(task)) return Ended();
      more = *polled;
      records_.fetch_add(fill.records() - counted, std::memory_order_relaxed);
      counted = fill.records();
      Update(task, [&](FillPartitionStatus& partition) { partition.next_offset = fill.next_offset(); });
    }
    Update(task, [&](FillPartitionStatus& partition) {
      partition.next_offset = source->to;
      partition.state = "writing";
    });
    const Status written =
        fill.ForEachPage([&](const FillPage& page) { return WritePage(task, *source, page); });
    if (!written) return written;

    // What isn't in the log any more can't be filled; nothing that counts stands before `since`.
    std::optional<TimeMs> complete_since = fill.complete_since();
    if (reading.from_time && *low < range.from) complete_since = source->since;
    if (range.from == 0) complete_since = TimeMs{};
    if (complete_since) {
      const Status ended = Write(task, *source, [&](PartitionFill& partition) {
        return partition.End(source->filter, *complete_since, source->losses);
      });
      if (!ended) return ended;
    }
    Update(task, [&](FillPartitionStatus& partition) {
      partition.state = "done";
      partition.complete_since = complete_since;
    });
    log::Info("a partition is filled", {{"filter", task.filter},
                                        {"partition", task.partition},
                                        {"records", fill.records()},
                                        {"complete_since_ms", complete_since.value_or(TimeMs{-1}).value}});
    return {};
  }();
  remove();
  on_written_();
  return filled;
}

Status Fills::Write(const Task& task, const Source& source,
                    const std::function<Status(PartitionFill&)>& write) const {
  while (true) {
    if (!IsWanted(task)) return Ended();
    const PartitionPointer open = source.open.lock();
    if (!open || !open->assigned.load() || partitions_.Find(task.partition) != open)
      return Fail(Code::kUnavailable, fmt::format("partition {} was closed meanwhile", task.partition));
    if (open->stopped.load()) return Fail(Code::kUnavailable, open->stop_reason());
    // As checkpoints do: RocksDB must come along.
    if (open->store->Level0Files() > source.flow.level0_files_max) {
      std::this_thread::sleep_for(kLevel0Slice);
      continue;
    }
    const MutexLock checkpoint(open->checkpoint_mutex);
    Status written = write(open->flow->fill);
    if (!written && written.error().code == Code::kCorrupt) open->Stop(written.error().message);
    return written;
  }
}

Status Fills::WritePage(const Task& task, const Source& source, const FillPage& page) {
  Status written = Write(task, source, [&](PartitionFill& fill) { return fill.Write(page); });
  if (!written) return written;
  users_.fetch_add(page.users.size(), std::memory_order_relaxed);
  Update(task, [&](FillPartitionStatus& partition) { partition.users_written += page.users.size(); });
  on_written_();
  return {};
}

}  // namespace seen
