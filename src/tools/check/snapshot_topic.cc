#include "tools/check/snapshot_topic.h"

#include <algorithm>
#include <chrono>

#include "tools/reach_brokers.h"

namespace seen {

Status SnapshotTopic::CatchUp(std::string_view only_user, Progress* progress) {
  constexpr int kAttempts =
      5;  // with short retention, a topic may lose its start several times while it is read
  Status read;
  for (int attempt = 0; attempt < kAttempts; ++attempt) {
    read = ReadToEnd(only_user, progress);
    if (read || read.error().code != Code::kUnavailable) break;
    next_offsets_.clear();
  }
  return read;
}

Status SnapshotTopic::ReadToEnd(std::string_view only_user, Progress* progress) {
  const auto reader = OpenWholeTopic(options_.brokers, options_.client, options_.topic, next_offsets_);
  if (!reader) return Fail(reader.error());
  while (true) {
    const auto more = (*reader)->Poll(std::chrono::milliseconds(200),
                                      [&](int32_t partition, std::span<const Record> records) {
                                        for (const Record& record : records) {
                                          ++records_read_;
                                          if (!only_user.empty() && record.key != only_user) continue;
                                          if (record.value_is_null) {
                                            snapshots_.erase(std::string(record.key));
                                          } else {
                                            snapshots_[std::string(record.key)].assign(record.value);
                                          }
                                        }
                                        if (!records.empty())
                                          next_offsets_[partition] = records.back().offset + 1;
                                      });
    if (!more) return Fail(more.error());
    if (progress != nullptr) progress->Update(records_read_);
    if (!*more) break;
  }
  for (const TopicReader::Range& range : (*reader)->ranges()) {
    next_offsets_[range.partition] = std::max(next_offsets_[range.partition], range.to);
  }
  return {};
}

const std::string* SnapshotTopic::Find(const std::string& user_id) const {
  const auto found = snapshots_.find(user_id);
  return found == snapshots_.end() ? nullptr : &found->second;
}

}  // namespace seen
