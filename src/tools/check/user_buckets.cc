#include "tools/check/user_buckets.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <stdlib.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <vector>

#include "base/result.h"
#include "model/hashes.h"
#include "tools/progress.h"

namespace seen {

ScratchFile::~ScratchFile() {
  if (file_ >= 0) ::close(file_);
}

Error ScratchFile::Failed(const char* step, int code) const {
  if (code == ENOSPC || code == EDQUOT) {
    return {Code::kNoSpace,
            fmt::format("--scratch: {}: the disk is full. Remedy: name a directory with more room, check a "
                        "part of the users by --sample, or keep more in memory by --memory-mib",
                        folder_)};
  }
  return {Code::kUnavailable, fmt::format("--scratch: {}: {}: {}", folder_, step, std::strerror(code))};
}

Status ScratchFile::Make() {
  std::error_code error;
  if (folder_.empty()) folder_ = std::filesystem::temp_directory_path(error).string();
  if (error) return Fail(Code::kUnavailable, "--scratch: " + error.message());
  std::string path = (std::filesystem::path(folder_) / "seenctl-verify-XXXXXX").string();
  file_ = ::mkostemp(path.data(), O_CLOEXEC);
  if (file_ < 0) return Fail(Failed("can't make a file", errno));
  ::unlink(path.c_str());
  return {};
}

Status ScratchFile::Append(std::string_view bytes) {
  if (file_ < 0) {
    if (Status made = Make(); !made) return made;
  }
  while (!bytes.empty()) {
    const ssize_t written = ::pwrite(file_, bytes.data(), bytes.size(), static_cast<off_t>(bytes_));
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return Fail(Failed("write", errno));
    bytes_ += static_cast<uint64_t>(written);
    bytes.remove_prefix(static_cast<size_t>(written));
  }
  return {};
}

Status ScratchFile::Read(uint64_t from, uint64_t count, std::string& out) const {
  const size_t before = out.size();
  out.resize(before + count);
  for (uint64_t done = 0; done < count;) {
    const ssize_t read =
        ::pread(file_, out.data() + before + done, count - done, static_cast<off_t>(from + done));
    if (read < 0 && errno == EINTR) continue;
    if (read <= 0) return Fail(Failed("read", read < 0 ? errno : EIO));
    done += static_cast<uint64_t>(read);
  }
  return {};
}

namespace {

constexpr size_t kHeadBytes = sizeof(uint32_t) + sizeof(uint64_t);
enum class RecordType : uint8_t { kEvent, kSnapshot, kTombstone };

template <typename T>
void PutValue(T value, std::string& out) {
  char bytes[sizeof(T)];
  std::memcpy(bytes, &value, sizeof(T));
  out.append(bytes, sizeof(T));
}

void PutText(std::string_view text, std::string& out) {
  PutValue(static_cast<uint32_t>(text.size()), out);
  out.append(text);
}

/// Takes values from the front. If too few bytes are left, the value is empty and failed() becomes true.
class ValueReader {
 public:
  explicit ValueReader(std::string_view bytes) : bytes_(bytes) {}
  template <typename T>
  T Read() {
    T value{};
    if (bytes_.size() < sizeof(T)) {
      failed_ = true;
      return value;
    }
    std::memcpy(&value, bytes_.data(), sizeof(T));
    bytes_.remove_prefix(sizeof(T));
    return value;
  }
  std::string_view ReadText() {
    const auto size = Read<uint32_t>();
    if (failed_ || bytes_.size() < size) {
      failed_ = true;
      return {};
    }
    const std::string_view text = bytes_.substr(0, size);
    bytes_.remove_prefix(size);
    return text;
  }
  bool failed() const { return failed_; }
  bool whole() const { return !failed_ && bytes_.empty(); }

 private:
  std::string_view bytes_;
  bool failed_ = false;
};

// Begins a record. The result must go to EndRecord.
size_t BeginRecord(RecordType type, std::string_view user_id, std::string& out) {
  const size_t at = out.size();
  PutValue(uint32_t{0}, out);
  PutValue(UserKeyOf(user_id).high, out);
  PutValue(type, out);
  PutText(user_id, out);
  return at;
}

void EndRecord(size_t at, std::string& out) {
  const auto size = static_cast<uint32_t>(out.size() - at);
  std::memcpy(out.data() + at, &size, sizeof(size));
}

bool ReadEvent(ValueReader& reader, JudgedEvent& event, std::vector<JudgedItem>& items) {
  event.kind = reader.Read<EventKind>();
  event.second = reader.Read<uint32_t>();
  event.source = reader.Read<int16_t>();
  const auto count = reader.Read<uint32_t>();
  items.clear();
  for (uint32_t i = 0; i < count && !reader.failed(); ++i) {
    JudgedItem item;
    item.created = reader.Read<Day>();
    item.filters = reader.Read<RuleBits>();
    item.id = reader.ReadText();
    items.push_back(item);
  }
  event.items = items;
  return reader.whole();
}

}  // namespace

void AppendBucketRecord(const JudgedEvent& event, std::string& out) {
  const size_t at = BeginRecord(RecordType::kEvent, event.user_id, out);
  PutValue(event.kind, out);
  PutValue(event.second, out);
  PutValue(event.source, out);
  PutValue(static_cast<uint32_t>(event.items.size()), out);
  for (const JudgedItem& item : event.items) {
    PutValue(item.created, out);
    PutValue(item.filters, out);
    PutText(item.id, out);
  }
  EndRecord(at, out);
}

void AppendBucketRecord(const SnapshotRecord& snapshot, std::string& out) {
  const size_t at =
      BeginRecord(snapshot.bytes ? RecordType::kSnapshot : RecordType::kTombstone, snapshot.user_id, out);
  PutValue(snapshot.filter, out);
  if (snapshot.bytes) PutText(*snapshot.bytes, out);
  EndRecord(at, out);
}

std::optional<BucketRecordHead> ReadBucketRecordHead(std::string_view bytes) {
  ValueReader reader(bytes);
  BucketRecordHead head;
  head.bytes = reader.Read<uint32_t>();
  head.route = reader.Read<uint64_t>();
  if (reader.failed() || head.bytes < kHeadBytes || head.bytes > bytes.size()) return std::nullopt;
  return head;
}

Status ReadBucketRecords(std::string_view bytes, const std::function<void(const JudgedEvent&)>& on_event,
                         const std::function<void(const SnapshotRecord&)>& on_snapshot) {
  const auto corrupt = [] {
    return Fail(Code::kCorrupt, "verify: a scratch file doesn't hold what verify wrote");
  };
  std::vector<JudgedItem> items;
  while (!bytes.empty()) {
    const auto head = ReadBucketRecordHead(bytes);
    if (!head) return corrupt();
    ValueReader reader(bytes.substr(kHeadBytes, head->bytes - kHeadBytes));
    bytes.remove_prefix(head->bytes);
    const auto type = reader.Read<RecordType>();
    const std::string_view user_id = reader.ReadText();
    if (type == RecordType::kEvent) {
      JudgedEvent event;
      event.user_id = user_id;
      if (!ReadEvent(reader, event, items)) return corrupt();
      on_event(event);
    } else if (type == RecordType::kSnapshot || type == RecordType::kTombstone) {
      SnapshotRecord snapshot{.user_id = user_id, .filter = reader.Read<uint8_t>(), .bytes = {}};
      if (type == RecordType::kSnapshot) snapshot.bytes = reader.ReadText();
      if (!reader.whole()) return corrupt();
      on_snapshot(snapshot);
    } else {
      return corrupt();
    }
  }
  return {};
}

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
