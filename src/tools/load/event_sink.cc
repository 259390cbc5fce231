#include "tools/load/event_sink.h"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <nlohmann/json.hpp>
#include <optional>

#include "base/text.h"
#include "decode/event_decoder.h"
#include "tools/history/line_reader.h"
#include "tools/reach_brokers.h"

namespace seen {
namespace {

class StdoutSink final : public EventSink {
 public:
  Status Send(std::span<const KeyedRecord> events) override {
    for (const KeyedRecord& event : events) buffer_.append(event.value).push_back('\n');
    taken_ += events.size();
    return buffer_.size() < kBufferBytes ? Status() : Finish();
  }
  Status Finish() override {
    const size_t written = std::fwrite(buffer_.data(), 1, buffer_.size(), stdout);
    if (written != buffer_.size() || std::fflush(stdout) != 0) {
      return Fail(Code::kUnavailable, fmt::format("standard output: {}", std::strerror(errno)));
    }
    buffer_.clear();
    written_ = taken_;
    return {};
  }
  uint64_t delivered() const override { return written_; }

 private:
  static constexpr size_t kBufferBytes = 256 * 1024;
  std::string buffer_;
  uint64_t taken_ = 0;
  uint64_t written_ = 0;
};

class EventTopicSink final : public EventSink {
 public:
  explicit EventTopicSink(std::unique_ptr<BulkProducer> producer) : producer_(std::move(producer)) {}
  Status Send(std::span<const KeyedRecord> events) override { return producer_->SendNow(events); }
  Status Finish() override { return FlushAll(*producer_); }
  uint64_t delivered() const override { return producer_->delivered_total(); }

 private:
  std::unique_ptr<BulkProducer> producer_;
};

constexpr size_t kEventLineBytesMax = size_t{64} << 20;

struct FileLine {
  std::string key;
  std::string payload;
  size_t exposures = 0;
};

Result<FileLine> KeyedLine(std::string_view line, const std::string& key_member) {
  const auto json = SortedJson::parse(line, nullptr, /*allow_exceptions=*/false);
  const auto key = json.find(key_member);
  if (!json.is_object() || key == json.end() || !key->is_string())
    return Fail(Code::kMalformed, fmt::format("{}: missing, or not a string", key_member));
  return FileLine{key->get<std::string>(), std::string(line), 0};
}

Result<FileLine> LineOfExposure(std::string_view line, std::optional<int64_t> shift_ms,
                                EventDecoder& decoder) {
  std::string payload(line);
  if (shift_ms) {
    auto shifted = ShiftExposure(line, *shift_ms);
    if (!shifted) return Fail(shifted.error());
    payload = std::move(*shifted);
  }
  const auto event = decoder.Decode(payload);
  if (!event) return Fail(Code::kMalformed, event.error().message);
  std::string key(event->user_id);
  const size_t exposures = event->items.size();
  return FileLine{std::move(key), std::move(payload), exposures};
}

}  // namespace

bool TimeIsUp(double seconds_max, Instant start) {
  return seconds_max > 0 && std::chrono::duration<double>(SystemClock().Now() - start).count() >= seconds_max;
}

std::unique_ptr<EventSink> MakeStdoutSink() { return std::make_unique<StdoutSink>(); }

Result<std::unique_ptr<EventSink>> MakeTopicSink(const KafkaOptions& options) {
  const auto settings = options.Settings();
  if (!settings) return Fail(settings.error());
  if (Status reached = ReachBrokers("--brokers", options.brokers, *settings); !reached)
    return Fail(reached.error());
  auto producer = BulkProducer::Open({.brokers = options.brokers,
                                      .client = *settings,
                                      .topic = options.topic,
                                      .partitioner = *ParsePartitioner(options.partitioner),
                                      .on_delivery = {}});
  if (!producer) return Fail(producer.error());
  return std::make_unique<EventTopicSink>(std::move(*producer));
}

Status FlushAll(BulkProducer& producer) {
  Status flushed;
  uint64_t before = 0;
  do {
    before = producer.delivered_total();
    flushed = producer.Flush(std::chrono::seconds(30));
  } while (!flushed && producer.delivered_total() > before);
  return flushed ? CheckDelivered(producer) : flushed;
}

Status CheckDelivered(const BulkProducer& producer) {
  if (producer.failed_total() == 0) return {};
  return Fail(Code::kUnavailable, fmt::format("{} events could not be delivered: {}", producer.failed_total(),
                                              producer.last_failure()));
}

Result<SentCounts> SendFile(const ExposureFile& file, RateLimiter limiter, EventSink& sink,
                            Progress& progress) {
  std::optional<int64_t> shift_ms;
  if (file.shift) {
    const auto last = LastExposure(file.path);
    if (!last) return Fail(last.error());
    shift_ms = file.until.value - last->value;
  }
  auto lines = LineReader::Open(file.path);
  if (!lines) return Fail(lines.error());
  EventDecoder decoder(kEventLineBytesMax);
  const Instant start = SystemClock().Now();
  SentCounts sent;
  std::string_view line;
  while ((file.lines_max == 0 || sent.events < file.lines_max) && !Interrupted() &&
         !TimeIsUp(file.seconds_max, start)) {
    const auto more = lines->Next(line);
    if (!more) return Fail(more.error());
    if (!*more) break;
    const auto read =
        file.key_member.empty() ? LineOfExposure(line, shift_ms, decoder) : KeyedLine(line, file.key_member);
    if (!read) {
      if (sent.rejected++ == 0) {
        fmt::print(stderr, "seenctl: {}: line {} is left out: {}\n", Printable(file.path),
                   lines->line_number(), Printable(read.error().message));
      }
      continue;
    }
    limiter.Wait();
    const KeyedRecord record{read->key, read->payload};
    if (auto status = sink.Send({&record, 1}); !status) return Fail(status.error());
    ++sent.events;
    sent.exposures += read->exposures;
    sent.bytes += read->payload.size();
    progress.Update(sink.delivered());
  }
  return sent;
}

Result<TimeMs> LastExposure(const std::string& path) {
  auto lines = LineReader::Open(path);
  if (!lines) return Fail(lines.error());
  EventDecoder decoder(kEventLineBytesMax);
  std::optional<TimeMs> last;
  std::string_view line;
  while (true) {
    const auto more = lines->Next(line);
    if (!more) return Fail(more.error());
    if (!*more) break;
    if (const auto event = decoder.Decode(line))
      last = std::max(last.value_or(event->exposed_at), event->exposed_at);
  }
  if (!last) return Fail(Code::kNotFound, fmt::format("{}: no line is an exposure event", path));
  return *last;
}

Result<std::string> ShiftExposure(std::string_view line, int64_t shift_ms) {
  auto json = OrderedJson::parse(line, nullptr, /*allow_exceptions=*/false);
  if (!json.is_object()) return Fail(Code::kMalformed, "not a JSON object");
  const auto exposed_at = json.find("exposed_at");
  if (exposed_at == json.end() || !exposed_at->is_number_integer()) {
    return Fail(Code::kMalformed, "exposed_at: missing, or not an integer");
  }
  *exposed_at = exposed_at->get<int64_t>() + shift_ms;
  return JsonText(json);
}

}  // namespace seen
