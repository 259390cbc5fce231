#include "tools/check/user_buckets.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <stdlib.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>

#include "base/byte_codec.h"
#include "base/durable_file.h"
#include "tools/progress.h"

namespace seen {

ScratchFile::~ScratchFile() {
  if (file_ >= 0) ::close(file_);
}

Error ScratchFile::Failed(const char* step, int code) const {
  if (IsNoSpace(code)) {
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

enum class RecordType : uint8_t { kEvent, kSnapshot, kTombstone };

void PutLongText(std::string_view text, std::string& out) { PutText<uint32_t>(text, out); }
std::string_view GetLongText(FieldReader& fields) { return fields.GetTextView<uint32_t>(); }

void BeginRecord(RecordType type, std::string_view user_id, std::string& out) {
  out.push_back(static_cast<char>(type));
  PutLongText(user_id, out);
}

void ReadEvent(FieldReader& fields, JudgedEvent& event, std::vector<JudgedItem>& items) {
  event.kind = fields.Get<EventKind>();
  event.second = fields.Get<uint32_t>();
  event.source = fields.Get<int16_t>();
  const auto count = fields.Get<uint32_t>();
  items.clear();
  for (uint32_t i = 0; i < count && fields.ok(); ++i) {
    JudgedItem item;
    item.created = {fields.Get<int32_t>()};
    item.filters = fields.Get<RuleBits>();
    item.id = GetLongText(fields);
    items.push_back(item);
  }
  event.items = items;
}

}  // namespace

void AppendBucketRecord(const JudgedEvent& event, std::string& out) {
  BeginRecord(RecordType::kEvent, event.user_id, out);
  out.push_back(static_cast<char>(event.kind));
  PutLittleEndian(event.second, out);
  PutLittleEndian(event.source, out);
  PutLittleEndian(static_cast<uint32_t>(event.items.size()), out);
  for (const JudgedItem& item : event.items) {
    PutLittleEndian(item.created.since_epoch, out);
    PutLittleEndian(item.filters, out);
    PutLongText(item.id, out);
  }
}

void AppendBucketRecord(const SnapshotRecord& snapshot, std::string& out) {
  BeginRecord(snapshot.bytes ? RecordType::kSnapshot : RecordType::kTombstone, snapshot.user_id, out);
  PutLittleEndian(snapshot.filter, out);
  if (snapshot.bytes) PutLongText(*snapshot.bytes, out);
}

Status ReadBucketRecords(std::string_view bytes, const std::function<void(const JudgedEvent&)>& on_event,
                         const std::function<void(const SnapshotRecord&)>& on_snapshot) {
  const auto corrupt = [] {
    return Fail(Code::kCorrupt, "verify: a scratch file doesn't hold what verify wrote");
  };
  std::vector<JudgedItem> items;
  FieldReader fields(bytes);
  while (!fields.Complete()) {
    const auto type = fields.Get<RecordType>();
    const std::string_view user_id = GetLongText(fields);
    if (type == RecordType::kEvent) {
      JudgedEvent event;
      event.user_id = user_id;
      ReadEvent(fields, event, items);
      if (!fields.ok()) return corrupt();
      on_event(event);
    } else if (type == RecordType::kSnapshot || type == RecordType::kTombstone) {
      SnapshotRecord snapshot{.user_id = user_id, .filter = fields.Get<uint8_t>(), .bytes = {}};
      if (type == RecordType::kSnapshot) snapshot.bytes = GetLongText(fields);
      if (!fields.ok()) return corrupt();
      on_snapshot(snapshot);
    } else {
      return corrupt();
    }
  }
  return {};
}

Status UserBuckets::Flush() {
  for (Bucket& bucket : buckets_) {
    if (bucket.buffer.empty()) continue;
    bucket.pieces.push_back({file_.bytes(), bucket.buffer.size()});
    if (Status written = file_.Append(bucket.buffer); !written) return written;
    bucket.buffer = std::string();
  }
  buffered_bytes_ = 0;
  return {};
}

Status UserBuckets::Take(Bucket& bucket, std::string& records) {
  for (const Piece& piece : bucket.pieces) {
    if (Status read = file_.Read(piece.at, piece.bytes, records); !read) return read;
  }
  records.append(bucket.buffer);
  bucket = {};
  return {};
}

Status UserBuckets::ForEach(const Visit& visit) {
  // Flushes first: otherwise the buffers would stay in memory beside what `visit` makes of a bucket.
  if (file_.bytes() > 0) {
    if (Status flushed = Flush(); !flushed) return flushed;
  }
  std::string records;
  const auto visit_records = [&]() -> Status {
    if (records.empty()) return {};
    ++visits_;
    Status visited = visit(records);
    records.clear();
    return visited;
  };
  for (Bucket& bucket : buckets_) {
    uint64_t bytes = bucket.buffer.size();
    for (const Piece& piece : bucket.pieces) bytes += piece.bytes;
    if (bytes > options_.memory_bytes / 4) {
      return Fail(Code::kRefused, fmt::format("--memory-mib: some users have {} of events. Remedy: give at "
                                              "least {}, or check a part of the users by --sample",
                                              WithByteUnit(bytes), (bytes * 4 >> 20) + 1));
    }
    if (records.size() + bytes > options_.memory_bytes / 16) {
      if (Status visited = visit_records(); !visited) return visited;
    }
    if (Status taken = Take(bucket, records); !taken) return taken;
  }
  return visit_records();
}

}  // namespace seen
