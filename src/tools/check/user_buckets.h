#pragma once
// The records that verify read, by user: an external hash partition. All records of a user are in one bucket,
// in the order of arrival. Buckets grow in memory, and go to scratch files when memory is full. Source:
// Garcia-Molina, Ullman and Widom, Database Systems, "Two-pass algorithms based on hashing".

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "tools/check/event_judge.h"

namespace seen {

/// A file without a name, which vanishes when the process ends, in whatever way. One thread.
class ScratchFile {
 public:
  /// An empty `folder` means the system's folder for temporary files (TMPDIR).
  explicit ScratchFile(std::string folder) : folder_(std::move(folder)) {}
  ScratchFile(ScratchFile&& other) noexcept
      : folder_(std::move(other.folder_)),
        file_(std::exchange(other.file_, -1)),
        bytes_(std::exchange(other.bytes_, 0)) {}
  ScratchFile& operator=(ScratchFile&&) = delete;
  ~ScratchFile();

  /// Appends. The first call creates the file. kNoSpace (with the remedy) and kUnavailable name --scratch.
  Status Append(std::string_view bytes);
  /// Appends the bytes [from, from + count) to `out`. The file must have them.
  Status Read(uint64_t from, uint64_t count, std::string& out) const;
  uint64_t bytes() const { return bytes_; }

 private:
  Status Make();
  Error Failed(const char* step, int code) const;

  std::string folder_;
  int file_ = -1;
  uint64_t bytes_ = 0;
};

// --- The records in which verify keeps its topics after reading them, until it checks the users. These
// records are in memory, or in scratch files of one run. No other version needs to read such records.

/// A user's last record of a snapshot topic, or a tombstone.
struct SnapshotRecord {
  std::string_view user_id;
  uint8_t filter = 0;                     // its place in the rules
  std::optional<std::string_view> bytes;  // nullopt: a tombstone
};

void AppendBucketRecord(const JudgedEvent& event, std::string& out);
void AppendBucketRecord(const SnapshotRecord& snapshot, std::string& out);

/// The head of the first record in `bytes`: its length, and what chooses its bucket. nullopt: it isn't whole.
struct BucketRecordHead {
  size_t bytes = 0;
  uint64_t route = 0;  // a hash of its user
};
std::optional<BucketRecordHead> ReadBucketRecordHead(std::string_view bytes);

/// `on_event`, `on_snapshot`: views are valid until they return. kCorrupt: anything but whole records.
Status ReadBucketRecords(std::string_view bytes, const std::function<void(const JudgedEvent&)>& on_event,
                         const std::function<void(const SnapshotRecord&)>& on_snapshot);

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
