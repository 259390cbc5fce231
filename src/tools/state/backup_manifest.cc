#include "tools/state/backup_manifest.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

namespace seen {
namespace {

nlohmann::ordered_json FileToJson(const BackupFile& file) {
  return {{"name", file.name},
          {"bytes", file.bytes},
          {"xxh3", ToHex(file.checksum)},
          {"tail_xxh3", ToHex(file.tail)}};
}

Hash128 HashAt(const nlohmann::ordered_json& object, const char* field) {
  const auto hash = HashFromHex(object.at(field).get<std::string>());
  if (!hash)
    throw nlohmann::ordered_json::other_error::create(501, std::string(field) + ": not 32 hexadecimal digits",
                                                      &object);
  return *hash;
}

// Checks the name, because it becomes part of a path.
std::string NameAt(const nlohmann::ordered_json& object) {
  auto name = object.at("name").get<std::string>();
  if (name.empty() || name.starts_with('.') || name.find('/') != std::string::npos)
    throw nlohmann::ordered_json::other_error::create(501, "name: not a file's name", &object);
  return name;
}

nlohmann::ordered_json PartitionToJson(const BackedUpPartition& partition) {
  nlohmann::ordered_json json = {{"partition", partition.partition},
                                 {"files", nlohmann::ordered_json::array()}};
  for (const BackupFile& file : partition.files) json["files"].push_back(FileToJson(file));
  return json;
}

BackedUpPartition PartitionFromJson(const nlohmann::ordered_json& json) {
  BackedUpPartition partition;
  partition.partition = json.at("partition").get<int32_t>();
  for (const nlohmann::ordered_json& file : json.at("files")) {
    partition.files.push_back(
        {NameAt(file), file.at("bytes").get<uint64_t>(), HashAt(file, "xxh3"), HashAt(file, "tail_xxh3")});
  }
  return partition;
}

BackupManifest FromJson(const nlohmann::ordered_json& json) {
  BackupManifest manifest;
  manifest.number = json.at("number").get<uint32_t>();
  manifest.made_at = {json.at("made_at_ms").get<int64_t>()};
  manifest.program = json.at("program").get<std::string>();
  manifest.instance = json.at("instance").get<std::string>();
  manifest.partitioner = json.at("partitioner").get<std::string>();
  auto report = StateReportFromJson(nlohmann::json(json.at("state")));
  if (!report) throw nlohmann::ordered_json::other_error::create(501, report.error().message, &json);
  manifest.report = std::move(*report);
  for (const nlohmann::ordered_json& partition : json.at("files_of"))
    manifest.partitions.push_back(PartitionFromJson(partition));
  return manifest;
}

tl::unexpected<Error> Damaged(std::string_view why) {
  return Fail(Code::kCorrupt,
              fmt::format("manifest: {}. Remedy: use another backup, and check the disk", why));
}

}  // namespace

uint64_t BackupManifest::Files() const {
  uint64_t files = 0;
  for (const BackedUpPartition& partition : partitions) files += partition.files.size();
  return files;
}

uint64_t BackupManifest::Bytes() const {
  uint64_t bytes = 0;
  for (const BackedUpPartition& partition : partitions) {
    for (const BackupFile& file : partition.files) bytes += file.bytes;
  }
  return bytes;
}

std::string EncodeManifest(const BackupManifest& manifest) {
  nlohmann::ordered_json json = {{"number", manifest.number},
                                 {"made_at_ms", manifest.made_at.value},
                                 {"program", manifest.program},
                                 {"instance", manifest.instance},
                                 {"partitioner", manifest.partitioner},
                                 {"state", StateReportToJson(manifest.report)},
                                 {"files_of", nlohmann::ordered_json::array()}};
  for (const BackedUpPartition& partition : manifest.partitions)
    json["files_of"].push_back(PartitionToJson(partition));
  const nlohmann::ordered_json whole = {
      {"format", kBackupFormat}, {"xxh3", ToHex(HashOf(json.dump()))}, {"manifest", json}};
  return whole.dump(1) + "\n";
}

Result<BackupManifest> DecodeManifest(std::string_view text) {
  const nlohmann::ordered_json whole = nlohmann::ordered_json::parse(text, nullptr, false);
  if (!whole.is_object()) return Damaged("not a JSON object");
  try {
    const int format = whole.at("format").get<int>();
    if (format > kBackupFormat) {
      return Fail(Code::kRefused, fmt::format("manifest: format {}, and this seenctl knows formats up to {}. "
                                              "Remedy: use the seenctl that made the backup, or a newer one",
                                              format, kBackupFormat));
    }
    const nlohmann::ordered_json& json = whole.at("manifest");
    if (HashAt(whole, "xxh3") != HashOf(json.dump())) return Damaged("the checksum differs");
    return FromJson(json);
  } catch (const nlohmann::ordered_json::exception& error) {
    return Damaged(error.what());
  }
}

}  // namespace seen
