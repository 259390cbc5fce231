#pragma once
// What an index of items was built with. What decides which items are alike never changes in the life of an
// index: a replay would decide otherwise. Written once, beside the index.

#include <rocksdb/file_system.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "items/group_options.h"

namespace seen {

/// Raised when the same text no longer gives the same features.
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
/// kCorrupt; kRefused where a newer program wrote it.
Result<IndexGeneration> DecodeGeneration(std::string_view text);
/// kRefused, naming key, both values and the remedy, where they differ in anything but the idf table.
Status CheckGeneration(const IndexGeneration& stored, const IndexGeneration& configured);

/// Files "generation" and "idf.txt" of `directory`, which exists. Durable when it returns; the table first.
rocksdb::Status WriteGeneration(rocksdb::FileSystem& files, const std::string& directory,
                                const IndexGeneration& generation, std::string_view idf_text);
/// nullopt: there is none.
Result<std::optional<IndexGeneration>> ReadGeneration(rocksdb::FileSystem& files,
                                                      const std::string& directory);
Result<std::string> ReadIdfText(rocksdb::FileSystem& files, const std::string& directory);

}  // namespace seen
