#pragma once
// What verify read, by user: an external hash partition. All of a user's records are in one bucket, in the
// order they came in. Buckets grow in memory, and go to scratch files where memory ends. Source:
// Garcia-Molina, Ullman and Widom, Database Systems, "Two-pass algorithms based on hashing".

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "base/result.h"
#include "tools/check/bucket_record.h"
#include "tools/check/scratch_file.h"

namespace seen {

/// One thread.
class UserBuckets {
 public:
  struct Options {
    std::string scratch;  // as ScratchFile takes it
    uint64_t memory_bytes = uint64_t{1} << 30;
  };
  explicit UserBuckets(const Options& options);

  /// kNoSpace, kUnavailable.
  template <typename Told>
  Status Add(const Told& told) {
    record_.clear();
    AppendBucketRecord(told, record_);
    return Keep(buckets_, 0, record_);
  }

  /// Every bucket's records, one bucket after the other; they are gone then. A bucket is at most a sixteenth
  /// of memory, for what is made of it takes several times as much; one that is larger is parted once more.
  /// kRefused: one user has more than a fourth of it.
  using Visit = std::function<Status(std::string_view records)>;
  Status ForEach(const Visit& visit);

  /// Written to files, all in all.
  uint64_t spilled_bytes() const { return spilled_bytes_; }
  /// Visited.
  uint64_t buckets() const { return visited_; }

 private:
  static constexpr int kBits = 8;  // of the hash, at each level
  static constexpr size_t kBuckets = size_t{1} << kBits;
  static constexpr int kLevelsMax = 6;
  struct Bucket {
    explicit Bucket(const std::string& folder) : file(folder) {}
    uint64_t bytes() const { return file.bytes() + buffer.size(); }
    ScratchFile file;  // its first part
    std::string buffer;
  };
  using Buckets = std::vector<Bucket>;

  Buckets MakeBuckets() const;
  Status Keep(Buckets& buckets, int level, std::string_view record);
  Status Flush(Buckets& buckets);
  Status Part(Bucket& bucket, int level, Buckets& parts);
  Status VisitAll(Buckets& buckets, int level, const Visit& visit);

  const Options options_;
  Buckets buckets_;
  std::string record_;
  uint64_t buffered_bytes_ = 0;
  uint64_t spilled_bytes_ = 0;
  uint64_t visited_ = 0;
};

}  // namespace seen
