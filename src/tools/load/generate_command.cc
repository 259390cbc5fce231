// generate: a realistic stream of exposures, or a file of real exposures, sent as new.

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <vector>

#include "base/clock.h"
#include "decode/event_decoder.h"
#include "model/day.h"
#include "tools/ask/calendar.h"
#include "tools/commands.h"
#include "tools/common_options.h"
#include "tools/history/line_reader.h"
#include "tools/load/event_sink.h"
#include "tools/load/exposure_generator.h"
#include "tools/load/item_generator.h"
#include "tools/load/rate_limiter.h"
#include "tools/load/time_shift.h"
#include "tools/progress.h"
#include "tools/usage.h"

namespace seen {
namespace {

constexpr size_t kEventBytesMax = size_t{64} << 20;

struct GenerateOptions {
  KafkaOptions kafka;
  GeneratorOptions stream;
  ItemGeneratorOptions texts;
  CLI::App* app = nullptr;
  std::string of = "exposures";
  std::string from;
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

struct Sent {
  uint64_t events = 0;
  uint64_t exposures = 0;
  uint64_t bytes = 0;
  uint64_t rejected = 0;
};

bool TimeIsUp(const GenerateOptions& options, Instant start) {
  return options.seconds > 0 &&
         std::chrono::duration<double>(SystemClock().Now() - start).count() >= options.seconds;
}

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

Result<Sent> SendSynthetic(const GenerateOptions& options, TimeMs until, EventSink& sink,
                           Progress& progress) {
  ExposureGenerator generator(options.stream);
  RateLimiter limiter(options.rate);
  const Instant start = SystemClock().Now();
  std::vector<std::string> payloads(EventsAtOnce(options.rate));
  std::vector<KeyedRecord> events(payloads.size());
  Sent sent;
  while ((options.events == 0 || sent.events < options.events) && !Interrupted() &&
         !TimeIsUp(options, start)) {
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

/// Sends each item once that a stream of exposures with the same --items shows.
Result<Sent> SendItems(const GenerateOptions& options, TimeMs until, EventSink& sink, Progress& progress) {
  const ItemGenerator generator(options.texts);
  RateLimiter limiter(options.rate);
  const Instant start = SystemClock().Now();
  Sent sent;
  while (sent.events < options.events && !Interrupted() && !TimeIsUp(options, start)) {
    limiter.Wait();
    const TimeMs created_at = ExposedAt(options, until, sent.events, SystemClock().WallNow());
    const auto item = generator.Make(sent.events, created_at);
    const KeyedRecord record{item.id, item.payload};
    if (auto status = sink.Send({&record, 1}); !status) return Fail(status.error());
    ++sent.events;
    sent.bytes += item.payload.size();
    progress.Update(sink.delivered());
  }
  return sent;
}

Result<Sent> SendFile(const GenerateOptions& options, TimeMs until, EventSink& sink, Progress& progress) {
  int64_t shift_ms = 0;
  if (options.shift_to_now) {
    const auto last = LastExposure(options.from);
    if (!last) return Fail(last.error());
    shift_ms = until.value - last->value;
  }
  auto lines = LineReader::Open(options.from);
  if (!lines) return Fail(lines.error());
  EventDecoder decoder(kEventBytesMax);
  RateLimiter limiter(options.rate);
  const Instant start = SystemClock().Now();
  Sent sent;
  std::string_view line;
  while ((options.events == 0 || sent.events < options.events) && !Interrupted() &&
         !TimeIsUp(options, start)) {
    const auto more = lines->Next(line);
    if (!more) return Fail(more.error());
    if (!*more) break;
    std::string shifted;
    if (options.shift_to_now) {
      auto result = ShiftExposure(line, shift_ms);
      if (result) shifted = std::move(*result);
    }
    const std::string_view payload = options.shift_to_now ? shifted : line;
    const auto event = decoder.Decode(payload);
    if (!event) {
      if (sent.rejected++ == 0) {
        fmt::print(stderr, "seenctl: {}: line {} is left out: {}\n", options.from, lines->line_number(),
                   event.error().message);
      }
      continue;
    }
    limiter.Wait();
    const KeyedRecord record{event->user_id, payload};
    if (auto status = sink.Send({&record, 1}); !status) return Fail(status.error());
    ++sent.events;
    sent.exposures += event->items.size();
    sent.bytes += payload.size();
    progress.Update(sink.delivered());
  }
  return sent;
}

/// Rejects options that have no effect on the chosen --of, such as `--batch` for items.
Status CheckAbout(const GenerateOptions& options) {
  static constexpr const char* kOfExposures[] = {"--users", "--user-skew",   "--item-skew",
                                                 "--batch", "--sessions",    "--event-bytes",
                                                 "--from",  "--shift-to-now"};
  static constexpr const char* kOfItems[] = {"--copies", "--chinese", "--sentences"};
  const bool items = options.of == "items";
  const auto others = items ? std::span<const char* const>(kOfExposures) : kOfItems;
  for (const char* name : others) {
    if (options.app->count(name) == 0) continue;
    return Fail(Code::kInvalidArgument,
                fmt::format("{}: only with --of {}", name, items ? "exposures" : "items"));
  }
  return items ? ItemGenerator::Validate(options.texts) : Status();
}

Status CheckOptions(const GenerateOptions& options) {
  if (auto status = CheckAbout(options); !status) return status;
  if (auto status = ExposureGenerator::Validate(options.stream); !status) return status;
  if (!options.from.empty()) {
    if (options.from == "-" && options.shift_to_now) {
      return Fail(Code::kInvalidArgument, "--from: -: --shift-to-now reads a file twice; give a file");
    }
    return {};
  }
  if (options.shift_to_now) return Fail(Code::kInvalidArgument, "--shift-to-now: only with --from FILE");
  if ((options.days > 0 || !options.until.empty()) && options.events == 0) {
    return Fail(Code::kInvalidArgument,
                "--events: 0: --days and --until need the number of events to spread");
  }
  return {};
}

int RunGenerate(GenerateOptions& options) {
  const bool items = options.of == "items";
  if (items) {
    if (options.app->count("--topic") == 0) options.kafka.topic = "items";
    options.texts.seed = options.stream.seed;
    options.events =
        options.events == 0 ? options.stream.items : std::min(options.events, options.stream.items);
  }
  if (auto status = CheckOptions(options); !status) return ExitWith(status.error());
  TimeMs until = SystemClock().WallNow();
  if (!options.until.empty()) {
    const auto parsed = ParseTime("--until", options.until, until);
    if (!parsed) return ExitWith(parsed.error());
    until = *parsed;
  }
  Result<std::unique_ptr<EventSink>> sink =
      options.to_stdout ? MakeStdoutSink() : MakeTopicSink(options.kafka);
  if (!sink) return ExitWith(sink.error());
  CatchInterrupts();
  const Instant start = SystemClock().Now();
  const std::string_view unit = items ? "items" : "events";
  Progress progress("generate", options.from.empty() ? options.events : 0, unit,
                    options.quiet ? Progress::Mode::kQuiet : Progress::Mode::kAuto);
  const auto sent = items                  ? SendItems(options, until, **sink, progress)
                    : options.from.empty() ? SendSynthetic(options, until, **sink, progress)
                                           : SendFile(options, until, **sink, progress);
  if (!sent) return ExitWith(sent.error());
  if (auto status = (*sink)->Finish(); !status) return ExitWith(status.error());
  progress.Update((*sink)->delivered());
  progress.Finish();
  const double seconds = std::chrono::duration<double>(SystemClock().Now() - start).count();
  if (options.json) {
    const nlohmann::ordered_json result = {{"events", sent->events},
                                           {"exposures", sent->exposures},
                                           {"bytes", sent->bytes},
                                           {"rejected", sent->rejected},
                                           {"seconds", seconds}};
    fmt::print(options.to_stdout ? stderr : stdout, "{}\n", result.dump());
  } else if (!options.quiet) {
    fmt::print(stderr, "{} {}{}, {}, in {:.1f} s{}\n", WithThousands(sent->events), unit,
               items ? "" : fmt::format(" with {} exposures", WithThousands(sent->exposures)),
               WithByteUnit(sent->bytes), seconds,
               sent->rejected > 0 ? fmt::format("; {} lines left out", sent->rejected) : "");
  }
  return kExitOk;
}

}  // namespace

Subcommand AddGenerate(CLI::App& root) {
  auto options = std::make_shared<GenerateOptions>();
  CLI::App* app = root.add_subcommand(
      "generate", "send a realistic stream of exposures or items, or a file of real exposures");
  AddKafkaOptions(*app, options->kafka);
  AddPartitionerOption(*app, options->kafka);
  options->app = app;
  app->add_option("--of", options->of,
                  "exposures; or items: the texts of the items that such exposures show, to --topic items")
      ->check(CLI::IsMember({"exposures", "items"}))
      ->capture_default_str();
  app->add_option("--copies", options->texts.copies, "share of items that are copies of others, with edits")
      ->capture_default_str();
  app->add_option("--chinese", options->texts.chinese, "share of texts in Chinese, the others in English")
      ->capture_default_str();
  app->add_option("--sentences", options->texts.sentences, "number of sentences in an item's text")
      ->capture_default_str();
  app->add_flag("--stdout", options->to_stdout, "write JSON lines to standard output instead of a topic");
  app->add_option("--events", options->events, "number of events; 0: until --seconds or Ctrl-C")
      ->capture_default_str();
  app->add_option("--seconds", options->seconds, "seconds to send for; 0: no limit")->check(NotNegative());
  app->add_option("--rate", options->rate, "events a second; 0: as fast as possible")
      ->check(NotNegative())
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
      ->check(NotNegative());
  app->add_option("--until", options->until, "time of the last event instead of now (with --events)");
  app->add_option("--from", options->from,
                  "send this file of exposures, JSON lines, also .gz; - is standard input");
  app->add_flag("--shift-to-now", options->shift_to_now,
                "with --from: move all times so that the last is now");
  app->add_flag("--json", options->json, "print the result as JSON");
  app->add_flag("--quiet", options->quiet, "no progress");
  return {app, [options] { return RunGenerate(*options); }};
}

}  // namespace seen
