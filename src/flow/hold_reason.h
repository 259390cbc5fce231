#pragma once
// Why a partition takes no records at the moment.

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace seen {

enum class HoldReason : uint8_t { kNone, kDiskFull, kDeadLettersFull, kLevel0Files, kTailFull };

inline constexpr std::array kHoldReasons = {HoldReason::kDiskFull, HoldReason::kDeadLettersFull,
                                            HoldReason::kLevel0Files, HoldReason::kTailFull};

/// As in labels of metrics: "disk_full".
constexpr std::string_view HoldReasonName(HoldReason reason) {
  constexpr std::string_view kNames[] = {"none", "disk_full", "dead_letters_full", "level0_files",
                                         "tail_full"};
  return kNames[static_cast<size_t>(reason)];
}

}  // namespace seen
