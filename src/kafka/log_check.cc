#include "kafka/log_check.h"

#include <vector>

#include "flow/log_port.h"
#include "kafka/message_record.h"
#include "kafka/read_loop.h"

namespace seen::kafka {
namespace {
using std::chrono::milliseconds;
using Kind = LogFinding::Kind;

constexpr milliseconds kSlice{100};
constexpr milliseconds kQuestion{1000};

// Only one record per partition is wanted: fetch little, and little ahead.
ClientSettings Imposed() {
  return {{"group.id", "seen-log-check"},  // assign() requires it; no group is joined
          {"enable.partition.eof", "true"},
          {"queued.min.messages", "1"},
          {"queued.max.messages.kbytes", "64"},
          {"fetch.message.max.bytes", "65536"}};
}

int64_t EndOf(rd_kafka_t* client, const std::string& topic, int32_t partition) {
  int64_t low = -1;
  int64_t high = -1;
  const auto error = rd_kafka_get_watermark_offsets(client, topic.c_str(), partition, &low, &high);
  return error == RD_KAFKA_RESP_ERR_NO_ERROR ? std::max<int64_t>(high, -1) : -1;
}

/// nullopt: the message says nothing about the record.
std::optional<Kind> Judge(const rd_kafka_message_t& message, const Anchor& wanted) {
  if (message.err == RD_KAFKA_RESP_ERR__PARTITION_EOF)
    return message.offset <= wanted.offset ? Kind::kShorter : Kind::kGone;
  if (message.err != RD_KAFKA_RESP_ERR_NO_ERROR || message.offset < wanted.offset) return std::nullopt;
  if (message.offset > wanted.offset) return Kind::kGone;
  return AnchorOf(RecordOf(message)) == wanted ? Kind::kSame : Kind::kReplaced;
}
}  // namespace

Result<std::map<int32_t, LogFinding>> CheckLogs(const LogCheckOptions& options,
                                                const std::map<int32_t, Anchor>& records,
                                                milliseconds timeout, const std::atomic<bool>& stop) {
  std::map<int32_t, LogFinding> findings;
  if (records.empty()) return findings;
  const auto until = std::chrono::steady_clock::now() + timeout;
  auto loop = ReadLoop::Open({options.brokers, options.client, options.topic, Imposed(), 64});
  if (!loop) return Fail(std::move(loop.error()));
  std::vector<int64_t> from(static_cast<size_t>(records.rbegin()->first) + 1, -1);
  for (const auto& [partition, record] : records) from[static_cast<size_t>(partition)] = record.offset;
  if (Status assigned = (*loop)->Assign(from); !assigned) return Fail(std::move(assigned.error()));
  std::vector<int32_t> out_of_range;
  const ReadLoop::Take take = [&](const rd_kafka_message_t& message) {
    const auto wanted = records.find(message.partition);
    if (wanted == records.end() || findings.contains(message.partition)) return false;
    if (IsOutOfRange(message.err)) {
      out_of_range.push_back(message.partition);
    } else if (const auto kind = Judge(message, wanted->second)) {
      findings[message.partition] = {*kind, EndOf((*loop)->client(), options.topic, message.partition)};
    }
    return false;
  };
  const ReadLoop::OnRecords no_records = [](int32_t, std::span<const Record>) { return Status(); };
  while (findings.size() < records.size() && !stop.load() && std::chrono::steady_clock::now() < until) {
    (void)(*loop)->Poll(kSlice, take, no_records);
    for (const int32_t partition : out_of_range) {
      const auto ends = LogEnds((*loop)->client(), options.topic, {&partition, 1}, kQuestion);
      if (!ends) continue;
      const int64_t end = ends->at(partition);
      findings[partition] = {end <= records.at(partition).offset ? Kind::kShorter : Kind::kGone, end};
    }
    out_of_range.clear();
  }
  return findings;
}

}  // namespace seen::kafka
