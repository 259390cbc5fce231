#include "tools/load/event_sink.h"

#include <fmt/format.h>

#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <string>

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

class TopicSink final : public EventSink {
 public:
  explicit TopicSink(std::unique_ptr<BulkProducer> producer) : producer_(std::move(producer)) {}
  Status Send(std::span<const KeyedRecord> events) override { return producer_->SendNow(events); }
  Status Finish() override { return FlushAll(*producer_); }
  uint64_t delivered() const override { return producer_->delivered_total(); }

 private:
  std::unique_ptr<BulkProducer> producer_;
};

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
  return std::make_unique<TopicSink>(std::move(*producer));
}

Status FlushAll(BulkProducer& producer) {
  Status flushed;
  uint64_t before = 0;
  do {
    before = producer.delivered_total();
    flushed = producer.Flush(std::chrono::seconds(30));
  } while (!flushed && producer.delivered_total() > before);
  if (!flushed) return flushed;
  if (producer.failed_total() > 0) {
    return Fail(Code::kUnavailable, fmt::format("{} events could not be delivered: {}",
                                                producer.failed_total(), producer.last_failure()));
  }
  return {};
}

}  // namespace seen
