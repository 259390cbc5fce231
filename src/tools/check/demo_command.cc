// demo: sends real exposures and a live stream to a running daemon, shows figures, then checks answers.

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <atomic>
#include <memory>
#include <thread>

#include "kafka/bulk_producer.h"
#include "tools/ask/daemon_client.h"
#include "tools/check/demo_checks.h"
#include "tools/check/demo_metrics.h"
#include "tools/check/demo_similar.h"
#include "tools/commands.h"
#include "tools/common_options.h"
#include "tools/history/line_reader.h"
#include "tools/load/event_sink.h"
#include "tools/load/exposure_generator.h"
#include "tools/load/rate_limiter.h"
#include "tools/load/time_shift.h"
#include "tools/whole_topic.h"

namespace seen {
namespace {

constexpr double kExampleRate =
    60'000;  // events a second; the embedded broker keeps only 5 MB of a partition
constexpr auto kCatchUpMax = std::chrono::seconds(20);
constexpr size_t kOtherUsers = 1000;

struct DemoOptions {
  KafkaOptions kafka;
  AskOptions daemon;
  GeneratorOptions stream{.users = 20'000, .items = 20'000};
  std::string example;
  std::string snapshot_topic = "seen-filters";
  std::string items_topic;  // empty: no items are sent
  double rate = 20'000;
  double seconds = 20;
};

/// Keeps each user's last published snapshot, from before the stream starts, in a thread of its own.
class SnapshotFollower {
 public:
  explicit SnapshotFollower(SnapshotTopic::Options options)
      : topic_(std::move(options)), thread_([this](const std::stop_token& stop) { Run(stop); }) {}

  /// Stops following. The result has everything that was published until now.
  Result<const SnapshotTopic*> Finish() {
    thread_.request_stop();
    thread_.join();
    if (auto read = topic_.CatchUp(); !read) return Fail(read.error());
    return &topic_;
  }

 private:
  void Run(const std::stop_token& stop) {
    while (!stop.stop_requested()) {
      // The topic may not exist yet. Finish reports an error that persists.
      static_cast<void>(topic_.CatchUp());
      std::this_thread::sleep_for(std::chrono::milliseconds(200));
    }
  }
  SnapshotTopic topic_;  // only thread_ uses it until it is joined
  std::jthread thread_;
};

class Demo {
 public:
  Demo(const DemoOptions& options, DaemonClient daemon)
      : options_(options), daemon_(std::move(daemon)), judge_(rules_), oracle_(rules_) {}

  Result<bool> Run(const ClientSettings& settings) {
    auto producer = BulkProducer::Open({.brokers = options_.kafka.brokers,
                                        .client = settings,
                                        .topic = options_.kafka.topic,
                                        .partitioner = *ParsePartitioner(options_.kafka.partitioner),
                                        .on_delivery = {}});
    if (!producer) return Fail(producer.error());
    producer_ = std::move(*producer);
    SnapshotFollower follower({options_.kafka.brokers, settings, options_.snapshot_topic});

    fmt::print("Sending the real exposures of {}, then {:.0f} synthetic ones a second for {:.0f} s.\n\n{}\n",
               options_.example, options_.rate, options_.seconds, DemoHeading());
    if (auto scraped = Scrape(); !scraped) return Fail(scraped.error());
    first_ = last_;
    start_ = SystemClock().Now();
    if (auto sent = SendExample(); !sent) return Fail(sent.error());
    if (auto sent = SendLive(); !sent) return Fail(sent.error());
    if (auto flushed = FlushAll(*producer_); !flushed) return Fail(flushed.error());
    if (Interrupted()) return Fail(Code::kUnavailable, "interrupted");
    // The daemon may not know of the last records yet: their offsets, not its lag, show when it has them.
    const auto ends = EndsOf(options_.kafka.brokers, settings, options_.kafka.topic);
    if (!ends) return Fail(ends.error());
    if (auto caught_up = WaitUntilCaughtUp(daemon_, *ends, /*published=*/true, kCatchUpMax, /*quiet=*/true);
        !caught_up) {
      return Fail(caught_up.error());
    }
    if (auto printed = PrintLine(); !printed) return Fail(printed.error());
    const bool all_taken_in = CheckTotals();

    const auto published = follower.Finish();
    if (!published) return Fail(published.error());
    const auto busiest = ShowBusiestUser(oracle_, daemon_, options_.daemon.filter, **published);
    if (!busiest) return Fail(busiest.error());
    auto second = DaemonClient::Make(options_.daemon.http);
    if (!second) return Fail(second.error());
    const auto others =
        CheckOtherUsers(oracle_, std::move(*second), options_.daemon.filter, **published, kOtherUsers);
    if (!others) return Fail(others.error());
    const auto similar = Similar(settings);
    if (!similar) return Fail(similar.error());
    return all_taken_in && *busiest && *others && *similar;
  }

