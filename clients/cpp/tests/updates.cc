#include "updates.h"

#include <algorithm>

#include "encoders.h"

namespace seen::client::test {

std::string SignedUpdate(std::string bytes) {
  std::string checksum;
  const std::string covered = bytes.substr(0, 8) + bytes.substr(12);
  Put(checksum, static_cast<std::uint32_t>(XXH64(covered.data(), covered.size(), 0)));
  return bytes.replace(8, 4, checksum);
}

std::string Encoded(const UpdateParts& parts) {
  std::string names;
  for (const std::string& name : parts.filters) {
    Put(names, static_cast<std::uint8_t>(name.size()));
    names += name;
  }
  names.resize(std::max<std::size_t>(names.size(), 7));
  std::string bytes = "SEEU";
  Put(bytes, std::uint8_t{1});
  Put(bytes, parts.part);
  Put(bytes, static_cast<std::uint16_t>(49 + names.size()));
  Put(bytes, std::uint32_t{0});
  Put(bytes, parts.partition);
  for (const std::int64_t number : {parts.generation, parts.from, parts.to, parts.as_of_ms})
    Put(bytes, number);
  Put(bytes, static_cast<std::uint8_t>(parts.filters.size()));
  bytes += names;
  for (const Section& section : parts.sections) {
    std::string users, counts, items;
    for (const Entry& entry : section.entries) {
      Put(users, entry.user);
      Put(counts, static_cast<std::uint16_t>(entry.items.size()));
      for (const Fingerprint item : entry.items) Put(items, static_cast<std::uint32_t>(item));
    }
    Put(bytes, section.mask);
    Put(bytes, static_cast<std::uint16_t>(section.kind));
    Put(bytes, section.until_s);
    Put(bytes, static_cast<std::uint32_t>(section.entries.size()));
    Put(bytes, static_cast<std::uint32_t>(items.size() / 4));
    bytes += users + counts + items;
  }
  return SignedUpdate(std::move(bytes));
}

std::string Encoded(const BeatParts& parts) {
  std::string text = R"({"version":1,"partition":)" + std::to_string(parts.partition) +
                     R"(,"partition_time_ms":1000,"next_offset":17,"lag_messages":0,"unpublished_users":2,)"
                     R"("heartbeat_ms":5000)";
  if (parts.generation) text += ",\"generation\":" + std::to_string(*parts.generation);
  if (parts.published_to) text += ",\"published_to\":" + std::to_string(*parts.published_to);
  const auto add = [&text](const std::string& member, const std::string& value) {
    text += ",\"" + member + "\":{\"default\":" + value + "}";
  };
  if (parts.snapshots_to) add("snapshots_to", std::to_string(*parts.snapshots_to));
  if (parts.snapshots_log) add("snapshots_log", std::to_string(*parts.snapshots_log));
  if (parts.snapshots_topic) add("snapshots_topic", "\"" + *parts.snapshots_topic + "\"");
  if (parts.complete_since_ms) add("complete_since_ms", std::to_string(*parts.complete_since_ms));
  return text + "}";
}

std::string ExactSnapshot(const std::vector<Fingerprint>& items, std::int32_t partition,
                          std::int64_t generation, std::int64_t input_offset) {
  Header header;
  header.item_count = static_cast<std::uint32_t>(items.size());
  header.partition = partition;
  header.input_offset = input_offset;
  std::string bytes = Envelope(Format::kFingerprints, FingerprintsPayload(items, 28), header);
  std::string field;
  Put(field, generation);
  bytes.insert(56, field);
  bytes[7] = 2;
  bytes[8] = 64;
  return Signed(std::move(bytes));
}

}  // namespace seen::client::test
