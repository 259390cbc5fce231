#pragma once

#include <cstdint>
#include <string_view>

namespace seen {

/// Tells one log record from another: XXH64 of the value, seeded with XXH64 of the key (seed 0).
uint64_t RecordHash(std::string_view key, std::string_view value);

}  // namespace seen
