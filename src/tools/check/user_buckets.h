#pragma once
// The records that verify read, by user: an external hash partition. All records of a user are in one bucket,
// in the order of arrival. Buckets grow in memory. When memory is full, they go to a scratch file. Source:
// Garcia-Molina, Ullman and Widom, Database Systems, "Two-pass algorithms based on hashing". And a sample of
// users.

#include <cstdint>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "model/hashes.h"
#include "tools/check/event_judge.h"
#include "tools/load/random.h"

namespace seen {

/// A file without a name, which vanishes when the process ends, in whatever way. One thread.
class ScratchFile {
 public:
  /// An empty `folder` means the system's folder for temporary files (TMPDIR).
  explicit ScratchFile(std::string folder) : folder_(std::move(folder)) {}
  ScratchFile(const ScratchFile&) = delete;
  ScratchFile& operator=(const ScratchFile&) = delete;
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

// --- The records in which verify keeps its topics until it checks the users. No other version reads them.

/// A user's last record of a snapshot topic, or a tombstone.
struct SnapshotRecord {
  std::string_view user_id;
  uint8_t filter = 0;                     // its place in the rules
  std::optional<std::string_view> bytes;  // nullopt: a tombstone
};

void AppendBucketRecord(const JudgedEvent& event, std::string& out);
void AppendBucketRecord(const SnapshotRecord& snapshot, std::string& out);

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
  explicit UserBuckets(const Options& options)
      : options_(options), buckets_(kBuckets), file_(options.scratch) {}

  /// kNoSpace, kUnavailable.
  template <typename Told>
  Status Add(const Told& told) {
    std::string& buffer = buckets_[UserKeyOf(told.user_id).high >> (64 - kBits)].buffer;
    const size_t before = buffer.size();
    AppendBucketRecord(told, buffer);
    buffered_bytes_ += buffer.size() - before;
    // A growing string may hold twice its size, and for a moment three times its size.
    return buffered_bytes_ > options_.memory_bytes / 8 ? Flush() : Status();
  }

  /// Visits all records, some buckets at once, and drops them. The buckets of one visit have at most a
  /// sixteenth of memory, because the visitor needs several times as much. kRefused: one bucket has more than
  /// a fourth.
  using Visit = std::function<Status(std::string_view records)>;
  Status ForEach(const Visit& visit);

  /// Bytes written to the file.
  uint64_t spilled_bytes() const { return file_.bytes(); }
  uint64_t visits() const { return visits_; }

 private:
  static constexpr int kBits = 12;  // of the hash
  static constexpr size_t kBuckets = size_t{1} << kBits;
  struct Piece {
    uint64_t at, bytes;  // in the file
  };
  struct Bucket {
    std::vector<Piece> pieces;  // the first part of the bucket
    std::string buffer;
  };
  Status Flush();
  Status Take(Bucket& bucket, std::string& records);

  const Options options_;
  std::vector<Bucket> buckets_;
  ScratchFile file_;
  uint64_t buffered_bytes_ = 0;
  uint64_t visits_ = 0;
};

/// A sample from an unknown number of users: those with the smallest hashes. Source: Beyer, Haas, Reinwald,
/// Sismanis and Gemulla, "On Synopses for Distinct-Value Estimation", 2007 (KMV).
/// One thread. Memory: some 40 bytes per user of the sample.
class UserSample {
 public:
  /// `count` 0: all users. For the same topic, the same seed chooses the same users.
  UserSample(uint64_t count, uint64_t seed) : count_(count), seed_(seed) {}

  /// Whether the user is in the sample so far. A user who isn't in it never comes in later.
  bool Offer(std::string_view user_id) {
    if (count_ == 0) return true;
    const uint64_t hash = HashOf(user_id);
    if (smallest_.size() == count_ && hash >= *smallest_.rbegin()) return hash == *smallest_.rbegin();
    if (smallest_.insert(hash).second && smallest_.size() > count_)
      smallest_.erase(std::prev(smallest_.end()));
    return true;
  }
  /// Whether the user is in the sample. Call it once all users were offered.
  bool Holds(std::string_view user_id) const {
    return count_ == 0 || (!smallest_.empty() && HashOf(user_id) <= *smallest_.rbegin());
  }

 private:
  // Uses other bits than the choice of the bucket.
  uint64_t HashOf(std::string_view user_id) const { return Random(UserKeyOf(user_id).low ^ seed_).Next(); }

  const uint64_t count_;
  const uint64_t seed_;
  std::set<uint64_t> smallest_;
};

}  // namespace seen
