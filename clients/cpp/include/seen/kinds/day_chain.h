#pragma once
// Kind 10: a split-block Bloom filter for each day, so that the reader can leave days out.

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>

#include "seen/hash.h"
#include "seen/internal/bytes.h"
#include "seen/internal/payload.h"
#include "seen/kinds/split_block_bloom.h"
#include "seen/result.h"
#include "seen/time.h"

namespace seen::client {

/// A view. The bytes must outlive it. Any thread.
class DayChain {
 public:
  static Parsed<DayChain> Parse(std::string_view payload) {
    constexpr std::string_view kKind = "day_chain";
    if (payload.size() < kFieldsBytes) return internal::TooShort(kKind, payload.size(), kFieldsBytes);
    const std::uint64_t days = internal::LoadU32(payload.data());
    const std::uint64_t blocks_at = kFieldsBytes + kRowBytes * days;
    if (payload.size() < blocks_at) return internal::WrongLength(kKind, payload.size(), blocks_at);
    DayChain chain;
    chain.rows_ = payload.substr(kFieldsBytes, static_cast<std::size_t>(kRowBytes * days));
    chain.blocks_ = payload.data() + static_cast<std::size_t>(blocks_at);
    std::uint64_t bytes = blocks_at;
    std::int32_t before = 0;
    for (std::size_t at = 0; at < chain.rows_.size(); at += kRowBytes) {
      const Row row = chain.RowAt(at);
      if (row.blocks == 0) return internal::OutOfRange(kKind, "blocks", row.blocks, "at least 1");
      if (at > 0 && row.day > before) {
        return internal::BadPayload(kKind, "day " + std::to_string(row.day) + " stands after day " +
                                               std::to_string(before) + ", days must descend");
      }
      before = row.day;
      bytes += std::uint64_t{row.blocks} * SplitBlockBloom::kBlockBytes;
    }
    if (payload.size() != bytes) return internal::WrongLength(kKind, payload.size(), bytes);
    return chain;
  }

  bool MightContain(Fingerprint fingerprint, std::uint64_t hash, const DayLimits& limits = {}) const {
    return AnyDay(limits, [&](const SplitBlockBloom& day) { return day.MightContain(fingerprint, hash); });
  }

  void MightContainEach(const Fingerprint* fingerprints, std::size_t count, std::uint8_t* answers,
                        const DayLimits& limits = {}) const {
    std::fill_n(answers, count, std::uint8_t{0});
    AnyDay(limits, [&](const SplitBlockBloom& day) {
      std::uint8_t of_day[256];
      for (std::size_t from = 0; from < count; from += sizeof(of_day)) {
        const std::size_t here = std::min(sizeof(of_day), count - from);
        day.MightContainEach(fingerprints + from, here, of_day);
        for (std::size_t i = 0; i < here; ++i)
          answers[from + i] = static_cast<std::uint8_t>(answers[from + i] | of_day[i]);
      }
      return false;
    });
  }

 private:
  static constexpr std::size_t kFieldsBytes = 4;
  static constexpr std::size_t kRowBytes = 20;

  struct Row {
    std::int32_t day;
    std::uint32_t last_second;
    std::uint32_t blocks;
  };

  DayChain() = default;

  Row RowAt(std::size_t at) const {
    const char* row = rows_.data() + at;
    return {static_cast<std::int32_t>(internal::LoadU32(row)), internal::LoadU32(row + 12),
            internal::LoadU32(row + 16)};
  }

  /// Whether `test` is true of the filter of any day that counts.
  template <typename Test>
  bool AnyDay(const DayLimits& limits, Test test) const {
    const std::int64_t created_second = limits.created_at.time_since_epoch().count() / 1000;
    const char* blocks = blocks_;
    for (std::size_t at = 0; at < rows_.size(); at += kRowBytes) {
      const Row row = RowAt(at);
      if (row.day < limits.window_start.time_since_epoch().count()) return false;  // so are those that follow
      const std::size_t bytes = std::size_t{row.blocks} * SplitBlockBloom::kBlockBytes;
      if (row.last_second >= created_second && test(SplitBlockBloom(std::string_view(blocks, bytes))))
        return true;
      blocks += bytes;
    }
    return false;
  }

  std::string_view rows_;
  const char* blocks_ = nullptr;
};

}  // namespace seen::client
