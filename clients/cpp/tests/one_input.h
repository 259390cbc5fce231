#pragma once
// What the fuzzers do with bytes: parse them, and if they are taken, ask everything there is to ask.

#include <cstddef>
#include <memory>
#include <string_view>

namespace seen::client::test {

/// Whether `bytes` were taken for a snapshot. They are copied to a heap buffer of just their size, so that
/// AddressSanitizer sees a read beyond it.
bool TryOneInput(std::string_view bytes);

}  // namespace seen::client::test
