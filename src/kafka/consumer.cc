#include "kafka/consumer.h"

#include <algorithm>

#include "kafka/group_membership.h"
#include "kafka/log_watch.h"

namespace seen {

struct Consumer::Impl {
  Impl(const Options& options, RebalanceHandler& rebalance)
      : link(options), member(link, fetcher, rebalance) {}

  Status Start() {
    if (Status started = member.Start(); !started) return started;
    watch.Start();
    return {};
  }
  void Close() {
    watch.Stop();
    member.Close();
  }
  /// The client that asks for high watermarks. nullptr: it can't be made.
  rd_kafka_t* EndsClient() {
    const MutexLock lock(ends_mutex);
    if (ends_client) return ends_client.get();
    auto conf =
        kafka::MakeConf(link.options.brokers, {}, link.options.client,
                        {{"isolation.level", "read_uncommitted"}, {"allow.auto.create.topics", "false"}});
    auto made = conf ? kafka::MakeClient(RD_KAFKA_CONSUMER, std::move(*conf)) : Fail(conf.error());
    if (made) ends_client = std::move(*made);
    return ends_client.get();
  }

  ConsumerLink link;
  RecordFetcher fetcher{link};
  GroupMembership member;
  LogWatch watch{link, fetcher};
  Mutex ends_mutex;
  kafka::ClientHandle ends_client GUARDED_BY(ends_mutex);
};

Consumer::Consumer(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Consumer::~Consumer() { Close(); }

Result<std::unique_ptr<Consumer>> Consumer::Open(const Options& options, RebalanceHandler& rebalance) {
  auto impl = std::make_unique<Impl>(options, rebalance);
  if (auto started = impl->Start(); !started) {
    impl->Close();
    return Fail(std::move(started.error()));
  }
  return std::unique_ptr<Consumer>(new Consumer(std::move(impl)));
}

Status Consumer::PollControl(std::chrono::milliseconds timeout) { return impl_->member.Poll(timeout); }

size_t Consumer::PollWorker(int worker, std::chrono::milliseconds timeout, WorkerHandler& handler) {
  return impl_->fetcher.PollWorker(static_cast<size_t>(worker), timeout, handler);
}

int Consumer::WorkerOf(int32_t partition) const {
  return static_cast<int>(impl_->fetcher.WorkerOf(partition));
}

Status Consumer::Seek(int32_t partition, int64_t offset) { return impl_->fetcher.Seek(partition, offset); }
void Consumer::StopReading(int32_t partition) { impl_->fetcher.StopReading(partition); }

Watermarks Consumer::CachedWatermarks(int32_t partition) const {
  return kafka::KnownEnds(impl_->link.Client().get(), impl_->link.options.topic, partition);
}

Result<Watermarks> Consumer::QueryWatermarks(int32_t partition, std::chrono::milliseconds timeout) const {
  return impl_->link.QueryWatermarks(partition, timeout);
}

Result<int64_t> Consumer::OffsetForTime(int32_t partition, TimeMs time,
                                        std::chrono::milliseconds timeout) const {
  const auto offsets = kafka::OffsetsForTime(impl_->link.Client().get(), impl_->link.options.topic,
                                             {&partition, 1}, time, timeout);
  if (!offsets) return Fail(offsets.error());
  if (!offsets->empty()) return offsets->at(partition);
  auto marks = impl_->link.QueryWatermarks(partition, timeout);
  if (!marks) return Fail(std::move(marks.error()));
  return marks->high;
}

Result<std::map<int32_t, int64_t>> Consumer::LogEnds(std::span<const int32_t> partitions,
                                                     std::chrono::milliseconds timeout) const {
  rd_kafka_t* const client = impl_->EndsClient();
  if (client == nullptr) return Fail(Code::kUnavailable, "the client that asks for ends can't be made");
  rd_kafka_poll(client, 0);  // no other code polls it; this logs problems with tokens
  auto ends = kafka::LogEnds(client, impl_->link.options.topic, partitions, timeout);
  // If packets get lost, no connection fails for a minute. So a question without an answer is a reason to
  // probe.
  if (!ends && ends.error().code == Code::kUnavailable) impl_->link.Doubt();
  return ends;
}

bool Consumer::LogIsChecked(int32_t partition, Instant since) const {
  return impl_->watch.IsChecked(partition, since);
}

Result<bool> Consumer::IsCompacted(std::chrono::milliseconds timeout) const {
  return kafka::IsCompacted(impl_->link.Client().get(), impl_->link.options.topic, timeout);
}

Result<std::map<int32_t, int64_t>> Consumer::GroupCommitted(std::chrono::milliseconds timeout) const {
  const std::string& topic = impl_->link.options.topic;
  auto metadata = kafka::TopicMetadata(impl_->link.Client().get(), topic, timeout);
  if (!metadata) return Fail(std::move(metadata.error()));
  const int32_t count = (*metadata)->topics[0].partition_cnt;
  const kafka::PartitionList list(rd_kafka_topic_partition_list_new(count));
  for (int32_t partition = 0; partition < count; ++partition) {
    rd_kafka_topic_partition_list_add(list.get(), topic.c_str(), partition);
  }
  const std::string what = "committed offsets of " + impl_->link.options.group_id;
  if (const auto error =
          rd_kafka_committed(impl_->link.Client().get(), list.get(), kafka::ToTimeout(timeout));
      error != RD_KAFKA_RESP_ERR_NO_ERROR) {
    return kafka::FailWith(error, what, impl_->link.access());
  }
  std::map<int32_t, int64_t> offsets;
  for (int i = 0; i < list->cnt; ++i) {
    const auto& entry = list->elems[i];
    if (entry.err != RD_KAFKA_RESP_ERR_NO_ERROR)
      return kafka::FailWith(entry.err, what, impl_->link.access());
    offsets[entry.partition] = std::max<int64_t>(entry.offset, -1);
  }
  return offsets;
}

void Consumer::Commit(const std::map<int32_t, int64_t>& offsets) { impl_->member.Commit(offsets); }

void Consumer::Close() { impl_->Close(); }

bool Consumer::brokers_reachable() const { return impl_->link.reachable(); }
bool Consumer::joined() const { return impl_->member.joined(); }
bool Consumer::opening() const { return impl_->member.opening(); }
std::string Consumer::last_problem() const { return impl_->link.last_problem(); }
std::vector<int32_t> Consumer::unowned_partitions() const { return impl_->member.unowned_partitions(); }
uint64_t Consumer::logs_checked_total() const { return impl_->fetcher.logs_checked_total(); }
uint64_t Consumer::commits_failed_total() const { return impl_->member.commits_failed_total(); }
uint64_t Consumer::records_stale_total() const { return impl_->fetcher.records_stale_total(); }

}  // namespace seen
