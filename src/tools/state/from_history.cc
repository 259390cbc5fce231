#include "tools/state/from_history.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <thread>

#include "base/mutex.h"
#include "base/text.h"
#include "kafka/topic_reader.h"
#include "tools/common_options.h"
#include "tools/progress.h"
#include "tools/replay/history_options.h"

namespace seen {
namespace {

constexpr std::chrono::seconds kKafkaTimeout(15);
constexpr uint64_t kLinesBetweenChecks = 100'000;

double Seconds(Instant since) { return std::chrono::duration<double>(SystemClock().Now() - since).count(); }

// A topic is unavailable for a moment after its creation, and while its leader moves.
Result<std::unique_ptr<TopicReader>> OpenInput(const TopicReader::Options& options) {
  const Instant until = SystemClock().Now() + kKafkaTimeout;
  while (true) {
    auto reader = TopicReader::Open(options, kKafkaTimeout);
    if (reader || reader.error().code != Code::kUnavailable || SystemClock().Now() >= until) return reader;
    std::this_thread::sleep_for(std::chrono::milliseconds(250));
  }
}

/// The offsets at which live consumption of the partitions begins.
Result<std::map<int32_t, int64_t>> LiveOffsets(const IntoStateSettings& settings,
                                               const ReplayTarget& target) {
  std::map<int32_t, int64_t> offsets;
  const auto begin_all_at_0 = [&] {
    for (int32_t partition = 0; partition < *settings.partitions; ++partition) offsets[partition] = 0;
    return std::move(offsets);
  };
  if (settings.live_from.empty() && settings.partitions) return begin_all_at_0();
  TopicReader::Options options{.brokers = target.brokers, .client = target.client, .topic = target.topic};
  const bool from_end = settings.live_from == "end";
  if (settings.live_from != "earliest" && !settings.live_from.empty() && !from_end) {
    const auto time = ParseTime("--live-from", settings.live_from, SystemClock().WallNow());
    if (!time) return Fail(time.error());
    options.from_time = *time;
  }
  const auto reader = OpenInput(options);
  if (!reader && reader.error().code == Code::kNotFound && settings.partitions) return begin_all_at_0();
  if (!reader) {
    return Fail(reader.error().code, fmt::format("{} (the build needs the input topic's offsets; for a topic "
                                                 "that doesn't exist yet, give --partitions)",
                                                 reader.error().message));
  }
  for (const auto& range : (*reader)->ranges()) offsets[range.partition] = from_end ? range.to : range.from;
  if (settings.partitions && static_cast<size_t>(*settings.partitions) != offsets.size()) {
    return Fail(Code::kInvalidArgument, fmt::format("--partitions: {}: topic {} has {}", *settings.partitions,
                                                    target.topic, offsets.size()));
  }
  return offsets;
}

/// A history as the source of a state's rows: reads and sorts it in Heads.
class HistoryState final : public CopySource {
 public:
  HistoryState(const IntoStateSettings& settings, const ReplayTarget& target, HistorySource& source,
               Rejects& rejects, IntoStateReport& report)
      : settings_(settings), target_(target), source_(source), rejects_(rejects), report_(report) {}

  int32_t partitions() const override { return report_.partitions; }
  Result<std::vector<PartitionHead>> Heads(CopySink& sink) override;
  Status PassRows(CopySink& sink) override;
  double SecondsSinceHeads() const { return Seconds(sorted_at_); }

 private:
  Status ReadAll();
  Status Take(const HistoryEntry& entry);
  Status NoteRejected();
  Status CheckKept() const;

