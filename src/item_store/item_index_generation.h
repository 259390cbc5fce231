#pragma once
// The settings that an index of items was built with. Settings that decide which items are similar never
// change in the life of an index: a replay would decide differently. They are written once, beside the index.

#include <rocksdb/file_system.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "items/group_options.h"

namespace seen {

/// Raise it when the same text no longer gives the same features.
inline constexpr uint32_t kFeaturesVersion = 1;

struct IndexGeneration {
  SimilarMethod method = SimilarMethod::kBoth;
  int32_t distance_max = 3;
  double similarity_min = 0.8;
  std::string verify = "sketch";  // or off
  int32_t window_days = 30;
  uint64_t text_bytes_max = 1 << 20;
  uint32_t features_version = kFeaturesVersion;
  uint64_t idf_version = 0;  // IdfTable::version
  friend bool operator==(const IndexGeneration&, const IndexGeneration&) = default;
};

std::string EncodeGeneration(const IndexGeneration& generation);
/// kCorrupt: it can't be read. kRefused: a newer program wrote it.
Result<IndexGeneration> DecodeGeneration(std::string_view text);
/// kRefused if they differ in anything except the idf table. The message names the key, both values and the
/// remedy.
Status CheckGeneration(const IndexGeneration& stored, const IndexGeneration& configured);

/// Writes the files "idf.txt" and then "generation" into `directory`, which exists. They are durable on
/// return.
rocksdb::Status WriteGeneration(rocksdb::FileSystem& files, const std::string& directory,
                                const IndexGeneration& generation, std::string_view idf_text);
/// nullopt: there is none.
Result<std::optional<IndexGeneration>> ReadGeneration(rocksdb::FileSystem& files,
                                                      const std::string& directory);
Result<std::string> ReadIdfText(rocksdb::FileSystem& files, const std::string& directory);

}  // namespace seen
