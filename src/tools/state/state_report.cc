#include "tools/state/state_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>

#include "serve/answer_json.h"
#include "tools/common_options.h"
#include "tools/progress.h"
#include "tools/read_files.h"
#include "tools/state/state_rows.h"

namespace seen {
namespace {

std::string SideOf(const SetDigest& set) {
  return fmt::format("{} ({} users, {} items, {} removals)", ToHex(set.digest), WithThousands(set.users),
                     WithThousands(set.items), WithThousands(set.removals));
}

void Compare(std::string_view where, const std::vector<FilterDigest>& expected,
             const std::vector<FilterDigest>& found, bool also_without_id,
             std::vector<std::string>& differences) {
  const auto find = [](const std::vector<FilterDigest>& filters, const std::string& name) {
    const auto at = std::find_if(filters.begin(), filters.end(),
                                 [&](const FilterDigest& filter) { return filter.filter == name; });
    return at == filters.end() ? SetDigest() : at->set;
  };
  std::vector<std::string> names;
  for (const auto* side : {&expected, &found}) {
    for (const FilterDigest& filter : *side) {
      if (std::find(names.begin(), names.end(), filter.filter) == names.end()) names.push_back(filter.filter);
    }
  }
  for (const std::string& name : names) {
    const SetDigest before = find(expected, name);
    const SetDigest now = find(found, name);
    const bool same_without_id = !also_without_id || before.without_id == now.without_id;
    if (before.digest == now.digest && same_without_id) continue;
    differences.push_back(
        fmt::format("{}, filter {}: {}, expected {}", where, name, SideOf(now), SideOf(before)));
  }
}

std::string Line(std::string_view partition, std::string_view next_offset, const FilterDigest& filter) {
  const SetDigest& set = filter.set;
  std::string line =
      fmt::format("{:>9} {:>14}  {:20} {:32} {:>12} {:>14} {:>10} {:>10}\n", partition, next_offset,
                  filter.filter, ToHex(set.digest), WithThousands(set.users), WithThousands(set.items),
                  WithThousands(set.removals), WithThousands(set.users_without_id));
  if (set.similar != Hash128()) line += fmt::format("{:>45} {}\n", "similar", ToHex(set.similar));
  return line;
}

class DigestSink final : public CopySink {
 public:
  DigestSink(const std::string& scratch, StateReport& report) : scratch_(scratch), report_(report) {}

  Result<std::string> SortFolder() override {
    auto folder = OwnFolder::Make("--scratch", scratch_, "digest");
    if (!folder) return Fail(folder.error());
    folder_.emplace(std::move(*folder));
    return folder_->path();
  }
  Status Begin(std::vector<PartitionHead> heads) override {
    for (const PartitionHead& head : heads) {
      const StoreIdentity& identity = head.descriptor.identity;
      if (digesters_.empty()) {
        report_.topic = identity.topic;
        report_.partitions_total = identity.partition_count;
      }
      if (report_.topic != identity.topic || report_.partitions_total != identity.partition_count) {
        return Fail(Code::kRefused,
                    fmt::format("{}: partition {} is of topic {} with {} partitions, others are of {} "
                                "with {}. Remedy: remove the folders of one of them",
                                report_.source, identity.partition, identity.topic, identity.partition_count,
                                report_.topic, report_.partitions_total));
      }
      digesters_.emplace_back(head.descriptor, head.position, report_.as_of);
    }
    return {};
  }
  Status Add(int32_t place, const Row& row, RestingRows*) override {
    return digesters_[static_cast<size_t>(place)].Add(row.key, row.value);
  }
  Status Finish() override {
    for (const StateDigester& digester : digesters_) report_.partitions.push_back(digester.Finish());
    return {};
  }
  void Clear() override { folder_.reset(); }

 private:
  const std::string scratch_;
  StateReport& report_;
  std::optional<OwnFolder> folder_;
  std::vector<StateDigester> digesters_;  // by place
};

}  // namespace

std::vector<FilterDigest> StateReport::Sum() const {
  std::vector<FilterDigest> sum;
  for (const PartitionDigest& partition : partitions) AddDigests(partition.filters, sum);
  return sum;
}

nlohmann::ordered_json StateReportToJson(const StateReport& report) {
  nlohmann::ordered_json json = {{"source", report.source},
                                 {"topic", report.topic},
                                 {"partitions_total", report.partitions_total},
                                 {"as_of_ms", report.as_of.value},
                                 {"sum", DigestsToJson(report.Sum())},
                                 {"partitions", nlohmann::ordered_json::array()}};
  for (const PartitionDigest& partition : report.partitions)
    json["partitions"].push_back(PartitionDigestToJson(partition));
  return json;
}

Result<StateReport> StateReportFromJson(const nlohmann::json& json) {
  try {
    StateReport report;
    report.source = json.at("source").get<std::string>();
    report.topic = json.at("topic").get<std::string>();
    report.partitions_total = json.at("partitions_total").get<int32_t>();
    report.as_of = {json.at("as_of_ms").get<int64_t>()};
    for (const nlohmann::json& object : json.at("partitions")) {
      auto partition = PartitionDigestFromJson(object);
      if (!partition) return Fail(partition.error());
      report.partitions.push_back(std::move(*partition));
    }
    return report;
  } catch (const nlohmann::json::exception& error) {
    return Fail(Code::kMalformed, fmt::format("digest: {}", error.what()));
  }
}

std::string StateReportText(const StateReport& report) {
  std::string text = fmt::format(
      "{}, topic {}, {} of {} partitions, as of {} ({} ms): what has left its window by then doesn't count\n",
      report.source, report.topic, report.partitions.size(), report.partitions_total, TimeText(report.as_of),
      report.as_of.value);
  text += fmt::format("{:>9} {:>14}  {:20} {:32} {:>12} {:>14} {:>10} {:>10}\n", "partition", "next offset",
                      "filter", "digest", "users", "items", "removals", "id gone");
  for (const PartitionDigest& partition : report.partitions) {
    for (const FilterDigest& filter : partition.filters)
      text += Line(std::to_string(partition.partition),
                   WithThousands(static_cast<uint64_t>(partition.next_offset)), filter);
  }
  for (const FilterDigest& filter : report.Sum()) text += Line("all", "", filter);
  return text;
}

std::vector<std::string> CompareReports(const StateReport& expected, const StateReport& found) {
  std::vector<std::string> differences;
  if (expected.partitions_total != found.partitions_total) {
    Compare(
        fmt::format("all partitions ({}, expected of {})", found.partitions_total, expected.partitions_total),
        expected.Sum(), found.Sum(), false, differences);
    return differences;
  }
  const auto find = [](const StateReport& report, int32_t partition) {
    return std::find_if(report.partitions.begin(), report.partitions.end(),
                        [&](const PartitionDigest& digest) { return digest.partition == partition; });
  };
  for (const PartitionDigest& partition : expected.partitions) {
    const auto now = find(found, partition.partition);
    if (now == found.partitions.end()) {
      differences.push_back(fmt::format("partition {}: missing", partition.partition));
    } else {
      Compare(fmt::format("partition {}", partition.partition), partition.filters, now->filters, true,
              differences);
    }
  }
  for (const PartitionDigest& partition : found.partitions) {
    if (find(expected, partition.partition) == expected.partitions.end())
      differences.push_back(fmt::format("partition {}: not expected", partition.partition));
  }
  return differences;
}

std::unique_ptr<CopySink> IntoDigest(const std::string& scratch, StateReport& report) {
  return std::make_unique<DigestSink>(scratch, report);
}

}  // namespace seen
