// generate: a realistic stream of exposures, or a file of exposures or other records.

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>
#include <memory>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/text.h"
#include "model/day.h"
#include "tools/commands.h"
#include "tools/common_options.h"
#include "tools/load/event_sink.h"
#include "tools/load/exposure_generator.h"
#include "tools/progress.h"

namespace seen {
namespace {

struct GenerateOptions {
  KafkaOptions kafka;
  GeneratorOptions stream;
  std::string from;
  std::string key;
  std::string until;  // --until: time of the last event. Then the bytes don't depend on the time of the run
  double rate = 0;
  double seconds = 0;
  double days = 0;
  uint64_t events = 0;
  bool shift_to_now = false;
  bool to_stdout = false;
  bool json = false;
  bool quiet = false;
};

/// The number of events to send per look at the clock. One look costs as much as one event. The events of a
/// quarter of a millisecond go together: a sleep could not send each nearer to its time.
uint64_t EventsAtOnce(double rate) {
  constexpr double kMost = 64;
  return rate > 0 ? static_cast<uint64_t>(std::clamp(rate / 4000, 1.0, kMost)) : static_cast<uint64_t>(kMost);
}

/// The time of event number `event`: now, or spread evenly over the days that end at `until`.
TimeMs ExposedAt(const GenerateOptions& options, TimeMs until, uint64_t event, TimeMs now) {
  if (options.days > 0) {
    const double part = static_cast<double>(event + 1) / static_cast<double>(options.events);
    return {until.value - static_cast<int64_t>(options.days * static_cast<double>(kMsPerDay) * (1 - part))};
  }
  if (options.until.empty()) return now;
  // A fixed end: the times are those of a run at the given rate (or 1,000 a second) that ends at `until`.
  const double ms_per_event = 1000 / (options.rate > 0 ? options.rate : 1000);
  return {until.value - static_cast<int64_t>(ms_per_event * static_cast<double>(options.events - event - 1))};
}

/// An event before 1970 has no valid time.
Status CheckSpan(const GenerateOptions& options, TimeMs until) {
  if (!options.from.empty()) return {};
  const double ms_per_day = static_cast<double>(kMsPerDay);
  const double seconds = static_cast<double>(options.events) / (options.rate > 0 ? options.rate : 1000);
  const double days = options.days > 0        ? options.days
                      : options.until.empty() ? 0
                                              : seconds * 1000 / ms_per_day;
  const double days_max = static_cast<double>(until.value) / ms_per_day;
  if (days <= days_max) return {};
  return Fail(
      Code::kInvalidArgument,
      fmt::format("{}: {:g} days before {}: expected at most {:.0f} days, back to 1970",
                  options.days > 0 ? "--days" : "--events", days, TimeText(until), std::floor(days_max)));
}

Result<SentCounts> SendSynthetic(const GenerateOptions& options, TimeMs until, EventSink& sink,
                                 Progress& progress) {
  ExposureGenerator generator(options.stream);
  RateLimiter limiter(options.rate);
  const Instant start = SystemClock().Now();
  std::vector<std::string> payloads(EventsAtOnce(options.rate));
  std::vector<KeyedRecord> events(payloads.size());
  SentCounts sent;
  while ((options.events == 0 || sent.events < options.events) && !Interrupted() &&
         !TimeIsUp(options.seconds, start)) {
    const uint64_t left = options.events == 0 ? UINT64_MAX : options.events - sent.events;
    const std::span group(events.begin(), std::min<uint64_t>(left, events.size()));
    limiter.Wait(group.size());
    const TimeMs now = SystemClock().WallNow();
    for (size_t i = 0; i < group.size(); ++i) {
      const auto event = generator.Next(ExposedAt(options, until, sent.events + i, now), payloads[i]);
      group[i] = {event.user_id, event.payload};
      sent.exposures += event.items;
      sent.bytes += event.payload.size();
    }
    if (auto status = sink.Send(group); !status) return Fail(status.error());
    sent.events += group.size();
    progress.Update(sink.delivered());
  }
  return sent;
}

Status CheckGenerate(const GenerateOptions& options) {
  if (auto status = ExposureGenerator::Validate(options.stream); !status) return status;
  if (!options.from.empty()) {
    if (options.from == "-" && options.shift_to_now) {
      return Fail(Code::kInvalidArgument, "--from: -: --shift-to-now reads a file twice; give a file");
    }
    return {};
  }
  if ((options.days > 0 || !options.until.empty()) && options.events == 0) {
    return Fail(Code::kInvalidArgument,
                "--events: 0: --days and --until need the number of events to spread");
  }
  return {};
}

int RunGenerate(GenerateOptions& options) {
  if (auto status = CheckGenerate(options); !status) return ExitWith(status.error());
  TimeMs until = SystemClock().WallNow();
  if (!options.until.empty()) {
    const auto parsed = ParseTime("--until", options.until, until);
    if (!parsed) return ExitWith(parsed.error());
    until = *parsed;
  }
  if (Status fits = CheckSpan(options, until); !fits) return ExitWith(fits.error());
  Result<std::unique_ptr<EventSink>> sink =
      options.to_stdout ? MakeStdoutSink() : MakeTopicSink(options.kafka);
  if (!sink) return ExitWith(sink.error());
  CatchInterrupts();
  const Instant start = SystemClock().Now();
  Progress progress("generate", options.from.empty() ? options.events : 0, "events", options.quiet);
  const auto sent = options.from.empty() ? SendSynthetic(options, until, **sink, progress)
                                         : SendFile({.path = options.from,
                                                     .key_member = options.key,
                                                     .lines_max = options.events,
                                                     .seconds_max = options.seconds,
                                                     .shift = options.shift_to_now,
                                                     .until = until},
                                                    RateLimiter(options.rate), **sink, progress);
  if (!sent) return ExitWith(sent.error());
  if (auto status = (*sink)->Finish(); !status) return ExitWith(status.error());
  progress.Update((*sink)->delivered());
  progress.Finish();
  const double seconds = std::chrono::duration<double>(SystemClock().Now() - start).count();
  if (options.json) {
    const OrderedJson result = {{"events", sent->events},
                                {"exposures", sent->exposures},
                                {"bytes", sent->bytes},
                                {"rejected", sent->rejected},
                                {"seconds", seconds}};
    fmt::print(options.to_stdout ? stderr : stdout, "{}\n", JsonText(result));
  } else if (!options.quiet) {
    fmt::print(stderr, "{} events with {} exposures, {}, in {:.1f} s{}\n", WithThousands(sent->events),
               WithThousands(sent->exposures), WithByteUnit(sent->bytes), seconds,
               sent->rejected > 0 ? fmt::format("; {} lines left out", sent->rejected) : "");
  }
  if (!options.from.empty() && sent->events == 0 && !Interrupted())
    return ExitWith({Code::kUnavailable, fmt::format("--from: {}: no event of it was sent", options.from)});
  return kExitOk;
}

}  // namespace

Subcommand AddGenerate(CLI::App& root) {
  auto options = std::make_shared<GenerateOptions>();
  CLI::App* app =
      root.add_subcommand("generate", "send a realistic stream of exposures, or a file of JSON lines");
  AddKafkaOptions(*app, options->kafka);
  AddPartitionerOption(*app, options->kafka);
  app->add_flag("--stdout", options->to_stdout, "write JSON lines to standard output instead of a topic");
  app->add_option("--events", options->events, "number of events; 0: until --seconds or Ctrl-C")
      ->capture_default_str();
  app->add_option("--seconds", options->seconds, "seconds to send for; 0: no limit")
      ->check(NotNegative, "NUMBER");
  app->add_option("--rate", options->rate, "events a second; 0: as fast as possible")
      ->check(NotNegative, "NUMBER")
      ->capture_default_str();
  app->add_option("--users", options->stream.users, "number of users")->capture_default_str();
  app->add_option("--items", options->stream.items, "number of items")->capture_default_str();
  app->add_option("--user-skew", options->stream.user_skew, "Zipf exponent of users")->capture_default_str();
  app->add_option("--item-skew", options->stream.item_skew, "Zipf exponent of items")->capture_default_str();
  app->add_option("--batch", options->stream.items_per_event,
                  "items in an event; more than 1: the batch form")
      ->capture_default_str();
  app->add_option("--sessions", options->stream.sessions, "sessions under way at the same time")
      ->capture_default_str();
  app->add_option("--event-bytes", options->stream.event_bytes,
                  "pad shorter events to so many bytes with a random field")
      ->capture_default_str();
  app->add_option("--seed", options->stream.seed, "same seed, same users and items")->capture_default_str();
  app->add_option("--days", options->days, "spread --events over so many days instead of now")
      ->check(NotNegative, "NUMBER");
  app->add_option("--until", options->until, "time of the last event instead of now (with --events)");
  auto* const from = app->add_option(
      "--from", options->from, "send this file of exposures, JSON lines, also .gz; - is standard input");
  auto* const key = app->add_option(
      "--key", options->key,
      "with --from: the lines are other records, such as items; this member is a record's key");
  key->needs(from);
  app->add_flag("--shift-to-now", options->shift_to_now,
                "with --from: move all times of exposures so that the last is now")
      ->needs(from)
      ->excludes(key);
  app->add_flag("--json", options->json, "print the result as JSON");
  app->add_flag("--quiet", options->quiet, "no progress");
  return {app, [options] { return RunGenerate(*options); }};
}

}  // namespace seen