 private:
  Result<bool> Similar(const ClientSettings& settings) {
    if (options_.items_topic.empty()) return true;
    return ShowSimilar({.brokers = options_.kafka.brokers,
                        .client = settings,
                        .items_topic = options_.items_topic,
                        .filter = options_.daemon.filter},
                       daemon_, *producer_);
  }

  Status SendExample() {
    const auto last = LastExposure(options_.example);
    if (!last) return Fail(last.error());
    const int64_t shift_ms = SystemClock().WallNow().value - last->value;
    auto lines = LineReader::Open(options_.example);
    if (!lines) return Fail(lines.error());
    EventDecoder decoder(size_t{1} << 20);
    RateLimiter limiter(kExampleRate);
    std::string_view line;
    while (!Interrupted()) {
      const auto more = lines->Next(line);
      if (!more) return Fail(more.error());
      if (!*more) break;
      const auto shifted = ShiftExposure(line, shift_ms);
      if (!shifted) return Fail(shifted.error());
      const auto event = decoder.Decode(*shifted);
      if (!event)
        return Fail(Code::kMalformed, fmt::format("{}: line {}: {}", options_.example, lines->line_number(),
                                                  event.error().message));
      limiter.Wait();
      if (auto sent = Send(std::string(event->user_id), *shifted); !sent) return sent;
    }
    return {};
  }

  Status SendLive() {
    ExposureGenerator generator(options_.stream);
    RateLimiter limiter(options_.rate);
    const Instant end =
        SystemClock().Now() + std::chrono::nanoseconds(static_cast<int64_t>(options_.seconds * 1e9));
    while (SystemClock().Now() < end && !Interrupted()) {
      limiter.Wait();
      const auto event = generator.Next(SystemClock().WallNow());
      if (auto sent = Send(event.user_id, event.payload); !sent) return sent;
    }
    return {};
  }

  Status Send(std::string_view user_id, std::string_view payload) {
    if (auto sent = producer_->Send(user_id, payload, std::nullopt); !sent) return sent;
    Record record;
    record.timestamp = SystemClock().WallNow();
    record.value = payload;
    if (const auto told = judge_.Read(record)) oracle_.Add(*told);
    if (SystemClock().Now() - last_at_ >= std::chrono::seconds(1)) return PrintLine();
    return {};
  }

  Status Scrape() {
    const auto page = daemon_.MetricsPage();
    if (!page) return Fail(page.error());
    last_ = ParseDemoScrape(*page);
    last_at_ = SystemClock().Now();
    return {};
  }

  Status PrintLine() {
    const DemoScrape before = last_;
    const Instant before_at = last_at_;
    if (auto scraped = Scrape(); !scraped) return scraped;
    const auto seconds = [](Instant from, Instant to) {
      return std::chrono::duration<double>(to - from).count();
    };
    fmt::print("{}\n", DemoLine(before, last_, seconds(before_at, last_at_), seconds(start_, last_at_)));
    std::fflush(stdout);
    return {};
  }

