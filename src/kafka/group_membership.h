#pragma once
// A consumer's membership of its group: rebalances, commits, leases, fencing, and a topic that was deleted.
// Internal to this room.

#include <atomic>
#include <chrono>
#include <deque>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <vector>

#include "base/back_off.h"
#include "kafka/owners_watch.h"
#include "kafka/record_fetcher.h"

namespace seen {

/// The control thread, except where something else is said.
class GroupMembership {
 public:
  GroupMembership(ConsumerLink& link, RecordFetcher& fetcher, RebalanceHandler& rebalance)
      : link_(link), fetcher_(fetcher), rebalance_(rebalance), owners_(link) {}

  /// Subscribes; connects in the background.
  Status Start();
  Status Poll(std::chrono::milliseconds timeout);
  void Commit(const std::map<int32_t, int64_t>& offsets);  // any thread
  void Close();

  // Any thread.
  bool joined() const { return joined_; }
  bool opening() const { return opening_; }
  uint64_t commits_failed_total() const { return commits_failed_; }
  std::vector<int32_t> unowned_partitions() const { return owners_.unowned_partitions(); }

 private:
  using SteadyClock = std::chrono::steady_clock;

  Result<kafka::ClientHandle> MakeConsumer();
  void Use(kafka::ClientHandle made);
  /// Gives up the client and all assigned partitions, and joins the group with a new client.
  Status BeginAnew();
  void Leave();
  Status Subscribe();
  void Rejoin();  // with the same client
  struct Fatal {
    bool is_fenced;
    Error error;
  };
  std::optional<Fatal> FatalError() const;
  /// Whether this member may have caused its fencing itself, so that it joins again.
  bool MayJoinAgain();

  void OnRebalance(rd_kafka_resp_err_t kind, const rd_kafka_topic_partition_list_t* partitions);
  void Revoke(std::span<const int32_t> partitions, bool lost);
  void RevokeAll();  // partitions that librdkafka didn't revoke count as lost
  void OnCommitted(rd_kafka_resp_err_t error, const rd_kafka_topic_partition_list_t* offsets, Instant sent);

  void OpenPending();
  std::optional<std::vector<int32_t>> AskForOpening(rd_kafka_topic_partition_list_t* committed);
  void OpenAsked(const std::vector<int32_t>& leaders, const rd_kafka_topic_partition_list_t* committed);
  void Hold(const Error& error);
  /// The start offset; nullopt: the partition isn't read.
  Result<std::optional<int64_t>> OpenPartition(Assignment assignment,
                                               const rd_kafka_topic_partition_list_t* committed);

  /// Joins the group again if a topic that was away is back.
  void AwaitTopic();

  ConsumerLink& link_;
  RecordFetcher& fetcher_;
  RebalanceHandler& rebalance_;
  kafka::QueueHandle commits_;        // answers to commits; destroyed before the client
  std::atomic<bool> joined_{false};   // the group has assigned partitions, or decided on none
  std::atomic<bool> opening_{false};  // `pending_` isn't empty, for other threads
  std::atomic<uint64_t> commits_failed_{0};

  bool closed_ = false;
  Status failure_;             // Poll returns it
  std::set<int32_t> pending_;  // assigned by the group, OnAssigned hasn't answered yet
  std::set<int32_t> owned_;    // assigned by the group, OnAssigning was called
  SteadyClock::time_point pending_next_{};
  BackOff pending_wait_{std::chrono::milliseconds(100), std::chrono::milliseconds(1000)};
  std::deque<SteadyClock::time_point> fenced_at_;  // recent times
  bool topic_back_ = false;  // the brokers had the topic at the last question, see AwaitTopic
  SteadyClock::time_point topic_next_{};
  BackOff topic_back_off_{std::chrono::seconds(3), std::chrono::minutes(5)};  // librdkafka looks every second
  std::chrono::milliseconds topic_wait_{};
  OwnersWatch owners_;  // stopped before the client is destroyed
};

}  // namespace seen
