// replay: history into the input topic, in a way that survives being killed.

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cerrno>
#include <cstring>
#include <memory>
#include <nlohmann/json.hpp>

#include "decode/event_decoder.h"
#include "kafka/bulk_producer.h"
#include "tools/ask/calendar.h"
#include "tools/commands.h"
#include "tools/common_options.h"
#include "tools/load/event_sink.h"
#include "tools/load/rate_limiter.h"
#include "tools/load/replay_source.h"
#include "tools/progress.h"

namespace seen {
namespace {

constexpr auto kPositionEvery = std::chrono::seconds(1);
constexpr size_t kRejectTextBytesMax = 4096;

struct ReplayOptions {
  KafkaOptions kafka;
  std::vector<std::string> files;
  std::string from_topic;
  std::string from_brokers;
  std::string since;
  std::string until;
  std::string timestamps = "exposed_at";
  std::string progress;
  std::string rejects;
  uint64_t event_bytes_max = 1'048'576;
  double rate = 0;
  bool json = false;
  bool quiet = false;
};

/// The file of rejected lines: JSON objects with place, reason and text. Lines of a run that was killed are
/// in it again if they come again.
class RejectsFile {
 public:
  ~RejectsFile() {
    if (file_ >= 0) close(file_);
  }
  Status Open(const std::string& path) {
    path_ = path;
    file_ = open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
    return file_ >= 0 ? Status() : Broken();
  }
  Status Write(const std::string& where, const Rejection& rejection, std::string_view text) {
    if (file_ < 0) return {};
    auto line = nlohmann::ordered_json::parse(where);
    line["reason"] = RejectReasonName(rejection.reason);
    line["message"] = rejection.message;
    line["text"] = text.substr(0, kRejectTextBytesMax);
    const std::string bytes = line.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
    const auto written = write(file_, bytes.data(), bytes.size());
    return written == static_cast<ssize_t>(bytes.size()) ? Status() : Broken();
  }
  Status Sync() { return file_ < 0 || fsync(file_) == 0 ? Status() : Broken(); }

 private:
  Status Broken() const {
    return Fail(Code::kUnavailable, fmt::format("--rejects: {}: {}", path_, std::strerror(errno)));
  }
  std::string path_;
  int file_ = -1;
};

class Replay {
 public:
  Replay(const ReplayOptions& options, const ReplayPosition& position, std::unique_ptr<ReplaySource> source)
      : options_(options),
        position_(position),
        source_(std::move(source)),
        decoder_(options.event_bytes_max) {}

  Status Open(const ClientSettings& settings) {
    if (!options_.rejects.empty()) {
      if (auto opened = rejects_.Open(options_.rejects); !opened) return opened;
    }
    auto producer = BulkProducer::Open({.brokers = options_.kafka.brokers,
                                        .client = settings,
                                        .topic = options_.kafka.topic,
                                        .partitioner = *ParsePartitioner(options_.kafka.partitioner),
                                        .on_delivery = [this](uint64_t ticket, bool delivered) {
                                          if (!delivered) return;  // stays unfinished: the next run sends it
                                          source_->Finish(ticket);
                                          ++position_.sent;
                                        }});
    if (!producer) return Fail(producer.error());
    producer_ = std::move(*producer);
    return {};
  }

  Status Run() {
    RateLimiter limiter(options_.rate);
    Progress progress("replay", source_->Total(), source_->Unit(),
                      options_.quiet ? Progress::Mode::kQuiet : Progress::Mode::kAuto);
    Instant next_position = SystemClock().Now() + kPositionEvery;
    const auto send = [&](const ReplayEntry& entry) { return Send(entry, limiter); };
    bool more = true;
    while (more && !Interrupted()) {
      const auto next = source_->Next(send);
      if (!next) return Stop(next.error());
      more = *next;
      producer_->Poll();
      if (producer_->failed_total() > 0) return Stop(Undelivered());
      progress.Update(source_->Position(), fmt::format("{} sent, {} rejected", WithThousands(position_.sent),
                                                       WithThousands(position_.rejected)));
      if (SystemClock().Now() < next_position) continue;
      if (auto saved = SavePosition(); !saved) return saved;
      next_position = SystemClock().Now() + kPositionEvery;
    }
    if (auto flushed = FlushAll(*producer_); !flushed) return Stop(flushed.error());
    position_.finished = !more;
    progress.Update(source_->Position());
    progress.Finish();
    return SavePosition();
  }

