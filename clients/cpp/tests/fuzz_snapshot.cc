// libFuzzer's way in. The checksum of its inputs is put right, which it would hardly ever guess.

#include <cstddef>
#include <cstdint>
#include <string>

#include "one_input.h"
#include "seen/internal/envelope.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace seen::client;
  std::string bytes(reinterpret_cast<const char*>(data), size);
  test::TryOneInput(bytes);
  if (size < internal::kHeaderBytes) return 0;
  const auto put = [&bytes](std::size_t at, std::uint64_t value) {
    for (std::size_t i = 0; i < 4; ++i) bytes[at + i] = static_cast<char>(value >> (8 * i) & 0xff);
  };
  if (internal::LoadU32(bytes.data() + 8) <= size) put(48, size - internal::LoadU32(bytes.data() + 8));
  put(internal::kChecksumAt, internal::ChecksumOf(bytes));
  test::TryOneInput(bytes);
  return 0;
}
