#include "tools/replay/into_state.h"

#include <fmt/format.h>
#include <sys/resource.h>

#include <algorithm>
#include <atomic>
#include <filesystem>
#include <thread>

#include "bulk_load/state_builder.h"
#include "bulk_load/write_state.h"
#include "kafka/admin.h"
#include "kafka/reader.h"
#include "store/store_directory.h"
#include "tools/ask/calendar.h"
#include "tools/common_options.h"
#include "tools/progress.h"

namespace seen {
namespace {

constexpr std::chrono::seconds kKafkaTimeout(15);
constexpr uint64_t kLinesBetweenChecks = 100'000;

double Seconds(Instant since) { return std::chrono::duration<double>(SystemClock().Now() - since).count(); }

double CpuSeconds() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  const auto seconds = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) / 1e6;
  };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

/// Where live consumption of each partition begins.
Result<std::map<int32_t, int64_t>> LiveOffsets(const IntoStateSettings& settings,
                                               const ReplayTarget& target) {
  TopicReader::Options options{.brokers = target.brokers,
                               .client = target.client,
                               .topic = target.topic,
                               .from_time = {},
                               .to_time = {},
                               .only_partition = {},
                               .from_offsets = {},
                               .to_offsets = {}};
  const bool from_end = settings.live_from == "end";
  if (settings.live_from != "earliest" && !from_end) {
    const auto time = ParseTime("--live-from", settings.live_from, SystemClock().WallNow());
    if (!time) return Fail(time.error());
    options.from_time = *time;
  }
  const auto reader = TopicReader::Open(options, kKafkaTimeout);
  std::map<int32_t, int64_t> offsets;
  if (!reader && reader.error().code == Code::kNotFound && settings.partitions) {
    for (int32_t partition = 0; partition < *settings.partitions; ++partition) offsets[partition] = 0;
    return offsets;
  }
  if (!reader) {
    return Fail(
        reader.error().code,
        fmt::format(
            "{} (the state begins where the input topic is to be read on; for a topic that doesn't exist "
            "yet, say --partitions)",
            reader.error().message));
  }
  for (const auto& range : (*reader)->ranges()) offsets[range.partition] = from_end ? range.to : range.from;
  if (settings.partitions && static_cast<size_t>(*settings.partitions) != offsets.size()) {
    return Fail(Code::kInvalidArgument, fmt::format("--partitions: {}: topic {} has {}", *settings.partitions,
                                                    target.topic, offsets.size()));
  }
  return offsets;
}

uint64_t BytesOf(const std::string& folder) {
  uint64_t bytes = 0;
  std::error_code error;
  for (std::filesystem::recursive_directory_iterator at(folder, error), end; !error && at != end;
       at.increment(error)) {
    if (at->is_regular_file(error)) bytes += at->file_size(error);
  }
  return bytes;
}

class Build {
 public:
  Build(const IntoStateSettings& settings, HistorySource& source, Rejects& rejects, StateBuilder& builder)
      : settings_(settings), source_(source), rejects_(rejects), builder_(builder) {}

  Status ReadAll() {
    Progress progress("read", source_.Total(), source_.Unit(),
                      settings_.quiet ? Progress::Mode::kQuiet : Progress::Mode::kAuto);
    const auto take = [this](const HistoryEntry& entry) { return Take(entry); };
    while (true) {
      if (Interrupted()) return Fail(Code::kUnavailable, "interrupted: nothing was written");
      const auto more = source_.Next(take);
      if (!more) return Fail(more.error());
      if (source_.PartEnded() || lines_ >= next_check_) {
        next_check_ = lines_ + kLinesBetweenChecks;
        if (Status few = rejects_.CheckShare(rejects_.total(), lines_); !few) return few;
      }
      progress.Update(source_.Position(),
                      fmt::format("{} lines, {} rejected, reached {}", WithThousands(lines_),
                                  WithThousands(rejects_.total()), DayText(DayOf(builder_.counts().last))));
      if (!*more) break;
    }
    if (Status finished = builder_.Finish(rejected_); !finished) return finished;
    if (Status noted = NoteRejected(); !noted) return noted;
    progress.Finish();
    return rejects_.CheckShare(rejects_.total(), lines_);
  }