  const ReplayPosition& position() const { return position_; }

 private:
  Status Send(const ReplayEntry& entry, RateLimiter& limiter) {
    const auto event = entry.is_null
                           ? tl::unexpected<Rejection>({RejectReason::kNullValue, "", "a null value"})
                           : decoder_.Decode(entry.bytes);
    if (!event) {
      ++position_.rejected;
      auto written = rejects_.Write(source_->Where(entry), event.error(), entry.bytes);
      source_->Finish(entry.ticket);
      return written;
    }
    limiter.Wait();
    const auto timestamp = options_.timestamps == "now" ? std::nullopt : std::optional(event->exposed_at);
    return producer_->Send(event->user_id, entry.bytes, timestamp, entry.ticket);
  }

  Error Undelivered() const {
    return {Code::kUnavailable,
            fmt::format("{} events could not be delivered: {}{}", producer_->failed_total(),
                        producer_->last_failure(),
                        options_.progress.empty() ? "" : "; run again to go on from " + options_.progress)};
  }

  /// Ends early, keeping what has been acknowledged.
  Status Stop(const Error& error) {
    static_cast<void>(producer_->Flush(std::chrono::seconds(5)));
    if (auto saved = SavePosition(); !saved) return saved;
    return Fail(error);
  }

  Status SavePosition() {
    source_->Describe(position_);
    if (options_.progress.empty()) return {};
    if (auto synced = rejects_.Sync(); !synced) return synced;
    return WriteReplayPosition(options_.progress, position_);
  }

