#pragma once
// The records that verify read, by user: an external hash partition. All records of a user are in one bucket,
// in the order of arrival. Buckets grow in memory, and go to scratch files when memory is full. Source:
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
    std::string scratch;  // as for ScratchFile
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

  /// Visits the records of every bucket, one bucket after the other, and drops them. A bucket is at most a
  /// sixteenth of memory, because its visitor needs several times as much. A larger bucket is split once
  /// more. kRefused: one user has more than a fourth of memory.
  using Visit = std::function<Status(std::string_view records)>;
  Status ForEach(const Visit& visit);

  /// Bytes written to files, in total.
  uint64_t spilled_bytes() const { return spilled_bytes_; }
  /// The number of buckets visited.
  uint64_t buckets() const { return visited_; }

 private:
  static constexpr int kBits = 8;  // bits of the hash at each level
  static constexpr size_t kBuckets = size_t{1} << kBits;
  static constexpr int kLevelsMax = 6;
  struct Bucket {
    explicit Bucket(const std::string& folder) : file(folder) {}
    uint64_t bytes() const { return file.bytes() + buffer.size(); }
    ScratchFile file;  // the first part of the bucket
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
