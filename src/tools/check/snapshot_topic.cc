#include "tools/check/snapshot_topic.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <nlohmann/json.hpp>

#include "filter/snapshot.h"
#include "tools/common_options.h"
#include "tools/progress.h"
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

Result<nlohmann::ordered_json> DescribeSnapshot(std::string_view bytes,
                                                std::span<const std::string> test_ids) {
  const auto snapshot = SnapshotView::Parse(bytes);
  if (!snapshot) return Fail(snapshot.error());
  const SnapshotMeta& meta = snapshot->meta();
  nlohmann::ordered_json about = {
      {"format", SnapshotFormatName(meta.format)},
      {"items", meta.item_count},
      {"false_positive_rate", meta.false_positive_rate},
      {"horizon", DayText(meta.horizon)},
      {"as_of", TimeText(meta.as_of)},
      {"as_of_ms", meta.as_of.value},
      {"partition", meta.partition},
      {"input_offset", meta.input_offset},
      {"bytes", bytes.size()},
      {"filter_bytes", snapshot->payload().size()},
  };
  if (meta.item_count > 0) {
    about["bits_per_item"] =
        static_cast<double>(snapshot->payload().size()) * 8 / static_cast<double>(meta.item_count);
  }
  if (const auto& similar = snapshot->similar()) {
    about["similar"] = {{"format", SnapshotFormatName(similar->format)},
                        {"fingerprints", similar->fingerprint_count},
                        {"filter_bytes", similar->payload.size()}};
  }
  if (!test_ids.empty()) {
    auto& tests = about["tests"] = nlohmann::ordered_json::object();
    for (const std::string& id : test_ids) tests[id] = snapshot->MightContain(id);
    if (snapshot->has_similar()) {
      auto& near = about["near_tests"] = nlohmann::ordered_json::object();
      for (const std::string& id : test_ids) near[id] = snapshot->MightBeNear(id);
    }
  }
  return about;
}

std::string SnapshotText(const nlohmann::ordered_json& about) {
  std::string text = fmt::format(
      "{}, {} items, {} ({} of filter{}), false-positive rate {}\n"
      "counts exposures from {} on; as of {}: partition {} below offset {}\n",
      about["format"].get<std::string>(), WithThousands(about["items"].get<uint64_t>()),
      WithByteUnit(about["bytes"].get<uint64_t>()), WithByteUnit(about["filter_bytes"].get<uint64_t>()),
      about.contains("bits_per_item")
          ? fmt::format(", {:.2f} bits an item", about["bits_per_item"].get<double>())
          : std::string(),
      about["false_positive_rate"].get<double>(), about["horizon"].get<std::string>(),
      about["as_of"].get<std::string>(), about["partition"].get<int32_t>(),
      about["input_offset"].get<int64_t>());
  if (about.contains("similar")) {
    const auto& similar = about["similar"];
    text += fmt::format("what is similar: {}, {} fingerprints, {}\n", similar["format"].get<std::string>(),
                        WithThousands(similar["fingerprints"].get<uint64_t>()),
                        WithByteUnit(similar["filter_bytes"].get<uint64_t>()));
  }
  if (about.contains("tests")) {
    for (const auto& [id, might] : about["tests"].items()) {
      const bool near = about.contains("near_tests") && about["near_tests"][id].get<bool>();
      text += fmt::format("{}: {}{}\n", id, might.get<bool>() ? "seen, or a false positive" : "not seen",
                          near ? "; like a seen item, or a false positive" : "");
    }
  }
  return text;
}

}  // namespace seen
