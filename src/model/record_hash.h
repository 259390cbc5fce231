#pragma once

#include <cstdint>
#include <string_view>

namespace seen {

/// Distinguishes log records: XXH64 of the value, seeded with XXH64 of the key (seed 0).
uint64_t RecordHash(std::string_view key, std::string_view value);

}  // namespace seen
