#include "tools/check/verify_input.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <map>

#include "decode/event_decoder.h"
#include "tools/ask/daemon_client.h"
#include "tools/progress.h"
#include "tools/reach_brokers.h"

namespace seen {
namespace {

constexpr int16_t kOwnSource = -1;  // the daemon's own events, if other events come from another topic

using OnRecord = std::function<Status(int32_t partition, const Record& record)>;

/// Reads a topic's records up to its present end.
Result<std::vector<TopicReader::Range>> ReadTopic(const VerifyPlan& plan, const std::string& topic,
                                                  Progress::Mode mode, const OnRecord& on_record) {
  const auto reader = OpenWholeTopic(plan.brokers, plan.client, topic);
  if (!reader) return Fail(reader.error());
  const uint64_t total = (*reader)->records_remaining();
  Progress progress("read " + topic, total, "records", mode);
  while (true) {
    Status taken;
    const auto more = (*reader)->Poll(std::chrono::milliseconds(200),
                                      [&](int32_t partition, std::span<const Record> records) {
                                        for (const Record& record : records) {
                                          if (taken) taken = on_record(partition, record);
                                        }
                                      });
    if (!more) return Fail(more.error());
    if (!taken) return Fail(taken.error());
    progress.Update(total - std::min(total, (*reader)->records_remaining()));
    if (Interrupted()) return Fail(Code::kUnavailable, "interrupted");
    if (!*more) return (*reader)->ranges();
  }
}

Status TakeEvent(VerifyInput& input, const Record& record, int16_t source) {
  const auto told = input.judge.Read(record, source);
  if (!told || !input.sample.Offer(told->user_id)) return {};
  return input.buckets.Add(*told);
}

/// Waits until the daemon has what was read. The daemon may read another topic, into which it re-keys this
/// one. Returns the name of that topic, or an empty name.
Result<std::string> WaitForDaemon(const VerifyOptions& options, const VerifyPlan& plan, DaemonClient& daemon,
                                  const std::map<int32_t, int64_t>& read_ends) {
  const std::chrono::duration<double> timeout(options.timeout_s);
  auto ends = read_ends;
  const auto status = daemon.Status();
  if (!status) return Fail(status.error());
  std::string keyed_topic;
  if (status->source_topic == plan.topic) {
    keyed_topic = status->topic;
    if (auto rekeyed = WaitUntilRekeyed(daemon, ends, timeout, options.quiet); !rekeyed)
      return Fail(rekeyed.error());
    auto keyed = EndsOf(plan.brokers, plan.client, keyed_topic);
    if (!keyed) return Fail(keyed.error());
    ends = std::move(*keyed);
  } else if (status->topic != plan.topic) {
    return Fail(Code::kInvalidArgument,
                fmt::format("--topic: {}: the daemon reads {}", plan.topic,
                            status->source_topic.empty() ? status->topic : status->source_topic));
  }
  if (auto caught_up = WaitUntilCaughtUp(daemon, ends, options.snapshots, timeout, options.quiet); !caught_up)
    return Fail(caught_up.error());
  return keyed_topic;
}

Status ReadSnapshots(const VerifyPlan& plan, size_t filter, VerifyInput& input) {
  const std::string& topic = plan.rules.filters[filter].snapshot_topic;
  constexpr int kAttempts = 5;  // with short retention, a topic may lose its start while it is read
  for (int attempt = 1;; ++attempt) {
    const auto read = ReadTopic(plan, topic, input.progress, [&](int32_t, const Record& record) -> Status {
      if (!input.sample.Holds(record.key)) return {};
      return input.buckets.Add(SnapshotRecord{
          .user_id = record.key,
          .filter = static_cast<uint8_t>(filter),
          .bytes = record.value_is_null ? std::nullopt : std::optional<std::string_view>(record.value)});
    });
    if (read) return {};
    if (attempt == kAttempts || read.error().code != Code::kUnavailable || Interrupted())
      return Fail(read.error());
  }
}

}  // namespace

Result<VerifiedTopic> ReadVerifyInput(const VerifyOptions& options, const VerifyPlan& plan,
                                      DaemonClient& daemon, VerifyInput& input) {
  const auto ranges =
      ReadTopic(plan, plan.topic, input.progress, [&](int32_t partition, const Record& record) {
        return TakeEvent(input, record, static_cast<int16_t>(partition));
      });
  if (!ranges) return Fail(ranges.error());
  VerifiedTopic read;
  std::map<int32_t, int64_t> ends;
  for (const TopicReader::Range& range : *ranges) {
    ends[range.partition] = range.to;
    read.from_the_start = read.from_the_start && range.from == 0;
  }
  const auto keyed_topic = WaitForDaemon(options, plan, daemon, ends);
  if (!keyed_topic) return Fail(keyed_topic.error());
  if (!keyed_topic->empty()) {
    // The daemon writes changes over HTTP only into the keyed topic.
    const auto own =
        ReadTopic(plan, *keyed_topic, input.progress, [&](int32_t, const Record& record) -> Status {
          return IsOwnEvent(record.value) ? TakeEvent(input, record, kOwnSource) : Status();
        });
    if (!own) return Fail(own.error());
  }
  if (!options.snapshots) return read;
  read.snapshots_at = SystemClock().WallNow();
  for (const size_t filter : plan.filters) {
    if (plan.rules.filters[filter].snapshot_topic.empty()) continue;
    if (Status published = ReadSnapshots(plan, filter, input); !published) return Fail(published.error());
  }
  return read;
}

}  // namespace seen
