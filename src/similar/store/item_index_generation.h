#pragma once
// The settings that an index of items was built with. Settings that decide which items are similar never
// change in the life of an index: a replay would decide differently. They are written once, beside the index.

#include <rocksdb/file_system.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "similar/port/options.h"
#include "similar/text/feature_reader.h"

namespace seen {

/// From 2 on, the index records its folding, segmentation and boilerplate; from 3 on, also what numbers mean
/// and tokens_min; from 4 on, also containment_min. An index of an older version keeps to it until it is
/// rebuilt. CheckGeneration refuses a version of which IsLostTextVersion is true.
inline constexpr uint32_t kFeaturesVersion = kTextVersion;

struct IndexGeneration {
  SimilarMethod method = SimilarMethod::kBoth;
  int32_t distance_max = 3;
  double similarity_min = 0.8;
  std::string verify = "sketch";  // or off
  int32_t window_days = 30;
  uint64_t text_bytes_max = 1 << 20;
  uint32_t features_version = kFeaturesVersion;
  uint64_t idf_version = 0;  // IdfTable::version
  uint32_t folding_version = kFoldingVersion;
  Segmentation segmentation = kDefaultSegmentation;
  std::vector<std::string> boilerplate;  // the patterns
  Numbers numbers = kDefaultNumbers;
  uint32_t tokens_min = kDefaultTokensMin;
  double containment_min = kDefaultContainmentMin;
  friend bool operator==(const IndexGeneration&, const IndexGeneration&) = default;
};

std::string EncodeGeneration(const IndexGeneration& generation);
/// kCorrupt: it can't be read. kRefused: a newer program wrote it.
Result<IndexGeneration> DecodeGeneration(std::string_view text);

/// The settings that an existing index keeps, whatever a new index gets. None of them when it is rebuilt.
struct KeptSettings {
  bool versions = false;  // of the features, and of the table of folding
  // If the configuration sets none:
  bool method = false;
  bool segmentation = false;
  bool numbers = false;
  bool tokens_min = false;
  bool containment_min = false;
};
/// `configured` for an index that was built with `stored`.
IndexGeneration Adapted(const IndexGeneration& stored, IndexGeneration configured, KeptSettings kept);
/// How the texts of such an index are read. kInvalidArgument: a pattern of boilerplate can't be compiled.
Result<FeatureOptions> FeatureOptionsOf(const IndexGeneration& generation,
                                        std::shared_ptr<const IdfTable> idf);

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
