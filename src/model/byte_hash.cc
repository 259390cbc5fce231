#include "model/byte_hash.h"

#include <charconv>

#define XXH_INLINE_ALL
#include <xxhash.h>

namespace seen {
namespace {

constexpr size_t kHexDigits = 16;  // of 64 bits

void AppendHex(uint64_t value, std::string& out) {
  constexpr char kDigits[] = "0123456789abcdef";
  for (int shift = 60; shift >= 0; shift -= 4) out.push_back(kDigits[value >> shift & 0xf]);
}

bool ReadHex(std::string_view text, uint64_t& value) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, 16);
  return error == std::errc{} && end == text.data() + text.size();
}

}  // namespace

Hash128 HashOf(std::string_view bytes) {
  const XXH128_hash_t hash = XXH3_128bits(bytes.data(), bytes.size());
  return {hash.high64, hash.low64};
}

std::string ToHex(const Hash128& hash) {
  std::string text;
  AppendHex(hash.high, text);
  AppendHex(hash.low, text);
  return text;
}

std::optional<Hash128> HashFromHex(std::string_view text) {
  Hash128 hash;
  if (text.size() != 2 * kHexDigits || !ReadHex(text.substr(0, kHexDigits), hash.high) ||
      !ReadHex(text.substr(kHexDigits), hash.low) || ToHex(hash) != text)
    return std::nullopt;
  return hash;
}

struct ByteHash::State {
  XXH3_state_t xxh3;
};

ByteHash::ByteHash() : state_(std::make_unique<State>()) { XXH3_128bits_reset(&state_->xxh3); }
ByteHash::~ByteHash() = default;

void ByteHash::Add(std::string_view bytes) { XXH3_128bits_update(&state_->xxh3, bytes.data(), bytes.size()); }

Hash128 ByteHash::Finish() const {
  const XXH128_hash_t hash = XXH3_128bits_digest(&state_->xxh3);
  return {hash.high64, hash.low64};
}

}  // namespace seen
