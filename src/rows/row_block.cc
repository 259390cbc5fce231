#include "rows/row_block.h"

#include <zstd.h>

#include <algorithm>
#include <cstdint>

#include "model/delta_view.h"
#include "model/hashes.h"
#include "rows/keys.h"

namespace seen {
namespace {

// Level 1 takes a third of level 3's time. Most of the input is hashes, which no level makes smaller.
constexpr int kCompressionLevel = 1;

// A row's first byte holds the RowOp and these bits.
constexpr uint8_t kOpBits = 3;
constexpr uint8_t kNamesUser = 4;  // the key's last 16 bytes are the hash of the user id in the value
constexpr uint8_t kSameTable = 8;  // with kNamesUser: the key has the table and filter of the previous key

constexpr size_t kTableBytes = kUserKeyBytes - 16;  // table and filter

void PutBytes(std::string_view bytes, std::string& out) {
  delta_bytes::PutVarint(bytes.size(), out);
  out.append(bytes);
}

// The id of the user that the row's value names. Empty: none.
std::string_view UserIdIn(std::string_view key, std::string_view value) {
  if (key.size() != kUserKeyBytes) return {};
  switch (static_cast<Table>(key[0])) {
    case Table::kDeltas:
      return UserIdOfDelta(value);
    case Table::kMarks:
      return value;
    default:
      return {};
  }
}

class BlockReader {
 public:
  explicit BlockReader(std::string_view raw) : left_(raw) {}
  bool AtEnd() const { return left_.empty(); }
  // False: the bytes here aren't a row.
  bool Read(Row& row);

 private:
  bool ReadVarint(uint64_t& value) {
    value = 0;
    for (uint32_t shift = 0; shift < 63 && !left_.empty(); shift += 7) {
      const auto byte = static_cast<uint8_t>(left_.front());
      left_.remove_prefix(1);
      value |= uint64_t{byte & 0x7fu} << shift;
      if ((byte & 0x80) == 0) return true;
    }
    return false;
  }
  bool ReadExactly(uint64_t count, std::string_view& bytes) {
    if (count > left_.size()) return false;
    bytes = left_.substr(0, count);
    left_.remove_prefix(count);
    return true;
  }
  bool ReadBytes(std::string_view& bytes) {
    uint64_t count = 0;
    return ReadVarint(count) && ReadExactly(count, bytes);
  }

  std::string_view left_;
  std::string key_;
};

bool BlockReader::Read(Row& row) {
  std::string_view head;
  if (!ReadExactly(1, head)) return false;
  const auto flags = static_cast<uint8_t>(head[0]);
  if ((flags & ~(kOpBits | kNamesUser | kSameTable)) != 0) return false;
  row.op = static_cast<RowOp>(flags & kOpBits);
  row.value = {};
  if ((flags & kNamesUser) != 0) {
    std::string_view table = std::string_view(key_).substr(0, kTableBytes);
    if ((flags & kSameTable) == 0 && !ReadExactly(kTableBytes, table)) return false;
    if (table.size() != kTableBytes || !ReadBytes(row.value)) return false;
    key_ = table;
    key_.resize(kUserKeyBytes);
    const std::string_view user_id = UserIdIn(key_, row.value);
    if (user_id.empty()) return false;
    const auto user = ToBytes(UserKeyOf(user_id));
    std::copy(user.begin(), user.end(), key_.begin() + kTableBytes);
  } else {
    uint64_t shared = 0;
    std::string_view rest;
    if (!ReadVarint(shared) || shared > key_.size() || !ReadBytes(rest)) return false;
    key_.resize(shared);
    key_.append(rest);
    if (row.op != RowOp::kDelete && !ReadBytes(row.value)) return false;
  }
  row.key = key_;
  return true;
}

}  // namespace

struct RowBlockWriter::Compressor {
  std::unique_ptr<ZSTD_CCtx, decltype(&ZSTD_freeCCtx)> context{ZSTD_createCCtx(), &ZSTD_freeCCtx};
};

RowBlockWriter::RowBlockWriter() : compressor_(std::make_unique<Compressor>()) {
  ZSTD_CCtx_setParameter(compressor_->context.get(), ZSTD_c_compressionLevel, kCompressionLevel);
  ZSTD_CCtx_setParameter(compressor_->context.get(), ZSTD_c_checksumFlag, 1);
}
RowBlockWriter::~RowBlockWriter() = default;

void RowBlockWriter::Add(const Row& row) {
  auto head = static_cast<uint8_t>(row.op);
  const std::string_view user_id = row.op == RowOp::kDeleteRange ? "" : UserIdIn(row.key, row.value);
  bool names_user = !user_id.empty();
  if (names_user) {
    const auto user = ToBytes(UserKeyOf(user_id));
    names_user = std::equal(user.begin(), user.end(), row.key.begin() + kTableBytes);
  }
  if (names_user) {
    const std::string_view table = row.key.substr(0, kTableBytes);
    const bool same = std::string_view(last_key_).substr(0, kTableBytes) == table;
    raw_.push_back(static_cast<char>(head | kNamesUser | (same ? kSameTable : 0)));
    if (!same) raw_.append(table);
    PutBytes(row.value, raw_);
  } else {
    raw_.push_back(static_cast<char>(head));
    const auto differ = std::mismatch(last_key_.begin(), last_key_.end(), row.key.begin(), row.key.end());
    const auto shared = static_cast<size_t>(differ.first - last_key_.begin());
    delta_bytes::PutVarint(shared, raw_);
    PutBytes(row.key.substr(shared), raw_);
    if (row.op != RowOp::kDelete) PutBytes(row.value, raw_);
  }
  last_key_ = row.key;
}

void RowBlockWriter::Finish(std::string& out) {
  const size_t at = out.size();
  out.resize(at + ZSTD_compressBound(raw_.size()));
  const size_t bytes =
      ZSTD_compress2(compressor_->context.get(), out.data() + at, out.size() - at, raw_.data(), raw_.size());
  Check(ZSTD_isError(bytes) == 0, "a bound of compressed bytes holds");
  out.resize(at + bytes);
  raw_.clear();
  last_key_.clear();
}

Status ReadRowBlock(std::string_view block, RowBatch& rows) {
  const unsigned long long size = ZSTD_getFrameContentSize(block.data(), block.size());
  if (size == ZSTD_CONTENTSIZE_UNKNOWN || size == ZSTD_CONTENTSIZE_ERROR || size > kBlockBytesMax)
    return Fail(Code::kCorrupt, "block: the bytes aren't one zstd frame that states its length");
  std::string raw(static_cast<size_t>(size), '\0');
  const size_t bytes = ZSTD_decompress(raw.data(), raw.size(), block.data(), block.size());
  if (ZSTD_isError(bytes) != 0 || bytes != raw.size())
    return Fail(Code::kCorrupt, std::string("block: zstd: ") + ZSTD_getErrorName(bytes));
  BlockReader reader(raw);
  for (Row row; !reader.AtEnd();) {
    if (!reader.Read(row)) return Fail(Code::kCorrupt, "block: its rows can't be read");
    rows.Add(row);
  }
  return {};
}

}  // namespace seen
