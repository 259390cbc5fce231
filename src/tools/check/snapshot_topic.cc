#include "tools/check/snapshot_topic.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <optional>

#include "filter/snapshot.h"
#include "model/day.h"
#include "tools/progress.h"

namespace seen {

Result<std::string> ReadLastSnapshot(const WholeTopic& topic, std::string_view user_id) {
  std::optional<std::string> last;
  const auto read = ReadShrinkingTopic(topic, [&](int32_t, const Record& record) -> Status {
    if (record.key != user_id) return {};
    last.reset();
    if (!record.value_is_null) last.emplace(record.value);
    return {};
  });
  if (!read) return Fail(read.error());
  if (!last) return Fail(Code::kNotFound, fmt::format("{}: no snapshot in topic {}", user_id, topic.topic));
  return std::move(*last);
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
