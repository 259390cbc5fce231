#include "tools/reach_brokers.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <span>

#include "kafka/admin.h"
#include "tools/common_options.h"
#include "tools/progress.h"

namespace seen {

Status ReachBrokers(std::string_view option, const std::string& brokers, const ClientSettings& client) {
  constexpr std::chrono::milliseconds kTimeout(2'500);
  const auto admin = Admin::Open(brokers, client);
  if (!admin) return Fail(admin.error());
  Status answered = (*admin)->Ping(kTimeout);
  if (answered || answered.error().code != Code::kUnavailable) return answered;
  return Fail(
      Code::kUnavailable,
      fmt::format("{}: {}: no broker answers within {:.1f} s: {}. Remedy: start the brokers, name other "
                  "brokers, or give the settings that they need, such as security.protocol, by --client",
                  option, brokers, std::chrono::duration<double>(kTimeout).count(),
                  answered.error().message));
}

namespace {

Result<std::unique_ptr<TopicReader>> OpenWhole(const WholeTopic& whole) {
  if (Status reached = ReachBrokers("--brokers", whole.brokers, whole.client); !reached)
    return Fail(reached.error());
  return TopicReader::Open({.brokers = whole.brokers,
                            .client = whole.client,
                            .topic = whole.topic,
                            .from_time = whole.from_time,
                            .from_offsets = whole.from_offsets},
                           std::chrono::seconds(15));
}

}  // namespace

Result<std::vector<TopicReader::Range>> ReadWholeTopic(const WholeTopic& whole, const UseRecord& use) {
  const auto reader = OpenWhole(whole);
  if (!reader) return Fail(reader.error());
  const uint64_t total = (*reader)->records_remaining();
  Progress progress(whole.task, total, "records", whole.task.empty());
  while (true) {
    const auto more = (*reader)->Poll(std::chrono::milliseconds(200),
                                      [&](int32_t partition, std::span<const Record> records) -> Status {
                                        for (const Record& record : records) {
                                          if (Status used = use(partition, record); !used) return used;
                                        }
                                        return {};
                                      });
    if (!more) return Fail(more.error());
    progress.Update(total - std::min(total, (*reader)->records_remaining()));
    if (Interrupted()) return Fail(Code::kUnavailable, "interrupted: not all records are read");
    if (!*more) return (*reader)->ranges();
  }
}

Result<std::vector<TopicReader::Range>> ReadShrinkingTopic(const WholeTopic& whole, const UseRecord& use) {
  constexpr int kAttempts = 5;
  // Brokers that are down aren't a topic that shrank.
  if (Status reached = ReachBrokers("--brokers", whole.brokers, whole.client); !reached)
    return Fail(reached.error());
  for (int attempt = 1;; ++attempt) {
    auto read = ReadWholeTopic(whole, use);
    if (read || attempt == kAttempts || read.error().code != Code::kUnavailable || Interrupted()) return read;
  }
}

Result<std::map<int32_t, int64_t>> EndsOf(const WholeTopic& whole) {
  const auto reader = OpenWhole(whole);
  if (!reader) return Fail(reader.error());
  std::map<int32_t, int64_t> ends;
  for (const auto& range : (*reader)->ranges()) ends[range.partition] = range.to;
  return ends;
}

Status CheckSameTopic(const WholeTopic& topic, const std::map<int32_t, int64_t>& offsets,
                      const IsSameRecord& is_same) {
  constexpr std::chrono::seconds kTimeout(15);
  const auto other = [&](int32_t partition) {
    return LogWasCut(fmt::format("{}/{}: offset {} has another record than an earlier run had there",
                                 topic.topic, partition, offsets.at(partition)),
                     "name another file with --progress, and everything is sent again");
  };
  const auto whole = OpenWhole(topic);
  if (!whole) return Fail(whole.error());
  std::map<int32_t, int64_t> from, to;
  for (const auto& range : (*whole)->ranges()) {
    from[range.partition] = to[range.partition] = range.to;
    const auto at = offsets.find(range.partition);
    if (at == offsets.end() || at->second < range.from) continue;
    if (at->second >= range.to) return Fail(other(range.partition));
    from[range.partition] = at->second;
    to[range.partition] = at->second + 1;
  }
  for (const auto& [partition, offset] : offsets) {
    if (!to.contains(partition)) return Fail(other(partition));
  }
  const auto reader = TopicReader::Open({.brokers = topic.brokers,
                                         .client = topic.client,
                                         .topic = topic.topic,
                                         .reads_uncommitted = true,
                                         .from_offsets = from,
                                         .to_offsets = to},
                                        kTimeout);
  if (!reader) return Fail(reader.error());
  for (const Instant until = SystemClock().Now() + kTimeout; SystemClock().Now() < until;) {
    const auto more = (*reader)->Poll(
        std::chrono::milliseconds(200), [&](int32_t partition, std::span<const Record> records) {
          for (const Record& record : records) {
            if (record.offset == offsets.at(partition) && !is_same(partition, record))
              return Status(Fail(other(partition)));
          }
          return Status();
        });
    if (!more) return Fail(more.error());
    if (!*more) return {};
  }
  return Fail(Code::kUnavailable, fmt::format("{}: its records can't be read", topic.topic));
}

}  // namespace seen
