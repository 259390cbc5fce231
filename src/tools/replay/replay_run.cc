#include "tools/replay/replay_run.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "base/durable_file.h"
#include "base/text.h"
#include "flow/replay_runs.h"
#include "tools/common_options.h"
#include "tools/load/event_sink.h"
#include "tools/reach_brokers.h"

namespace seen {

namespace {

constexpr auto kSaveEvery = std::chrono::seconds(1);
constexpr uint64_t kLinesUntilACheck = 100'000;
constexpr uint64_t kMarkTicket = ~uint64_t{0};
// Requests are small: a live event waits for the request before it, at the brokers and again in the daemon.
constexpr uint64_t kBatchBytesMax = 64 << 10;
constexpr std::chrono::milliseconds kLinger{5};
constexpr std::chrono::milliseconds kQueueingMax{5};
constexpr std::chrono::seconds kWindowPatience{60};  // as long as the producer waits for space in its queue

/// How long the producer may wait for more records of a batch.
std::chrono::milliseconds BatchingOf(const ClientSettings& client) {
  auto set = client.find("linger.ms");
  if (set == client.end()) set = client.find("queue.buffering.max.ms");  // its other name
  if (set == client.end()) return kLinger;
  double ms = 0;  // the client rejects a value that isn't a number
  (void)std::from_chars(set->second.data(), set->second.data() + set->second.size(), ms);
  return std::chrono::milliseconds(std::clamp<int64_t>(static_cast<int64_t>(ms), 0, 10'000));
}

}  // namespace

Result<std::unique_ptr<ReplayRun>> ReplayRun::Make(const ReplayTarget& to, ReplaySettings settings,
                                                   Manifest manifest, std::unique_ptr<HistorySource> source,
                                                   Rejects& rejects) {
  auto topic = LookAtTarget(to.brokers, to.client, to.topic, to.partitioner);
  if (!topic) return Fail(topic.error());
  for (const TargetProblem& problem : ProblemsOf(*topic, to.partitioner, settings.stamps_exposure)) {
    if (problem.prevents) return Fail(Code::kRefused, problem.what);
    fmt::print(stderr, "seenctl: {}\n", Printable(problem.what));
  }
  if (!manifest.acknowledged.empty()) {
    const auto is_ours = [&](int32_t, const Record& record) {
      return HeaderOf(record, std::string(kReplayHeader).c_str()) == manifest.run;
    };
    const Status same = CheckSameTopic({to.brokers, to.client, to.topic}, manifest.acknowledged, is_ours);
    if (!same) return Fail(same.error());
  }
  std::unique_ptr<ReplayRun> run(new ReplayRun(to, std::move(*topic), std::move(settings),
                                               std::move(manifest), std::move(source), rejects));
  auto judge = EntryJudge::Make({.config = to.config,
                                 .target = &run->topic_,
                                 .stamps_exposure = run->settings_.stamps_exposure,
                                 .times = run->settings_.times},
                                *run->source_, rejects);
  if (!judge) return Fail(judge.error());
  run->judge_.emplace(std::move(*judge));
  return run;
}

ReplayRun::ReplayRun(const ReplayTarget& to, TargetTopic topic, ReplaySettings settings, Manifest manifest,
                     std::unique_ptr<HistorySource> source, Rejects& rejects)
    : to_(to),
      topic_(std::move(topic)),
      settings_(std::move(settings)),
      manifest_(std::move(manifest)),
      source_(std::move(source)),
      rejects_(rejects),
      limiter_(settings_.rate),
      progress_("replay", source_->Total(), source_->Unit(), settings_.quiet),
      before_(manifest_.Counts()),
      by_rules_before_(manifest_.by_rules),
      next_check_(kLinesUntilACheck),
      started_(SystemClock().Now()) {
  lines_before_ = before_.done() - before_.rejected;  // this run tries the rejected ones again
}

ReplayRun::~ReplayRun() = default;

Status ReplayRun::Open() {
  std::vector<std::pair<std::string, std::string>> headers = {{std::string(kReplayHeader), manifest_.run}};
  if (settings_.publishes_live) headers.emplace_back(kReplayPublishHeader, kReplayPublishLive);
  if (settings_.resends) headers.emplace_back(kResentHeader, manifest_.run);
  const bool shows_lag = !settings_.quiet && !settings_.watermarks_topic.empty();
  if (settings_.lag_max || shows_lag) {
    auto pacer = LagPacer::Open({.brokers = to_.brokers,
                                 .client = to_.client,
                                 .topic = topic_.name,
                                 .partitions = topic_.partitions,
                                 .watermarks_topic = settings_.watermarks_topic,
                                 .lag_max = settings_.lag_max.value_or(std::chrono::seconds(2)),
                                 .rate_max = settings_.rate});
    if (!pacer && settings_.lag_max) return Fail(pacer.error());
    if (pacer) pacer_ = std::move(*pacer);
    if (settings_.lag_max) limiter_ = RateLimiter(pacer_->rate());
  }
  if (settings_.live_first) window_.emplace(kQueueingMax + BatchingOf(to_.client));
  // Undelivered records stay unfinished: the next run sends them.
  const auto on_delivery = [this](uint64_t ticket, bool delivered) {
    if (ticket == kMarkTicket) return;
    if (delivered) source_->Finish(ticket, LineOutcome::kSent);
    NoteAcknowledged(ticket);
  };
  auto producer = BulkProducer::Open({.brokers = to_.brokers,
                                      .client = to_.client,
                                      .topic = topic_.name,
                                      .partitioner = to_.partitioner,
                                      .message_bytes_max = topic_.message_bytes_max.value_or(0),
                                      .linger = kLinger,
                                      .batch_bytes_max = settings_.live_first ? kBatchBytesMax : 0,
                                      .on_delivery = on_delivery,
                                      .headers = std::move(headers)});
  if (!producer) return Fail(producer.error());
  producer_ = std::move(*producer);
  return {};
}

Status ReplayRun::Run() {
  if (auto opened = Open(); !opened) return opened;
  const bool was_finished = std::exchange(manifest_.finished, false);
  // Saves before anything is sent. If saving fails, the run ends now. If the run is killed, the next one
  // continues under its id.
  if (auto saved = Save(); !saved) return saved;
  Status sent = SendAll();
  // Records in flight are acknowledged now, or stay unfinished.
  Status flushed = sent ? FlushAll(*producer_) : producer_->Flush(std::chrono::seconds(5));
  // An incomplete run sends no end mark: another run continues it.
  const bool is_whole = sent && flushed && !Interrupted();
  if (is_whole && (began_ || !was_finished)) {
    sent = SendMarks(kReplayEnd);
    if (sent) flushed = FlushAll(*producer_);
  }
  manifest_.finished = is_whole && sent && flushed;
  Status saved = Save();
  progress_.Update(source_->Position());
  progress_.Finish(ProgressNote());
  if (sent) sent = flushed ? saved : flushed;
  if (sent || sent.error().code != Code::kUnavailable || settings_.manifest_path.empty()) return sent;
  return Fail(Code::kUnavailable,
              fmt::format("{}. Remedy: run the same command again, which continues from {}",
                          sent.error().message, settings_.manifest_path));
}

// Every partition gets the mark: partitions don't know of each other.
Status ReplayRun::SendMarks(std::string_view mark) {
  for (int32_t partition = 0; partition < topic_.partitions; ++partition) {
    if (auto marked =
            producer_->SendMark(partition, std::string(kReplayMarkHeader), std::string(mark), kMarkTicket);
        !marked)
      return marked;
  }
  return {};
}

Status ReplayRun::SendAll() {
  Instant next_save = SystemClock().Now() + kSaveEvery;
  const auto send = [&](const HistoryEntry& entry) { return Send(entry); };
  while (!Interrupted()) {
    const auto more = source_->Next(send);
    if (!more) return Fail(more.error());
    producer_->Poll();
    if (Status delivered = CheckDelivered(*producer_); !delivered) return delivered;
    if (source_->PartEnded() || lines_ >= next_check_ || !*more) {
      if (auto few = CheckRejects(); !few) return few;
    }
    if (!*more) return {};
    progress_.Update(source_->Position(), ProgressNote());
    if (pacer_ && pacer_->Look() && settings_.lag_max) limiter_ = RateLimiter(pacer_->rate());
    if (SystemClock().Now() < next_save) continue;
    if (auto saved = Save(); !saved) return saved;
    judge_->SetNow(SystemClock().WallNow());
    next_save = SystemClock().Now() + kSaveEvery;
  }
  return {};
}

Status ReplayRun::Send(const HistoryEntry& entry) {
  ++lines_;
  const auto event = judge_->Judge(entry);
  if (!event) return Fail(event.error());
  if (!*event) return {};
  const TimeMs at = (*event)->exposed_at;
  if (!std::exchange(began_, true)) {
    if (auto begun = SendMarks(kReplayBegin); !begun) return begun;
  }
  limiter_.Wait();
  if (auto waited = WaitForWindow(); !waited) return waited;
  reached_ = at;
  if (window_ && !probe_) probe_ = {entry.ticket, producer_->outstanding(), SystemClock().Now()};
  Status sent =
      producer_->SendFrom(entry.record, (*event)->user_id, entry.event,
                          settings_.stamps_exposure ? std::optional(at) : std::nullopt, entry.ticket);
  if (sent || sent.error().code != Code::kInvalidArgument) return sent;
  if (probe_ && probe_->ticket == entry.ticket) probe_.reset();
  return judge_->Reject(entry, RejectReasonName(RejectReason::kTooLarge), sent.error().message);
}

Status ReplayRun::WaitForWindow() {
  if (!window_ || producer_->outstanding() < window_->size()) return {};
  const Instant until = SystemClock().Now() + kWindowPatience;
  const auto is_full = [&] { return producer_->outstanding() >= window_->size(); };
  while (is_full() && producer_->failed_total() == 0 && !Interrupted()) {
    // The process may have stood still, so take in acknowledgements first.
    producer_->Poll(std::chrono::milliseconds(10));
    if (is_full() && SystemClock().Now() >= until) {
      return Fail(Code::kUnavailable,
                  fmt::format("produce to {}: the brokers acknowledge nothing", topic_.name));
    }
  }
  return {};
}

void ReplayRun::NoteAcknowledged(uint64_t ticket) {
  if (!probe_ || probe_->ticket != ticket) return;
  const Instant now = SystemClock().Now();
  const auto latency = std::chrono::duration_cast<std::chrono::microseconds>(now - probe_->sent);
  window_->Acknowledged(latency, probe_->in_flight, now);
  probe_.reset();
}

Status ReplayRun::CheckRejects() {
  next_check_ = lines_ + kLinesUntilACheck;
  return rejects_.CheckShare(rejects_.total(), lines_before_ + lines_, *source_);
}

Status ReplayRun::Save() {
  source_->Describe(manifest_);
  for (const auto& [partition, offset] : producer_->last_offsets())
    manifest_.acknowledged[partition] = offset;
  manifest_.by_rules = by_rules_before_ + judge_->counts().skipped;
  if (!settings_.metrics_path.empty()) {
    if (auto written = WriteReplayMetrics(settings_.metrics_path, manifest_, rejects_, reached_); !written)
      return written;
  }
  if (settings_.manifest_path.empty()) return {};
  if (auto synced = rejects_.Sync(); !synced) return synced;
  return WriteManifest(settings_.manifest_path, manifest_);
}

std::string ReplayRun::ProgressNote() const {
  const double elapsed_s = std::chrono::duration<double>(SystemClock().Now() - started_).count();
  const std::string day =
      reached_.value > 0 ? fmt::format(", reached {}", DayText(DayOf(reached_))) : std::string();
  return fmt::format("{} events at {}/s, {} rejected{}{}", WithThousands(lines_),
                     WithThousands(static_cast<uint64_t>(static_cast<double>(lines_) / (elapsed_s + 1e-9))),
                     WithThousands(rejects_.total()), day,
                     pacer_ ? fmt::format(", lag {:.1f} s", pacer_->lag_s()) : "");
}

std::string ReplayMetricsText(const Manifest& manifest, const Rejects& rejects, TimeMs reached) {
  std::string text;
  const auto head = [&](std::string_view name, std::string_view type, std::string_view help) {
    text += fmt::format("# HELP {0} {2}\n# TYPE {0} {1}\n", name, type, help);
  };
  const LineCounts counts = manifest.Counts();
  head("seen_replay_lines_total", "counter",
       "Lines or records that are done, over all runs of the manifest.");
  for (const auto& [outcome, count] :
       {std::pair{"sent", counts.sent}, {"rejected", counts.rejected}, {"skipped", counts.skipped}}) {
    text += fmt::format("seen_replay_lines_total{{topic=\"{}\",outcome=\"{}\"}} {}\n", manifest.target,
                        outcome, count);
  }
  head("seen_replay_rejects_total", "counter", "Lines of this run that couldn't be sent, by reason.");
  for (const auto& [reason, of] : rejects.reasons()) {
    text += fmt::format("seen_replay_rejects_total{{topic=\"{}\",reason=\"{}\"}} {}\n", manifest.target,
                        reason, of.count);
  }
  head("seen_replay_reached_timestamp_seconds", "gauge", "The time of the last event that was sent.");
  text += fmt::format("seen_replay_reached_timestamp_seconds{{topic=\"{}\"}} {:.3f}\n", manifest.target,
                      static_cast<double>(reached.value) / 1000);
  head("seen_replay_finished", "gauge", "1 once the run has finished all its input.");
  text +=
      fmt::format("seen_replay_finished{{topic=\"{}\"}} {}\n", manifest.target, manifest.finished ? 1 : 0);
  return text;
}

Status WriteReplayMetrics(const std::string& path, const Manifest& manifest, const Rejects& rejects,
                          TimeMs reached) {
  const Status written = WriteDurably(path, ReplayMetricsText(manifest, rejects, reached));
  if (!written)
    return Fail(written.error().code, fmt::format("--metrics: {}: {}", path, written.error().message));
  return {};
}

}  // namespace seen