  bool CheckTotals() const {
    const double taken_in = last_.events - first_.events;
    const double rejected = last_.rejected - first_.rejected;
    const auto sent = static_cast<double>(judge_.counts().exposures);
    fmt::print(
        "\n{:.0f} events sent, {:.0f} taken in, {:.0f} rejected; over all of them event to visible {} / {}, "
        "event to "
        "published {} / {} (p50 / p99)\n",
        sent, taken_in, rejected, LatencyText(Since(first_.event_to_visible, last_.event_to_visible), 0.5),
        LatencyText(Since(first_.event_to_visible, last_.event_to_visible), 0.99),
        LatencyText(Since(first_.event_to_published, last_.event_to_published), 0.5),
        LatencyText(Since(first_.event_to_published, last_.event_to_published), 0.99));
    const bool well = taken_in >= sent && rejected == 0;
    if (!well) fmt::print("    WRONG: the daemon didn't take in all that was sent\n");
    return well;
  }

  const DemoOptions& options_;
  DaemonClient daemon_;
  const OracleRules rules_;
  EventJudge judge_;
  Oracle oracle_;
  std::unique_ptr<BulkProducer> producer_;
  DemoScrape first_;
  DemoScrape last_;
  Instant start_;
  Instant last_at_;
};

void PrintAddresses(const DemoOptions& options) {
  const std::string& http = options.daemon.http.base;
  const std::string& brokers = options.kafka.brokers;
  fmt::print("\nTo look at while seend runs (make demo KEEP=1 leaves seend running):\n");
  fmt::print("  {}/v1/status\n  {}/metrics\n", http, http);
  fmt::print("  curl -s {}/v1/filters/{}/users/USER/unseen -d '{{\"items\":[\"a\",\"b\"]}}'\n", http,
             options.daemon.filter);
  fmt::print("  kcat -b {} -L\n  kcat -b {} -C -t {} -o -5 -e\n", brokers, brokers, options.kafka.topic);
  fmt::print("  kcat -b {} -C -t {} -o -5 -e -f '%k: %S bytes\\n'\n", brokers, options.snapshot_topic);
}

int RunDemo(DemoOptions& options) {
  const auto settings = options.kafka.Settings();
  if (!settings) return ExitWith(settings.error());
  if (auto valid = ExposureGenerator::Validate(options.stream); !valid) return ExitWith(valid.error());
  auto daemon = DaemonClient::Make(options.daemon.http);
  if (!daemon) return ExitWith(daemon.error());
  CatchInterrupts();
  if (auto ready = WaitUntilCaughtUp(*daemon, {}, false, std::chrono::seconds(30), true); !ready)
    return ExitWith(ready.error());
  if (options.kafka.brokers.empty()) {
    const auto status = daemon->Status();
    if (!status) return ExitWith(status.error());
    options.kafka.brokers = status->brokers;
  }
  Demo demo(options, std::move(*daemon));
  const auto well = demo.Run(*settings);
  if (!well) return ExitWith(well.error());
  PrintAddresses(options);
  fmt::print("\n{}\n", *well ? "Every check held." : "A check FAILED: see WRONG above.");
  return *well ? kExitOk : kExitFailed;
}

}  // namespace

Subcommand AddDemo(CLI::App& root) {
  auto options = std::make_shared<DemoOptions>();
  options->kafka.brokers.clear();
  CLI::App* app = root.add_subcommand("demo", "show a running daemon at work and check what it says");
  AddKafkaOptions(*app, options->kafka);
  app->get_option("--brokers")->description("Kafka's HOST:PORT,...; by default those of the daemon");
  AddPartitionerOption(*app, options->kafka);
  AddAskOptions(*app, options->daemon);
  app->add_option("--example", options->example, "a file of exposures to send first, times shifted to now")
      ->required();
  app->add_option("--snapshot-topic", options->snapshot_topic, "where snapshots are published")
      ->capture_default_str();
  app->add_option(
      "--items-topic", options->items_topic,
      "show near-duplicates as well: give the daemon's items.topic; the filter needs similar: drop");
  app->add_option("--rate", options->rate, "synthetic events a second")->capture_default_str();
  app->add_option("--seconds", options->seconds, "how long they are sent")->capture_default_str();
  app->add_option("--users", options->stream.users, "synthetic users")->capture_default_str();
  app->add_option("--items", options->stream.items, "synthetic items")->capture_default_str();
  app->add_option("--seed", options->stream.seed, "of the synthetic stream")->capture_default_str();
  return {app, [options] { return RunDemo(*options); }};
}

}  // namespace seen
