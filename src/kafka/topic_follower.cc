#include "kafka/topic_follower.h"

#include <algorithm>

#include "kafka/message_record.h"
#include "kafka/read_loop.h"

namespace seen {
namespace {

using std::chrono::milliseconds;
constexpr size_t kBatchRecords = 2048;
constexpr milliseconds kFetchWait{500};  // it asks nothing once it reads, so no question waits

/// assign() requires "group.id". Nothing is committed, and no group is joined.
ClientSettings Imposed(uint64_t fetch_bytes_max) {
  return {{"group.id", "seen-follower"},
          {"enable.partition.eof", "true"},  // shows that reading is allowed if there is nothing to read
          {"queued.max.messages.kbytes", std::to_string(std::max<uint64_t>(fetch_bytes_max / 1024, 1024))}};
}

}  // namespace

struct TopicFollower::Impl {
  Options options;
  std::string cluster;
  std::vector<Ends> ends;
  std::unique_ptr<kafka::ReadLoop> loop;

  Result<bool> Take(const rd_kafka_message_t& message) const {
    if (message.err == RD_KAFKA_RESP_ERR_NO_ERROR) return true;
    if (kafka::IsOutOfRange(message.err)) {
      return Fail(Code::kRefused, options.topic + "/" + std::to_string(message.partition) +
                                      ": the offset to read next is gone");
    }
    if (kafka::CodeOf(message.err) == Code::kUnavailable) return false;
    return kafka::FailWith(message.err, "read " + options.topic, loop->access());
  }
};

TopicFollower::TopicFollower(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
TopicFollower::~TopicFollower() = default;

Result<std::unique_ptr<TopicFollower>> TopicFollower::Open(const Options& options, milliseconds timeout) {
  auto loop = kafka::ReadLoop::Open({options.brokers, options.client, options.topic,
                                     Imposed(options.fetch_bytes_max), kBatchRecords, kFetchWait});
  if (!loop) return Fail(std::move(loop.error()));
  auto impl = std::make_unique<Impl>();
  impl->options = options;
  impl->loop = std::move(*loop);
  const auto ends = impl->loop->QueryEnds(timeout);
  if (!ends) return Fail(ends.error());
  for (const auto& [low, high] : *ends) impl->ends.push_back({low, high});
  rd_kafka_t* const client = impl->loop->client();
  if (char* id = rd_kafka_clusterid(client, kafka::ToTimeout(timeout)); id != nullptr) {
    impl->cluster = id;
    rd_kafka_mem_free(client, id);
  }
  return std::unique_ptr<TopicFollower>(new TopicFollower(std::move(impl)));
}

const std::string& TopicFollower::cluster() const { return impl_->cluster; }
const std::vector<TopicFollower::Ends>& TopicFollower::ends() const { return impl_->ends; }

Status TopicFollower::Start(std::span<const int64_t> from) { return impl_->loop->Assign(from); }

Status TopicFollower::Poll(milliseconds timeout, const OnRecords& on_records) {
  return impl_->loop->Poll(
      timeout, [&](const rd_kafka_message_t& message) { return impl_->Take(message); }, on_records);
}

int64_t TopicFollower::HighWatermark(int32_t partition) const {
  int64_t low = 0, high = -1;
  const auto error = rd_kafka_get_watermark_offsets(impl_->loop->client(), impl_->options.topic.c_str(),
                                                    partition, &low, &high);
  const int64_t known = impl_->ends[static_cast<size_t>(partition)].high;
  return error == RD_KAFKA_RESP_ERR_NO_ERROR ? std::max(high, known) : known;
}

}  // namespace seen
