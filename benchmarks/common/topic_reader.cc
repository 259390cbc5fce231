#include "common/topic_reader.h"

#include <chrono>

#include "common/arguments.h"

namespace seen::bench {
namespace {

constexpr int kQuestionMs = 10'000;
constexpr int kBackoffVersion = 0x020200ff;  // fetch.queue.backoff.ms came with librdkafka 2.2

void Set(rd_kafka_conf_t* conf, const char* name, const std::string& value) {
  char error[512];
  if (rd_kafka_conf_set(conf, name, value.c_str(), error, sizeof error) != RD_KAFKA_CONF_OK) Die(error);
}

}  // namespace

TopicReader::TopicReader(const Options& options) : options_(options) {
  rd_kafka_conf_t* conf = rd_kafka_conf_new();
  Set(conf, "bootstrap.servers", options.brokers);
  Set(conf, "group.id", "bench-unused");
  Set(conf, "enable.auto.commit", "false");
  Set(conf, "isolation.level", "read_committed");
  Set(conf, "check.crcs", "true");
  Set(conf, "fetch.min.bytes", "1");
  Set(conf, "fetch.wait.max.ms", "100");
  Set(conf, "queued.min.messages",
      std::to_string(options.queued_messages > 0 ? options.queued_messages : 100'000));
  Set(conf, "queued.max.messages.kbytes",
      std::to_string(options.queued_kbytes > 0 ? options.queued_kbytes : 65'536));
  if (rd_kafka_version() >= kBackoffVersion) Set(conf, "fetch.queue.backoff.ms", "1");
  for (const auto& [name, value] : options.client) Set(conf, name.c_str(), value);
  char error[512];
  client_ = rd_kafka_new(RD_KAFKA_CONSUMER, conf, error, sizeof error);
  if (client_ == nullptr) Die(error);
  topic_ = rd_kafka_topic_new(client_, options.topic.c_str(), nullptr);
  for (int i = 0; i < options.queues; ++i) queues_.push_back(rd_kafka_queue_new(client_));
  for (int32_t p = 0; p < options.partitions; ++p) {
    auto partition = std::make_unique<Partition>();
    if (options.bounded) {
      int64_t low = 0, high = 0;
      if (const auto code =
              rd_kafka_query_watermark_offsets(client_, options.topic.c_str(), p, &low, &high, kQuestionMs);
          code != RD_KAFKA_RESP_ERR_NO_ERROR) {
        Die(std::string("end offsets: ") + rd_kafka_err2str(code));
      }
      partition->end = high;
      if (high == low) partition->next_offset = high;
    }
    const auto index = static_cast<size_t>(p);
    const int64_t start = index < options.start.size() ? options.start[index] : 0;
    if (start > 0) partition->next_offset = start;
    partitions_.push_back(std::move(partition));
    auto* const queue = queues_[index % queues_.size()];
    if (rd_kafka_consume_start_queue(topic_, p, start, queue) != 0) Die("consume_start failed");
  }
  if (rd_kafka_version() < kBackoffVersion) waker_ = std::thread([this] { WakeFetchers(); });
}

TopicReader::~TopicReader() {
  stopping_ = true;
  if (waker_.joinable()) waker_.join();
  for (int32_t p = 0; p < options_.partitions; ++p) rd_kafka_consume_stop(topic_, p);
  for (auto* queue : queues_) rd_kafka_queue_destroy(queue);
  rd_kafka_topic_destroy(topic_);
  rd_kafka_destroy(client_);
}

// Before librdkafka 2.2, a broker thread that finds its queue full waits for up to a second, unless a request
// wakes the thread.
void TopicReader::WakeFetchers() {
  while (!stopping_) {
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
    int64_t low = 0, high = 0;
    rd_kafka_query_watermark_offsets(client_, options_.topic.c_str(), 0, &low, &high, kQuestionMs);
  }
}

size_t TopicReader::Take(int queue, int timeout_ms, std::vector<rd_kafka_message_t*>& messages) {
  const auto taken = rd_kafka_consume_batch_queue(queues_[static_cast<size_t>(queue)], timeout_ms,
                                                  messages.data(), messages.size());
  size_t kept = 0;
  for (ssize_t i = 0; i < taken; ++i) {
    auto* const message = messages[static_cast<size_t>(i)];
    if (message->err == RD_KAFKA_RESP_ERR_NO_ERROR) {
      messages[kept++] = message;
      continue;
    }
    if (message->err == RD_KAFKA_RESP_ERR__AUTO_OFFSET_RESET ||
        message->err == RD_KAFKA_RESP_ERR_OFFSET_OUT_OF_RANGE) {
      Die(rd_kafka_message_errstr(message));
    }
    rd_kafka_message_destroy(message);
  }
  return kept;
}

void TopicReader::Applied(int32_t partition, int64_t next_offset, uint64_t events) {
  auto& state = *partitions_[static_cast<size_t>(partition)];
  state.next_offset.store(next_offset, std::memory_order_relaxed);
  state.events.fetch_add(events, std::memory_order_relaxed);
}

bool TopicReader::done(int queue) const {
  for (size_t p = static_cast<size_t>(queue); p < partitions_.size(); p += queues_.size()) {
    if (partitions_[p]->next_offset < partitions_[p]->end) return false;
  }
  return true;
}

uint64_t TopicReader::events() const {
  uint64_t sum = 0;
  for (const auto& partition : partitions_) sum += partition->events;
  return sum;
}

std::vector<int64_t> TopicReader::next_offsets() const {
  std::vector<int64_t> offsets;
  for (const auto& partition : partitions_) offsets.push_back(partition->next_offset);
  return offsets;
}

}  // namespace seen::bench
