#include "bulk_load/sorted_runs.h"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <optional>

#include "base/durable_file.h"
#include "model/delta_fold.h"
#include "rows/keys.h"
#include "rows/row_block.h"

namespace seen {
namespace {

// A limit because each open file has a block in memory.
constexpr size_t kFilesMax = 64;

Error FileError(const std::string& path, const char* step) {
  return {IsNoSpace(errno) ? Code::kNoSpace : Code::kUnavailable,
          fmt::format("{}: {}: {}", path, step, std::strerror(errno))};
}

struct FileCloser {
  void operator()(std::FILE* file) const { std::fclose(file); }
};
using File = std::unique_ptr<std::FILE, FileCloser>;

}  // namespace

/// Reads one file's rows. The file begins with its ranges, so Open reads all ranges.
class SortedRuns::Reader {
 public:
  Status Open(const std::string& path) {
    path_ = path;
    file_.reset(std::fopen(path.c_str(), "rbe"));
    if (!file_) return Fail(FileError(path, "open"));
    return LoadBlock();
  }
  /// False at the end.
  bool HasRow() const { return at_ < block_.rows(); }
  Row row() const { return block_.GetRow(at_); }
  Status Next() {
    if (++at_ < block_.rows()) return {};
    return LoadBlock();
  }
  const RowBatch& ranges() const { return ranges_; }

 private:
  Status LoadBlock() {
    block_ = RowBatch();
    at_ = 0;
    while (block_.rows() == 0) {
      uint64_t bytes = 0;
      if (std::fread(&bytes, sizeof(bytes), 1, file_.get()) != 1) {
        if (std::ferror(file_.get()) != 0) return Fail(FileError(path_, "read"));
        return {};
      }
      if (bytes > kBlockBytesMax) return Fail(Code::kCorrupt, path_ + ": not a run of sorted rows");
      encoded_.resize(bytes);
      if (std::fread(encoded_.data(), 1, bytes, file_.get()) != bytes) return Fail(FileError(path_, "read"));
      if (Status read = ReadRowBlock(encoded_, block_); !read) return read;
      for (size_t i = 0; i < block_.ranges(); ++i) ranges_.Add(block_.GetRange(i));
    }
    return {};
  }

