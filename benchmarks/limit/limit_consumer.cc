// The most that any consumer on librdkafka can do. It reads a topic and touches every byte. With decode=true,
// it also parses every event as seend does.
//
//   bench_limit brokers=HOST:PORT input=TOPIC partitions=4 parallelism=1 decode=false bounded=true

#include <cstdio>
#include <cstring>
#include <thread>
#include <vector>

#include "common/arguments.h"
#include "common/progress_lines.h"
#include "common/topic_reader.h"
#include "decode/event_decoder.h"

namespace {

using namespace seen;
using namespace seen::bench;

constexpr size_t kBatch = 4096;
constexpr size_t kEventBytesMax = size_t{1} << 20;

uint64_t Touch(const void* bytes, size_t count) {
  const auto* at = static_cast<const char*>(bytes);
  uint64_t sum = 0, word = 0;
  for (; count >= 8; count -= 8, at += 8) {
    std::memcpy(&word, at, 8);
    sum += word;
  }
  for (; count > 0; --count, ++at) sum += static_cast<unsigned char>(*at);
  return sum;
}

uint64_t Decode(EventDecoder& decoder, const rd_kafka_message_t& message, uint64_t& sum) {
  const auto event = decoder.Decode({static_cast<const char*>(message.payload), message.len});
  if (!event) Die("an event that doesn't decode: " + event.error().message);
  for (const auto& item : event->items) sum += item.fingerprint.value;
  return event->items.size();
}

void Read(TopicReader& reader, int queue, bool decode) {
  std::vector<rd_kafka_message_t*> messages(kBatch);
  EventDecoder decoder(kEventBytesMax);
  uint64_t sum = 0;
  while (!reader.done(queue)) {
    const size_t count = reader.Take(queue, 10, messages);
    uint64_t events = 0;
    for (size_t i = 0; i < count; ++i) {
      const auto& message = *messages[i];
      sum += Touch(message.key, message.key_len);
      if (decode) {
        events += Decode(decoder, message, sum);
      } else {
        sum += Touch(message.payload, message.len);
        ++events;
      }
      const int32_t partition = message.partition;
      const int64_t next_offset = message.offset + 1;
      rd_kafka_message_destroy(messages[i]);
      if (i + 1 < count && messages[i + 1]->partition == partition) continue;
      reader.Applied(partition, next_offset, events);
      events = 0;
    }
  }
  if (sum == 42) std::fprintf(stderr, "so that nothing is optimised away\n");
}

}  // namespace

int main(int count, char** values) {
  const Arguments arguments(count, values);
  const int queues = static_cast<int>(arguments.Number("parallelism", 1));
  TopicReader reader({.brokers = arguments.Text("brokers"),
                      .topic = arguments.Text("input"),
                      .partitions = static_cast<int>(arguments.Number("partitions", 4)),
                      .queues = queues,
                      .bounded = arguments.Text("bounded", "true") == "true",
                      .start = {},
                      .queued_messages = arguments.Number("queued_messages", 0),
                      .queued_kbytes = arguments.Number("queued_kbytes", 0),
                      .client = arguments.Dotted()});
  ProgressLines progress(reader);
  std::vector<std::thread> threads;
  for (int queue = 0; queue < queues; ++queue) {
    threads.emplace_back(
        [&reader, queue, decode = arguments.Flag("decode")] { Read(reader, queue, decode); });
  }
  for (auto& thread : threads) thread.join();
  progress.Finish();
  return 0;
}
