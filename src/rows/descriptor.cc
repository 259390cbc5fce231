#include "rows/descriptor.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/byte_codec.h"
#include "base/log.h"

namespace seen {

std::string EncodeDescriptor(const StoreDescriptor& descriptor) {
  std::string out;
  PutLittleEndian(kStoreVersion, out);
  PutText(descriptor.identity.topic, out);
  PutLittleEndian(descriptor.identity.partition, out);
  PutLittleEndian(descriptor.identity.partition_count, out);
  PutText(descriptor.identity.partitioner, out);
  PutLittleEndian(static_cast<uint16_t>(descriptor.filters.size()), out);
  for (const StoredFilter& filter : descriptor.filters) {
    PutText(filter.name, out);
    PutLittleEndian(filter.window_days, out);
    PutLittleEndian(filter.limits.items_per_day_max, out);
  }
  PutLittleEndian(static_cast<uint16_t>(descriptor.kinds.size()), out);
  for (const std::string& kind : descriptor.kinds) PutText(kind, out);
  PutLittleEndian(static_cast<uint16_t>(descriptor.topics.size()), out);
  for (const std::string& topic : descriptor.topics) PutText(topic, out);
  for (const StoredFilter& filter : descriptor.filters) {
    PutLittleEndian(static_cast<uint8_t>(filter.kinds.size()), out);
    for (const StoredKind& kind : filter.kinds) {
      PutText(kind.name, out);
      PutLittleEndian(kind.window_days, out);
    }
  }
  return out;
}

Result<StoreDescriptor> DecodeDescriptor(std::string_view bytes) {
  FieldReader reader(bytes);
  const auto version = reader.Get<uint16_t>();
  if (reader.ok() && version > kStoreVersion) {
    return Fail(Code::kRefused,
                fmt::format("the state has format version {}, this program knows versions up to {}: it was "
                            "written by a newer seend. Run that version, or start with --rebuild to read the "
                            "topic again from its earliest record",
                            version, kStoreVersion));
  }
  StoreDescriptor descriptor;
  descriptor.version = version;
  descriptor.identity.topic = reader.GetText();
  descriptor.identity.partition = reader.Get<int32_t>();
  descriptor.identity.partition_count = reader.Get<int32_t>();
  descriptor.identity.partitioner = reader.GetText();
  const auto filters = reader.Get<uint16_t>();
  for (uint32_t i = 0; i < filters && reader.ok(); ++i) {
    StoredFilter filter;
    filter.name = reader.GetText();
    filter.window_days = reader.Get<int32_t>();
    filter.limits.items_per_day_max = reader.Get<uint32_t>();
    descriptor.filters.push_back(std::move(filter));
  }
  const auto kinds = version >= 2 ? reader.Get<uint16_t>() : uint16_t{0};
  for (uint32_t i = 0; i < kinds && reader.ok(); ++i) descriptor.kinds.push_back(reader.GetText());
  const auto topics = version >= 3 ? reader.Get<uint16_t>() : uint16_t{0};
  for (uint32_t i = 0; i < topics && reader.ok(); ++i) descriptor.topics.push_back(reader.GetText());
  for (size_t i = 0; version >= 4 && i < descriptor.filters.size() && reader.ok(); ++i) {
    std::vector<StoredKind>& counted = descriptor.filters[i].kinds;
    counted.resize(reader.Get<uint8_t>());
    for (StoredKind& kind : counted) {
      kind.name = reader.GetText();
      kind.window_days = reader.Get<int32_t>();
    }
  }
  if (!reader.Complete() || version == 0 || kinds > kDeclaredKindsMax || topics > kSnapshotTopicsMax) {
    return Fail(Code::kCorrupt, fmt::format("descriptor: {} bytes that are not a descriptor", bytes.size()));
  }
  return descriptor;
}

Status CheckIdentity(const StoreIdentity& stored, const StoreIdentity& expected) {
  if (stored.topic != expected.topic) {
    return Fail(Code::kRefused,
                fmt::format("the state was built from topic {}, the configuration says input.topic = {}. "
                            "Remedy: set input.topic back, give the new topic a store.directory of its own, "
                            "or start with --rebuild to read it from its earliest record",
                            stored.topic, expected.topic));
  }
  if (stored.partition != expected.partition) {
    return Fail(Code::kRefused,
                fmt::format("the state is that of partition {}, not of partition {}: directories were mixed "
                            "up; put them back, or start with --rebuild",
                            stored.partition, expected.partition));
  }
  if (stored.partition_count != expected.partition_count) {
    return Fail(
        Code::kRefused,
        fmt::format(
            "topic {} has {} partitions, the state was built when it had {}: users would map elsewhere, and "
            "lose their history. Remedy: start with --rebuild, once every event in the topic has been "
            "produced with {} partitions. If older events must count, copy them to a new topic",
            expected.topic, expected.partition_count, stored.partition_count, expected.partition_count));
  }
  if (stored.partitioner != expected.partitioner) {
    return Fail(
        Code::kRefused,
        fmt::format("the state was built with input.partitioner = {}, the configuration says {}: users would "
                    "map elsewhere. Remedy: set it back, or start with --rebuild if the producers did change",
                    stored.partitioner, expected.partitioner));
  }
  return {};
}

namespace {
bool Counts(const StoredFilter& filter, std::string_view kind) {
  return std::any_of(filter.kinds.begin(), filter.kinds.end(),
                     [&](const StoredKind& counted) { return counted.name == kind; });
}
}  // namespace

std::vector<FilterId> RegisterFilters(StoreDescriptor& descriptor,
                                      const std::vector<StoredFilter>& configured) {
  std::vector<FilterId> ids;
  for (const StoredFilter& filter : configured) {
    const auto known = std::find_if(descriptor.filters.begin(), descriptor.filters.end(),
                                    [&](const StoredFilter& stored) { return stored.name == filter.name; });
    Check(descriptor.filters.size() < kRetiredTopicLast.number() - kSnapshotTopicsMax,
          "a store has 64,000 filters");
    const FilterId id(static_cast<size_t>(known - descriptor.filters.begin()));
    ids.push_back(id);
    if (known == descriptor.filters.end()) {
      descriptor.filters.push_back(filter);
      continue;
    }
    if (filter.window_days > known->window_days) {
      log::Warning("a filter's window grew: items beyond the old window are gone. Remedy: seenctl fill",
                   {{"filter", filter.name},
                    {"partition", descriptor.identity.partition},
                    {"window_days", filter.window_days},
                    {"window_days_before", known->window_days}});
    }
    std::vector<StoredKind> past = std::move(known->kinds);
    *known = filter;
    for (StoredKind& kind : past) {
      if (!Counts(filter, kind.name)) known->kinds.push_back(std::move(kind));
    }
  }
  return ids;
}

std::vector<KindPolicy> PastKinds(const StoreDescriptor& descriptor, FilterId id,
                                  const StoredFilter& configured) {
  std::vector<KindPolicy> past;
  for (const StoredKind& kind : descriptor.filters[id.number()].kinds) {
    if (Counts(configured, kind.name)) continue;
    const auto known = std::find(descriptor.kinds.begin(), descriptor.kinds.end(), kind.name);
    const auto number = static_cast<uint8_t>(kDeclaredKindFirst + (known - descriptor.kinds.begin()));
    if (known != descriptor.kinds.end()) past.push_back({kind.name, number, kind.window_days});
  }
  return past;
}

Result<std::vector<uint8_t>> RegisterKinds(StoreDescriptor& descriptor,
                                           const std::vector<std::string>& configured) {
  std::vector<std::string>& kinds = descriptor.kinds;
  std::vector<uint8_t> numbers;
  for (const std::string& kind : configured) {
    const auto known = std::find(kinds.begin(), kinds.end(), kind);
    numbers.push_back(static_cast<uint8_t>(kDeclaredKindFirst + (known - kinds.begin())));
    if (known != kinds.end()) continue;
    if (kinds.size() == kDeclaredKindsMax) {
      return Fail(Code::kRefused,
                  fmt::format("filters[].kinds: \"{}\" would be the state's kind number {}, and a state "
                              "holds at most {}, including kinds that are no longer configured ({}). Remedy: "
                              "use one of these names, or start with --rebuild",
                              kind, kinds.size() + 1, kDeclaredKindsMax, fmt::join(kinds, ", ")));
    }
    kinds.push_back(kind);
  }
  return numbers;
}

Result<std::vector<RetiredTopic>> RegisterTopics(StoreDescriptor& descriptor,
                                                 const std::vector<std::string>& configured) {
  std::vector<std::string>& topics = descriptor.topics;
  for (const std::string& topic : configured) {
    if (std::find(topics.begin(), topics.end(), topic) != topics.end()) continue;
    if (topics.size() == kSnapshotTopicsMax) {
      return Fail(
          Code::kRefused,
          fmt::format("filters[].snapshot.topic: {} would be the state's topic number {}, and a state holds "
                      "at most {}. Remedy: use a topic that the state already has, or start with --rebuild",
                      topic, topics.size() + 1, kSnapshotTopicsMax));
    }
    topics.push_back(topic);
  }
  std::vector<RetiredTopic> retired;
  for (size_t i = 0; i < topics.size(); ++i) {
    if (std::find(configured.begin(), configured.end(), topics[i]) != configured.end()) continue;
    retired.push_back({FilterId(static_cast<size_t>(kRetiredTopicLast.number() - i)), topics[i]});
  }
  return retired;
}

}  // namespace seen
