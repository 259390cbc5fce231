#include "unit/filter/golden_bytes.h"

#include <bit>
#include <cmath>

#include "unit/filter/reference_bloom.h"

namespace seen::golden {

std::string Sealed(std::string bytes) {
  const uint32_t checksum = reference::Checksum(bytes);
  return Changed(std::move(bytes), 52, checksum);
}

std::string Enveloped(const SnapshotMeta& meta, std::string_view payload, std::string_view more_header) {
  std::string bytes = Fields()
                          .Add("SEEN")
                          .U8(1)
                          .U8(static_cast<uint8_t>(meta.format))
                          .U8(1)
                          .U8(0)
                          .U32(56 + more_header.size())
                          .U32(meta.item_count)
                          .U64(static_cast<uint64_t>(meta.as_of.value))
                          .U32(static_cast<uint32_t>(meta.horizon.since_epoch))
                          .U32(static_cast<uint32_t>(meta.partition))
                          .U64(static_cast<uint64_t>(meta.input_offset))
                          .U64(std::bit_cast<uint64_t>(meta.false_positive_rate))
                          .U32(payload.size())
                          .U32(0);
  bytes += more_header;
  bytes += payload;
  return Sealed(std::move(bytes));
}

std::string Enveloped(const SnapshotMeta& meta, std::string_view payload, const SecondFilter& similar,
                      uint8_t reserved) {
  const std::string fields = Fields()
                                 .U32(similar.payload.size())
                                 .U8(static_cast<uint8_t>(similar.format))
                                 .Add(std::string(3, static_cast<char>(reserved)))
                                 .U32(similar.count)
                                 .Add(std::string(4, static_cast<char>(reserved)));
  std::string both(payload);
  both += similar.payload;
  return Patched(Enveloped(meta, both, fields), 7, uint8_t{1});
}

SnapshotMeta UsualMeta(SnapshotFormat format, size_t item_count) {
  return {format, static_cast<uint32_t>(item_count), {1763700000123}, {20383}, 3, 123456789, 0.01};
}

std::string Quoted(std::string_view text) {
  std::string quoted = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') quoted += '\\';
    if (static_cast<unsigned char>(c) < 0x20) {
      constexpr std::string_view kHex = "0123456789abcdef";
      quoted += "\\u00";
      quoted += kHex[static_cast<size_t>(c) >> 4];
      quoted += kHex[static_cast<size_t>(c) & 15];
    } else {
      quoted += c;
    }
  }
  return quoted + '"';
}

std::string List(const std::vector<std::string>& ids) {
  std::string list = "[";
  for (const std::string& id : ids) list += (list.size() > 1 ? "," : "") + Quoted(id);
  return list + "]";
}

uint64_t RecallSize(const SnapshotMeta& meta, int64_t want, uint64_t also_seen) {
  if (want <= 0) return 0;
  const double p = meta.false_positive_rate, n = static_cast<double>(want);
  return meta.item_count + also_seen + static_cast<uint64_t>(std::ceil((n + 3 * std::sqrt(n * p)) / (1 - p)));
}

}  // namespace seen::golden