  const ReplayOptions& options_;
  ReplayPosition position_;
  std::unique_ptr<ReplaySource> source_;  // outlives the producer, whose acknowledgements go to it
  EventDecoder decoder_;
  RejectsFile rejects_;
  std::unique_ptr<BulkProducer> producer_;
};

Status CheckOptions(const ReplayOptions& options) {
  const bool from_topic = !options.from_topic.empty();
  if (from_topic == !options.files.empty()) {
    return Fail(Code::kInvalidArgument,
                "replay: give FILES (- for standard input) or --from-topic, one of them");
  }
  if (!from_topic && (!options.since.empty() || !options.until.empty())) {
    return Fail(Code::kInvalidArgument, "--since, --until: they are about --from-topic");
  }
  if (from_topic && options.from_topic == options.kafka.topic &&
      (options.from_brokers.empty() || options.from_brokers == options.kafka.brokers)) {
    return Fail(
        Code::kInvalidArgument,
        fmt::format("--from-topic: {}: that is the topic replayed into (--topic)", options.from_topic));
  }
  if (!options.progress.empty() && std::count(options.files.begin(), options.files.end(), "-") > 0) {
    return Fail(Code::kInvalidArgument, "--progress: standard input can't be read again; give a file");
  }
  return {};
}

Result<TopicRange> RangeOf(const ReplayOptions& options, const ClientSettings& settings) {
  TopicRange range{.brokers = options.from_brokers.empty() ? options.kafka.brokers : options.from_brokers,
                   .client = settings,
                   .topic = options.from_topic,
                   .since = {},
                   .until = {},
                   .words = fmt::format("topic {} since {} until {}", options.from_topic,
                                        options.since.empty() ? "its start" : options.since,
                                        options.until.empty() ? "its end" : options.until)};
  const TimeMs now = SystemClock().WallNow();
  const auto parse = [&](std::string_view name, const std::string& text,
                         std::optional<TimeMs>& into) -> Status {
    if (text.empty()) return {};
    const auto time = ParseTime(name, text, now);
    if (!time) return Fail(time.error());
    into = *time;
    return {};
  };
  if (auto status = parse("--since", options.since, range.since); !status) return Fail(status.error());
  if (auto status = parse("--until", options.until, range.until); !status) return Fail(status.error());
  return range;
}

int RunReplay(const ReplayOptions& options) {
  if (auto status = CheckOptions(options); !status) return ExitWith(status.error());
  const auto settings = options.kafka.Settings();
  if (!settings) return ExitWith(settings.error());

  std::optional<ReplayPosition> stored;
  if (!options.progress.empty()) {
    auto read = ReadReplayPosition(options.progress);
    if (!read) return ExitWith(read.error());
    stored = std::move(*read);
  }
  const ReplayPosition* resume = stored ? &*stored : nullptr;
  Result<std::unique_ptr<ReplaySource>> source = Fail(Code::kInvalidArgument, "");
  if (options.from_topic.empty()) {
    source = MakeFileSource(options.files, resume);
  } else {
    const auto range = RangeOf(options, *settings);
    if (!range) return ExitWith(range.error());
    source = MakeTopicSource(*range, resume);
  }
  if (!source) return ExitWith(source.error());

  ReplayPosition position;
  (*source)->Describe(position);
  position.target = options.kafka.topic;
  if (stored) {
    if (auto same = CheckSameReplay(options.progress, *stored, position); !same)
      return ExitWith(same.error());
    position.sent = stored->sent;
    position.rejected = stored->rejected;
    if (!options.quiet) {
      fmt::print(stderr, "seenctl: {} {}: {} sent and {} rejected before\n",
                 stored->finished ? "already finished according to" : "going on from", options.progress,
                 WithThousands(stored->sent), WithThousands(stored->rejected));
    }
  }
  CatchInterrupts();
  Replay replay(options, position, std::move(*source));
  Status outcome = replay.Open(*settings);
  if (outcome) outcome = replay.Run();
  const ReplayPosition& end = replay.position();
  if (options.json) {
    const nlohmann::ordered_json result = {
        {"sent", end.sent}, {"rejected", end.rejected}, {"finished", end.finished}};
    fmt::print("{}\n", result.dump());
  } else if (!options.quiet) {
    fmt::print(stderr, "{} events sent, {} rejected{}\n", WithThousands(end.sent),
               WithThousands(end.rejected), end.finished ? "" : "; not finished");
  }
  if (!outcome) return ExitWith(outcome.error());
  return end.finished ? kExitOk : kExitFailed;
}

}  // namespace

Subcommand AddReplay(CLI::App& root) {
  auto options = std::make_shared<ReplayOptions>();
  CLI::App* app = root.add_subcommand("replay", "send history into the input topic: files, or another topic");
  AddKafkaOptions(*app, options->kafka);
  AddPartitionerOption(*app, options->kafka);
  app->add_option("files", options->files, "files of exposures, JSON lines, also .gz; - is standard input");
  app->add_option("--from-topic", options->from_topic, "read this topic instead of files");
  app->add_option("--from-brokers", options->from_brokers, "where --from-topic is, if elsewhere");
  app->add_option("--since", options->since,
                  "records from this time on: 2026-11-01T00:00:00Z, ms, or an age like 7d");
  app->add_option("--until", options->until, "records before this time");
  app->add_option("--timestamps", options->timestamps,
                  "the new records' time: exposed_at (windows see history as it was) or now")
      ->check(CLI::IsMember({"exposed_at", "now"}))
      ->capture_default_str();
  app->add_option("--rate", options->rate, "events a second; 0: as fast as it goes")
      ->check(CLI::NonNegativeNumber)
      ->capture_default_str();
  app->add_option("--progress", options->progress, "remember in this file what is sent, and go on from it");
  app->add_option("--rejects", options->rejects,
                  "write what can't be sent to this file, with its place and reason");
  app->add_option("--event-bytes-max", options->event_bytes_max, "as input.event_bytes_max")
      ->capture_default_str();
  app->add_flag("--json", options->json, "print the result as JSON");
  app->add_flag("--quiet", options->quiet, "no progress");
  return {app, [options] { return RunReplay(*options); }};
}

}  // namespace seen
