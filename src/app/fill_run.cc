#include "app/fill_run.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <thread>

#include "base/durable_file.h"
#include "base/log.h"
#include "flow/partition_flow.h"
#include "model/day.h"
#include "store/store_directory.h"

namespace seen {
namespace {

namespace fs = std::filesystem;
using std::chrono::milliseconds;

constexpr milliseconds kQuestion{3000};  // timeout for the brokers; a stop waits for the answer
constexpr milliseconds kPoll{200};
constexpr milliseconds kLevel0Slice{20};

Status Ended() { return Fail(Code::kNotFound, "the fill was stopped"); }

/// A folder that the destructor removes.
class Scratch {
 public:
  explicit Scratch(std::string path) : path_(std::move(path)) {}
  ~Scratch() { Remove(); }
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;

  Status Make() {
    Remove();  // a folder that a killed process left
    std::error_code code;
    if (fs::create_directories(path_, code)) return {};
    return Fail(IsNoSpace(code.value()) ? Code::kNoSpace : Code::kUnavailable,
                fmt::format("can't make {}: {}", path_, code.message()));
  }
  const std::string& path() const { return path_; }

 private:
  void Remove() const {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
  }
  const std::string path_;
};

}  // namespace

FillRun::FillRun(const Options& options, const OpenPartitions& partitions, FilterIndex filter,
                 const Clock& clock, Job job)
    : options_(options),
      partitions_(partitions),
      filter_(filter),
      clock_(clock),
      job_(std::move(job)),
      status_{.partition = job_.task.partition, .state = "waiting", .complete_since = {}, .problem = {}} {}

void FillRun::Show(std::string_view state) {
  status_.state = state;
  job_.queue.Show(job_.task, status_);
}

Status FillRun::FindPartition() {
  const PartitionPointer open = partitions_.Find(status_.partition);
  if (!open || !open->assigned.load())
    return Fail(Code::kUnavailable, fmt::format("partition {} isn't open here yet", status_.partition));
  if (open->stopped.load()) return Fail(Code::kUnavailable, open->stop_reason());
  const PartitionState& state = open->flow->state;
  open_ = open;
  flow_ = state.options();
  losses_ = state.wholeness().losses();
  status_.to_offset = state.next_offset();
  // Takes the earlier time: a clock that is ahead would leave out records that count. One more day makes the
  // window's first day whole.
  const TimeMs now = std::min(clock_.WallNow(), state.partition_time());
  const int64_t days = flow_.filters[filter_].LongestWindowDays() + 1;
  since_ = {std::max<int64_t>(0, DayOf(now).since_epoch - days) * kMsPerDay};
  return {};
}

Status FillRun::OpenLog() {
  const Config& config = *options_.config;
  TopicReader::Options reading;
  reading.brokers = config.kafka.brokers;
  reading.client = config.kafka.client;
  reading.topic = config.input.topic;
  reading.only_partition = status_.partition;
  reading.to_offsets[status_.partition] = status_.to_offset;
  reading.queue_bytes_max = options_.memory_bytes / 4;
  if (options_.seeks_by_time) reading.from_time = since_;
  auto log = TopicReader::Open(reading, kQuestion);
  if (!log) return Fail(log.error());
  // Queried after the range was found. If records still stood before the range, none of the range was
  // deleted.
  const auto ends = (*log)->QueryEnds(status_.partition, kQuestion);
  if (!ends) return Fail(ends.error());
  const auto place = static_cast<size_t>(status_.partition);
  if ((*log)->ranges().at(place).from >= status_.to_offset && ends->low < status_.to_offset) {
    // Right after a deletion of records, a broker may know no offset for any time (seen with Kafka 3.9).
    reading.from_time.reset();
    log = TopicReader::Open(reading, kQuestion);
    if (!log) return Fail(log.error());
  }
  const auto is_compacted = (*log)->IsCompacted(kQuestion);
  if (!is_compacted) return Fail(is_compacted.error());
  is_compacted_ = *is_compacted;
  log_ = std::move(*log);
  status_.from_offset = status_.next_offset = log_->ranges().at(place).from;
  reaches_since_ = reading.from_time && ends->low < status_.from_offset;
  return {};
}

Status FillRun::Run() {
  if (Status found = FindPartition(); !found) return found;
  if (Status opened = OpenLog(); !opened) return opened;
  const std::string& filter = flow_.filters[filter_].name;
  log::Info("a partition is read again for a filter", {{"filter", filter},
                                                       {"partition", status_.partition},
                                                       {"from_offset", status_.from_offset},
                                                       {"to_offset", status_.to_offset}});
  Scratch scratch(
      fmt::format("{}/fill-{}", StoreDirectory::IncomingPath(options_.directory), status_.partition));
  if (Status made = scratch.Make(); !made) return made;
  HistoryFill fill(flow_,
                   {.filter = filter_,
                    .from = status_.from_offset,
                    .folder = scratch.path(),
                    .memory_bytes = options_.memory_bytes / 2},
                   clock_);
  Show("reading");
  if (Status read = Read(fill); !read) return read;
  log_.reset();
  Show("writing");
  if (Status written = Write(fill); !written) return written;
  Show("done");
  log::Info("a partition is filled",
            {{"filter", filter},
             {"partition", status_.partition},
             {"records", fill.records()},
             {"complete_since_ms", status_.complete_since.value_or(TimeMs{-1}).value}});
  return {};
}

Status FillRun::Read(HistoryFill& fill) {
  uint64_t counted = 0;
  for (bool more = status_.from_offset < status_.to_offset; more;) {
    Status applied;
    const auto polled = log_->Poll(kPoll, [&](int32_t, std::span<const Record> records) {
      if (applied) applied = fill.Apply(records);
    });
    if (!polled) return Fail(polled.error());
    if (!applied) return applied;
    if (!IsWanted()) return Ended();
    more = *polled;
    job_.totals.records.fetch_add(fill.records() - counted, std::memory_order_relaxed);
    counted = fill.records();
    status_.next_offset = fill.next_offset();
    Show("reading");
  }
  status_.next_offset = status_.to_offset;
  return {};
}

Status FillRun::Write(HistoryFill& fill) {
  Status written = fill.ForEachPage([&](const FillPage& page) -> Status {
    if (Status put = InStore([&](PartitionFill& into) { return into.Write(page); }); !put) return put;
    status_.users_written += page.users.size();
    job_.totals.users.fetch_add(page.users.size(), std::memory_order_relaxed);
    if (!page.users.empty()) job_.on_written();
    Show("writing");
    return {};
  });
  if (!written) return written;
  status_.problem = fill.WhatIsMissing();
  if (!status_.problem.empty())
    log::Warning("a fill lacks records", {{"partition", status_.partition}, {"reason", status_.problem}});
  // Records that left the log can't be filled. No record that counts is older than `since_`.
  status_.complete_since = fill.complete_since();
  if (reaches_since_) status_.complete_since = since_;
  if (status_.from_offset == 0) status_.complete_since = TimeMs{};
  if (is_compacted_) {
    status_.complete_since.reset();
    status_.problem =
        "the topic is compacted: records of the window are missing, and the filter stays incomplete";
    log::Warning("a filter is filled and stays incomplete",
                 {{"partition", status_.partition}, {"reason", status_.problem}});
  }
  if (!status_.complete_since) return {};
  return InStore([&](PartitionFill& into) { return into.End(filter_, *status_.complete_since, losses_); });
}

Status FillRun::InStore(const std::function<Status(PartitionFill&)>& write) {
  while (true) {
    if (!IsWanted()) return Ended();
    const PartitionPointer open = open_.lock();
    if (!open || !open->assigned.load() || partitions_.Find(status_.partition) != open)
      return Fail(Code::kUnavailable, fmt::format("partition {} was closed meanwhile", status_.partition));
    if (open->stopped.load()) return Fail(Code::kUnavailable, open->stop_reason());
    // Waits as checkpoints do, so that RocksDB keeps up with level 0.
    if (open->store->Level0Files() > flow_.level0_files_max) {
      std::this_thread::sleep_for(kLevel0Slice);
      continue;
    }
    const MutexLock checkpoint(open->checkpoint_mutex);
    Status written = write(open->flow->fill);
    if (!written && written.error().code == Code::kCorrupt) open->Stop(written.error().message);
    return written;
  }
}

}  // namespace seen
