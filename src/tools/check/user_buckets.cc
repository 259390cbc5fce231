#include "tools/check/user_buckets.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/result.h"
#include "tools/progress.h"

namespace seen {
namespace {

constexpr uint64_t kReadBytes = 4 << 20;

}  // namespace

UserBuckets::UserBuckets(const Options& options) : options_(options), buckets_(MakeBuckets()) {}

UserBuckets::Buckets UserBuckets::MakeBuckets() const {
  Buckets buckets;
  buckets.reserve(kBuckets);
  for (size_t i = 0; i < kBuckets; ++i) buckets.emplace_back(options_.scratch);
  return buckets;
}

Status UserBuckets::Keep(Buckets& buckets, int level, std::string_view record) {
  const auto head = ReadBucketRecordHead(record);
  Check(head.has_value(), "a whole record");
  const uint64_t number = head->route >> (64 - kBits * (level + 1)) & (kBuckets - 1);
  buckets[number].buffer.append(record);
  buffered_bytes_ += record.size();
  // A growing string may hold twice its size, and for a moment three times its size.
  return buffered_bytes_ > options_.memory_bytes / 8 ? Flush(buckets) : Status();
}

Status UserBuckets::Flush(Buckets& buckets) {
  for (Bucket& bucket : buckets) {
    if (bucket.buffer.empty()) continue;
    if (Status written = bucket.file.Append(bucket.buffer); !written) return written;
    buffered_bytes_ -= bucket.buffer.size();
    spilled_bytes_ += bucket.buffer.size();
    bucket.buffer = std::string();
  }
  return {};
}

Status UserBuckets::ForEach(const Visit& visit) {
  // Flushes first: otherwise the buffers would stay in memory beside what `visit` makes of a bucket.
  if (spilled_bytes_ > 0) {
    if (Status flushed = Flush(buckets_); !flushed) return flushed;
  }
  return VisitAll(buckets_, 0, visit);
}

Status UserBuckets::VisitAll(Buckets& buckets, int level, const Visit& visit) {
  for (Bucket& taken : buckets) {
    Bucket bucket = std::move(taken);
    if (bucket.bytes() == 0) continue;
    if (bucket.bytes() > options_.memory_bytes / 16 && level + 1 < kLevelsMax) {
      Buckets parts = MakeBuckets();
      if (Status parted = Part(bucket, level + 1, parts); !parted) return parted;
      if (Status visited = VisitAll(parts, level + 1, visit); !visited) return visited;
      continue;
    }
    if (bucket.bytes() > options_.memory_bytes / 4) {
      return Fail(Code::kRefused,
                  fmt::format("--memory-mib: one user has {} of events. Remedy: give at least {}",
                              WithByteUnit(bucket.bytes()), (bucket.bytes() * 4 >> 20) + 1));
    }
    std::string records;
    records.reserve(bucket.bytes());
    if (bucket.file.bytes() > 0) {
      if (Status read = bucket.file.Read(0, bucket.file.bytes(), records); !read) return read;
    }
    records.append(bucket.buffer);
    buffered_bytes_ -= bucket.buffer.size();
    bucket.buffer = std::string();
    ++visited_;
    if (Status visited = visit(records); !visited) return visited;
  }
  return {};
}

// Splits a bucket by more bits of the hash.
Status UserBuckets::Part(Bucket& bucket, int level, Buckets& parts) {
  std::string ahead;
  const auto hand_on = [&]() -> Status {
    std::string_view rest = ahead;
    while (const auto head = ReadBucketRecordHead(rest)) {
      if (Status kept = Keep(parts, level, rest.substr(0, head->bytes)); !kept) return kept;
      rest.remove_prefix(head->bytes);
    }
    ahead.erase(0, ahead.size() - rest.size());
    return {};
  };
  for (uint64_t at = 0; at < bucket.file.bytes();) {
    const uint64_t count = std::min(kReadBytes, bucket.file.bytes() - at);
    if (Status read = bucket.file.Read(at, count, ahead); !read) return read;
    at += count;
    if (Status handed = hand_on(); !handed) return handed;
  }
  ahead.append(bucket.buffer);
  buffered_bytes_ -= bucket.buffer.size();
  bucket.buffer = std::string();
  if (Status handed = hand_on(); !handed) return handed;
  if (!ahead.empty()) return Fail(Code::kCorrupt, "verify: a scratch file ends within a record");
  return Flush(parts);
}

}  // namespace seen
