#include "unit/filter/golden_json.h"

#include <cmath>

namespace seen::golden {

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