  std::string path_;
  File file_;
  std::string encoded_;
  RowBatch block_;
  RowBatch ranges_;
  size_t at_ = 0;
};

SortedRuns::SortedRuns(std::string folder, std::string name, StoredLimits limits)
    : folder_(std::move(folder)), name_(std::move(name)), limits_(std::move(limits)) {}

SortedRuns::~SortedRuns() {
  std::error_code ignored;
  for (const std::string& file : files_) std::filesystem::remove(file, ignored);
}

Status SortedRuns::WriteRun(const std::function<Status(const RowFold::Visit&)>& rows) {
  const std::string path = fmt::format("{}/{}-{}", folder_, name_, files_made_++);
  const File file(std::fopen(path.c_str(), "wbe"));
  if (!file) return Fail(FileError(path, "open"));
  files_.push_back(path);
  RowBlockWriter block;
  std::string encoded;
  const auto end_block = [&]() -> Status {
    encoded.clear();
    block.Finish(encoded);
    const uint64_t bytes = encoded.size();
    stored_bytes_ += bytes;
    if (std::fwrite(&bytes, sizeof(bytes), 1, file.get()) != 1 ||
        std::fwrite(encoded.data(), 1, encoded.size(), file.get()) != encoded.size())
      return Fail(FileError(path, "write"));
    return {};
  };
  Status written = rows([&](const Row& row) {
    block.Add(row);
    return block.IsFull() ? end_block() : Status();
  });
  if (written && !block.empty()) written = end_block();
  if (written && std::fflush(file.get()) != 0) written = Fail(FileError(path, "write"));
  return written;
}

Status SortedRuns::Spill() {
  if (fold_.empty()) return {};
  if (files_.size() >= kFilesMax) {
    if (Status merged = MergeFiles(); !merged) return merged;
  }
  Status written = WriteRun([&](const RowFold::Visit& visit) {
    return fold_.ForEach([&](FilterId filter) { return LimitsOf(filter); }, visit);
  });
  fold_.Clear();
  return written;
}

// Merges all files into one, so that there are never more files than can be open at once.
Status SortedRuns::MergeFiles() {
  const std::vector<std::string> merged = files_;
  if (Status written = WriteRun([&](const RowFold::Visit& visit) { return Merge(merged, visit); }); !written)
    return written;
  std::error_code ignored;
  for (const std::string& file : merged) std::filesystem::remove(file, ignored);
  files_.erase(files_.begin(), files_.end() - 1);
  return {};
}

// Merges `files` into one row per key, composed. Nothing expires here. A file's ranges delete rows of earlier
// files only, and no rows stand before the first file. So the result needs no ranges.
Status SortedRuns::Merge(const std::vector<std::string>& files, const RowFold::Visit& visit) const {
  std::vector<std::unique_ptr<Reader>> readers;
  std::vector<size_t> heap;  // readers that have rows: smallest key first, earliest file first for equal keys
  const auto comes_later = [&](size_t a, size_t b) {
    const int order = readers[a]->row().key.compare(readers[b]->row().key);
    return order > 0 || (order == 0 && a > b);
  };
  for (const std::string& file : files) {
    auto reader = std::make_unique<Reader>();
    if (Status opened = reader->Open(file); !opened) return opened;
    if (reader->HasRow()) heap.push_back(readers.size());
    readers.push_back(std::move(reader));
  }
  std::make_heap(heap.begin(), heap.end(), comes_later);
  std::string key, composed;
  std::vector<std::string> values;
  std::vector<std::string_view> parts;
  while (!heap.empty()) {
    key = readers[heap.front()]->row().key;
    size_t used = 0;
    bool stands = false;
    while (!heap.empty() && readers[heap.front()]->row().key == key) {
      std::pop_heap(heap.begin(), heap.end(), comes_later);
      const size_t at = heap.back();
      const Row row = readers[at]->row();
      const bool deleted = std::any_of(readers.begin() + static_cast<long>(at) + 1, readers.end(),
                                       [&](const auto& later) { return later->ranges().Deletes(key); });
      if (!deleted) {
        if (row.op != RowOp::kMerge) used = 0;
        stands = row.op != RowOp::kDelete;
        if (row.op != RowOp::kDelete) {
          if (values.size() == used) values.emplace_back();
          values[used++] = row.value;
        }
      }
      if (Status next = readers[at]->Next(); !next) return next;
      if (readers[at]->HasRow()) {
        std::push_heap(heap.begin(), heap.end(), comes_later);
      } else {
        heap.pop_back();
      }
    }
    if (!stands) continue;
    if (used == 1) {
      if (Status visited = visit({RowOp::kPut, key, values[0]}); !visited) return visited;
      continue;
    }
    const auto user = UserOf(Table::kDeltas, key);
    const DeltaLimits* const limits = user ? limits_.Of(user->filter) : nullptr;
    parts.assign(values.begin(), values.begin() + static_cast<long>(used));
    if (limits == nullptr || !FoldEncoded(parts, *limits, Horizon(), composed))
      return Fail(Code::kCorrupt, "sorted rows: the values to compose aren't a user's deltas");
    if (Status visited = visit({RowOp::kPut, key, composed}); !visited) return visited;
  }
  return {};
}

Status SortedRuns::ForEach(const HorizonOf& horizon_of, const RowFold::Visit& visit) {
  if (Status spilled = Spill(); !spilled) return spilled;
  std::optional<FilterId> filter;
  Horizon horizon;
  std::string left;
  return Merge(files_, [&](const Row& row) -> Status {
    const auto user = UserOf(Table::kDeltas, row.key);
    if (!user) return visit(row);
    if (filter != user->filter) {
      filter = user->filter;
      horizon = horizon_of(user->filter);
    }
    const Expired expired = ExpireEncoded(row.value, horizon, left);
    if (expired == Expired::kEverything) return {};
    return visit(expired == Expired::kSomething ? Row{RowOp::kPut, row.key, left} : row);
  });
}

}  // namespace seen