  const IntoStateSettings& settings_;
  const ReplayTarget& target_;
  HistorySource& source_;
  Rejects& rejects_;
  IntoStateReport& report_;
  std::unique_ptr<StateBuilder> builder_;  // from Heads on
  std::vector<RejectedLine> rejected_;
  uint64_t lines_ = 0;
  uint64_t next_check_ = kLinesBetweenChecks;
  Instant sorted_at_;
};

Result<std::vector<PartitionHead>> HistoryState::Heads(CopySink& sink) {
  auto folder = sink.SortFolder();
  if (!folder) return Fail(folder.error());
  auto builder = StateBuilder::Make({.config = target_.config,
                                     .partitions = report_.partitions,
                                     .memory_bytes = settings_.memory_bytes,
                                     .folder = std::move(*folder),
                                     .threads = settings_.threads,
                                     .since = settings_.since,
                                     .until = settings_.until,
                                     .as_of = SystemClock().WallNow()});
  if (!builder) return Fail(builder.error());
  builder_ = std::move(*builder);
  const Instant started = SystemClock().Now();
  if (Status read = ReadAll(); !read) return Fail(read.error());
  Manifest read;
  source_.Describe(read);
  if (ReportFiles(read, settings_.quiet)) {
    return Fail(Code::kCorrupt,
                "nothing was written: without the damaged files the state isn't whole. Remedy: mend the "
                "files, or leave them out");
  }
  report_.read_s = Seconds(started);
  sorted_at_ = SystemClock().Now();
  report_.sorted_bytes = builder_->sorted_bytes();
  report_.counts = builder_->counts();
  if (Status kept = CheckKept(); !kept) return Fail(kept.error());
  const TimeMs complete_since = settings_.whole ? TimeMs{0} : report_.counts.first;
  std::vector<PartitionHead> heads;
  heads.reserve(report_.live_offsets.size());
  for (const auto& [partition, offset] : report_.live_offsets)
    heads.push_back(
        {builder_->DescriptorOf(partition), builder_->PositionOf({partition, offset, complete_since})});
  return heads;
}

/// A state without any of the history is no success.
Status HistoryState::CheckKept() const {
  const BuildCounts& counts = report_.counts;
  const std::string what = BeyondWindowsText(counts);
  if (what.empty()) return {};
  if (counts.beyond_windows == counts.events) return Fail(Code::kRefused, "nothing was written: " + what);
  fmt::print(stderr, "seenctl: warning: {}\n", what);
  return {};
}

Status HistoryState::ReadAll() {
  Progress progress("read", source_.Total(), source_.Unit(), settings_.quiet);
  const auto take = [this](const HistoryEntry& entry) { return Take(entry); };
  while (true) {
    if (Interrupted()) return Fail(Code::kUnavailable, "interrupted: nothing was written");
    const auto more = source_.Next(take);
    if (!more) return Fail(more.error());
    if (source_.PartEnded() || lines_ >= next_check_) {
      next_check_ = lines_ + kLinesBetweenChecks;
      if (Status few = rejects_.CheckShare(rejects_.total(), lines_, source_); !few) return few;
    }
    progress.Update(source_.Position(),
                    fmt::format("{} lines, {} rejected, reached {}", WithThousands(lines_),
                                WithThousands(rejects_.total()), DayText(DayOf(builder_->counts().last))));
    if (!*more) break;
  }
  if (Status finished = builder_->Finish(rejected_); !finished) return finished;
  if (Status noted = NoteRejected(); !noted) return noted;
  progress.Finish();
  return rejects_.CheckShare(rejects_.total(), lines_, source_);
}

Status HistoryState::Take(const HistoryEntry& entry) {
  ++lines_;
  // A build is whole or nothing, so no line is recorded.
  source_.Finish(entry.ticket, LineOutcome::kSkipped);
  if (const auto& [reason, message] = entry.problem; !message.empty()) {
    source_.NoteRejected(source_.Place());
    return rejects_.Add(reason, message, source_.WhereOf(source_.Place()), entry.text);
  }
  if (Status added = builder_->Add(entry.event, source_.Place(), rejected_); !added) return added;
  return rejected_.empty() ? Status() : NoteRejected();
}

Status HistoryState::NoteRejected() {
  for (const RejectedLine& line : rejected_) {
    if (Status added = rejects_.Add(line.reason, line.message, source_.WhereOf(line.place), line.text);
        !added)
      return added;
    source_.NoteRejected(line.place);
  }
  rejected_.clear();
  return {};
}

Status HistoryState::PassRows(CopySink& sink) {
  const auto partitions = static_cast<size_t>(report_.partitions);
  Progress progress("write", partitions, "partitions", settings_.quiet);
  Mutex mutex;
  uint64_t done = 0;
  Status passed = InParallel(sink.threads(), partitions, [&](size_t at) -> Status {
    if (Interrupted()) return Fail(Code::kUnavailable, "interrupted: not all partitions are written");
    const auto partition = static_cast<int32_t>(at);
    const auto add = [&](const Row& row) { return sink.Add(partition, row, nullptr); };
    if (Status added = builder_->ForEachUserRow(partition, add); !added) return added;
    Status ended = sink.End(partition);
    const MutexLock lock(mutex);
    progress.Update(++done);
    return ended;
  });
  if (passed) progress.Finish();
  return passed;
}

}  // namespace

Result<IntoStateReport> IntoState(const IntoStateSettings& settings, const ReplayTarget& target,
                                  CopySink& sink, HistorySource& source, Rejects& rejects) {
  if (Status other = rejects.CheckNotReadBy(source); !other) return Fail(other.error());
  auto offsets = LiveOffsets(settings, target);
  if (!offsets) return Fail(offsets.error());
  IntoStateReport report;
  report.live_offsets = std::move(*offsets);
  report.partitions = static_cast<int32_t>(report.live_offsets.size());
  {
    HistoryState history(settings, target, source, rejects, report);
    if (Status copied = CopyState(history, sink); !copied) return Fail(copied.error());
    report.write_s = history.SecondsSinceHeads();
  }
  sink.Clear();
  report.state_bytes = sink.StateBytes();
  return report;
}

std::string IntoStateText(const IntoStateReport& report, uint64_t rejected) {
  const BuildCounts& counts = report.counts;
  const double bytes_an_item =
      counts.items > 0 ? static_cast<double>(report.state_bytes) / static_cast<double>(counts.items) : 0;
  return fmt::format(
      "{} events with {} items, {} rejected, {} skipped, {} beyond every window: {} of state in {} "
      "partitions, {:.2f} bytes an item\nread in {:.1f} s, {} events/s; written in {:.1f} s\n",
      WithThousands(counts.events), WithThousands(counts.items), WithThousands(rejected),
      WithThousands(counts.skipped), WithThousands(counts.beyond_windows), WithByteUnit(report.state_bytes),
      report.partitions, bytes_an_item, report.read_s,
      WithThousands(static_cast<uint64_t>(static_cast<double>(counts.events) / report.read_s)),
      report.write_s);
}

std::string IntoStateJson(const IntoStateReport& report, uint64_t rejected) {
  nlohmann::ordered_json offsets = nlohmann::ordered_json::object();
  for (const auto& [partition, offset] : report.live_offsets) offsets[std::to_string(partition)] = offset;
  const nlohmann::ordered_json result = {{"events", report.counts.events},
                                         {"items", report.counts.items},
                                         {"skipped", report.counts.skipped},
                                         {"rejected", rejected},
                                         {"beyond_windows", report.counts.beyond_windows},
                                         {"partitions", report.partitions},
                                         {"state_bytes", report.state_bytes},
                                         {"sorted_bytes", report.sorted_bytes},
                                         {"read_s", report.read_s},
                                         {"write_s", report.write_s},
                                         {"live_offsets", offsets}};
  return JsonText(result);
}

}  // namespace seen