  Status WriteAll(const std::string& directory, const std::map<int32_t, int64_t>& live_offsets,
                  const StoreResources& resources, unsigned threads) {
    const TimeMs complete_since = settings_.whole ? TimeMs{0} : builder_.counts().first;
    Progress progress("write", live_offsets.size(), "partitions",
                      settings_.quiet ? Progress::Mode::kQuiet : Progress::Mode::kAuto);
    std::atomic<int32_t> next{0};
    std::atomic<uint64_t> done{0};
    std::vector<Status> outcomes(threads);
    const auto work = [&](unsigned thread, bool draws) {
      while (outcomes[thread] && !Interrupted()) {
        const int32_t partition = next++;
        if (static_cast<size_t>(partition) >= live_offsets.size()) return;
        outcomes[thread] = WriteIntoDirectory(
            builder_, {partition, live_offsets.at(partition), complete_since}, directory, resources);
        ++done;
        if (draws) progress.Update(done);
      }
    };
    {
      std::vector<std::jthread> others;
      for (unsigned thread = 1; thread < threads; ++thread) others.emplace_back(work, thread, false);
      work(0, true);
    }
    for (Status& outcome : outcomes) {
      if (!outcome) return outcome;
    }
    if (Interrupted()) return Fail(Code::kUnavailable, "interrupted: not all partitions are written");
    progress.Update(done);
    progress.Finish();
    return {};
  }

 private:
  Status Take(const HistoryEntry& entry) {
    ++lines_;
    source_.Finish(entry.ticket,
                   LineOutcome::kSkipped);  // a build is whole or nothing: no line is remembered
    if (!entry.problem.empty()) {
      return rejects_.Add(entry.record != nullptr ? "null_value" : "not_a_row", entry.problem,
                          source_.WhereOf(source_.Place()), entry.text);
    }
    if (Status added = builder_.Add(entry.event, source_.Place(), rejected_); !added) return added;
    return rejected_.empty() ? Status() : NoteRejected();
  }
  Status NoteRejected() {
    for (const RejectedLine& line : rejected_) {
      if (Status added = rejects_.Add(line.reason, line.message, source_.WhereOf(line.place), line.text);
          !added)
        return added;
    }
    rejected_.clear();
    return {};
  }

  const IntoStateSettings& settings_;
  HistorySource& source_;
  Rejects& rejects_;
  StateBuilder& builder_;
  std::vector<RejectedLine> rejected_;
  uint64_t lines_ = 0;
  uint64_t next_check_ = kLinesBetweenChecks;
};

}  // namespace

Result<IntoStateReport> IntoState(const IntoStateSettings& settings, const ReplayTarget& target,
                                  HistorySource& source, Rejects& rejects) {
  auto offsets = LiveOffsets(settings, target);
  if (!offsets) return Fail(offsets.error());
  const auto directory = StoreDirectory::Open(settings.directory);
  if (!directory) return Fail(directory.error());
  const auto there = (*directory)->PartitionsWithState();
  if (!there) return Fail(there.error());
  if (!there->empty() && !settings.replace) {
    return Fail(Code::kRefused,
                fmt::format("--into-state: {}: it has the state of {} partitions. Name an empty directory, "
                            "or say --replace to drop that state",
                            settings.directory, there->size()));
  }
  const unsigned threads =
      settings.threads > 0 ? settings.threads : std::max(1U, std::thread::hardware_concurrency());
  const std::string folder = StoreDirectory::IncomingPath(settings.directory) + "/build";
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error) return Fail(Code::kUnavailable, fmt::format("{}: {}", folder, error.message()));

  IntoStateReport report;
  report.live_offsets = std::move(*offsets);
  report.partitions = static_cast<int32_t>(report.live_offsets.size());
  auto builder = StateBuilder::Make({.config = target.config,
                                     .partitions = report.partitions,
                                     .memory_bytes = settings.memory_bytes,
                                     .folder = folder,
                                     .threads = threads,
                                     .since = settings.since,
                                     .until = settings.until,
                                     .as_of = SystemClock().WallNow()});
  if (!builder) return Fail(builder.error());
  Build build(settings, source, rejects, **builder);
  const Instant started = SystemClock().Now();
  if (Status read = build.ReadAll(); !read) return Fail(read.error());
  report.read_s = Seconds(started);
  report.sorted_bytes = (*builder)->sorted_bytes();
  // What was there goes before anything is written: a directory of two histories would be neither.
  for (const int32_t partition : *there) {
    if (Status removed = (*directory)->RemovePartition(partition); !removed) return Fail(removed.error());
  }
  const Instant writing = SystemClock().Now();
  const StoreResources resources(settings.memory_bytes / 8, static_cast<int>(threads));
  if (Status written = build.WriteAll(settings.directory, report.live_offsets, resources, threads); !written)
    return Fail(written.error());
  report.write_s = Seconds(writing);
  report.counts = (*builder)->counts();
  builder->reset();
  std::filesystem::remove_all(folder, error);
  report.state_bytes = BytesOf(settings.directory);
  report.cpu_s = CpuSeconds();
  return report;
}

}  // namespace seen
