// What small teams use: a sorted set for each user in Redis, item hash -> second shown, written in pipelines.
// The offsets are in the same Redis, so that a restart goes on from the kept state.
//
//   bench_redis brokers=HOST:PORT input=TOPIC partitions=4 redis_port=6379 coalesce=true bounded=true
//   resume=false

#include <hiredis/hiredis.h>

#include <charconv>
#include <chrono>
#include <cstring>
#include <deque>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "common/arguments.h"
#include "common/progress_lines.h"
#include "common/topic_reader.h"
#include "decode/event_decoder.h"

namespace {

using namespace seen;
using namespace seen::bench;

constexpr size_t kBatch = 4096;
constexpr size_t kBatchesUnderWay = 3;  // their replies fit into the socket's buffers
constexpr size_t kEventBytesMax = size_t{1} << 20;
constexpr std::string_view kOffsets = "offsets";

void AppendBulk(std::string& out, std::string_view text) {
  char digits[24];
  out.push_back('$');
  out.append(digits, std::to_chars(digits, digits + sizeof digits, text.size()).ptr);
  out.append("\r\n").append(text).append("\r\n");
}

void AppendBulk(std::string& out, int64_t number) {
  char digits[24];
  const auto end = std::to_chars(digits, digits + sizeof digits, number).ptr;
  AppendBulk(out, std::string_view(digits, static_cast<size_t>(end - digits)));
}

void AppendHead(std::string& out, size_t arguments, std::string_view command, std::string_view key) {
  char digits[24];
  out.push_back('*');
  out.append(digits, std::to_chars(digits, digits + sizeof digits, arguments).ptr).append("\r\n");
  AppendBulk(out, command);
  AppendBulk(out, key);
}

/// The `score member` pairs of one ZADD.
struct Adds {
  std::string pairs;
  size_t count = 0;
};

class Loader {
 public:
  Loader(TopicReader& reader, redisContext* redis, bool coalesce)
      : reader_(reader), redis_(redis), coalesce_(coalesce), decoder_(kEventBytesMax), messages_(kBatch) {}

  void Run() {
    while (!reader_.done(0)) {
      const size_t count = reader_.Take(0, under_way_.empty() ? 10 : 0, messages_);
      if (count > 0) Send(count);
      if (under_way_.size() > kBatchesUnderWay || (count == 0 && !under_way_.empty())) AwaitOldest();
    }
  }

 private:
  struct Batch {
    size_t commands = 0;
    uint64_t events = 0;
    std::unordered_map<int32_t, int64_t> offsets;
    std::unordered_map<int32_t, uint64_t> events_by_partition;
  };

  void Send(size_t count) {
    Batch batch;
    commands_.clear();
    for (size_t i = 0; i < count; ++i) {
      const auto& message = *messages_[i];
      const auto event = decoder_.Decode({static_cast<const char*>(message.payload), message.len});
      if (!event) Die("an event that doesn't decode: " + event.error().message);
      Adds single;
      Adds& adds = coalesce_ ? by_user_[std::string(event->user_id)] : single;
      for (const auto& item : event->items) {
        AppendBulk(adds.pairs, event->exposed_at.value / 1000);
        AppendBulk(adds.pairs, item.fingerprint.value);
        ++adds.count;
      }
      if (!coalesce_) Add(event->user_id, adds, batch);
      batch.offsets[message.partition] = message.offset + 1;
      batch.events_by_partition[message.partition] += event->items.size();
    }
    for (const auto& [user, adds] : by_user_) Add(user, adds, batch);
    by_user_.clear();
    AppendHead(commands_, 2 + 2 * batch.offsets.size(), "HSET", kOffsets);
    for (const auto& [partition, offset] : batch.offsets) {
      AppendBulk(commands_, partition);
      AppendBulk(commands_, offset);
    }
    ++batch.commands;
    for (size_t i = 0; i < count; ++i) rd_kafka_message_destroy(messages_[i]);
    redisAppendFormattedCommand(redis_, commands_.data(), commands_.size());
    for (int done = 0; done == 0;) {
      if (redisBufferWrite(redis_, &done) != REDIS_OK) Die(redis_->errstr);
    }
    under_way_.push_back(std::move(batch));
  }

  void Add(std::string_view user, const Adds& adds, Batch& batch) {
    AppendHead(commands_, 2 + 2 * adds.count, "ZADD", user);
    commands_.append(adds.pairs);
    ++batch.commands;
  }

  void AwaitOldest() {
    const auto& batch = under_way_.front();
    for (size_t i = 0; i < batch.commands; ++i) {
      void* reply = nullptr;
      if (redisGetReply(redis_, &reply) != REDIS_OK) Die(redis_->errstr);
      const auto* answer = static_cast<redisReply*>(reply);
      if (answer->type == REDIS_REPLY_ERROR) Die(answer->str);
      freeReplyObject(reply);
    }
    for (const auto& [partition, offset] : batch.offsets) {
      reader_.Applied(partition, offset, batch.events_by_partition.at(partition));
    }
    under_way_.pop_front();
  }

  TopicReader& reader_;
  redisContext* redis_;
  const bool coalesce_;
  EventDecoder decoder_;
  std::vector<rd_kafka_message_t*> messages_;
  std::string commands_;
  std::unordered_map<std::string, Adds> by_user_;
  std::deque<Batch> under_way_;
};

std::vector<int64_t> KeptOffsets(redisContext* redis, size_t partitions) {
  std::vector<int64_t> offsets(partitions, 0);
  for (size_t p = 0; p < partitions; ++p) {
    auto* const reply = static_cast<redisReply*>(
        redisCommand(redis, "HGET %s %d", std::string(kOffsets).c_str(), static_cast<int>(p)));
    if (reply == nullptr) Die(redis->errstr);
    if (reply->type == REDIS_REPLY_STRING) offsets[p] = std::strtoll(reply->str, nullptr, 10);
    freeReplyObject(reply);
  }
  return offsets;
}

}  // namespace

int main(int count, char** values) {
  const Arguments arguments(count, values);
  redisContext* redis = redisConnect("127.0.0.1", static_cast<int>(arguments.Number("redis_port", 6379)));
  if (redis == nullptr || redis->err != 0) Die("no Redis");
  const auto partitions = static_cast<size_t>(arguments.Number("partitions", 4));
  std::vector<int64_t> start;
  if (arguments.Flag("resume")) start = KeptOffsets(redis, partitions);
  TopicReader reader({.brokers = arguments.Text("brokers"),
                      .topic = arguments.Text("input"),
                      .partitions = static_cast<int>(partitions),
                      .queues = 1,
                      .bounded = arguments.Text("bounded", "true") == "true",
                      .start = start,
                      .client = arguments.Dotted()});
  {
    ProgressLines progress(reader);
    Loader(reader, redis, arguments.Text("coalesce", "true") == "true").Run();
  }
  redisFree(redis);
  return 0;
}
