#include "tools/load/exposure_writer.h"

#include <charconv>
#include <cstring>

namespace seen {
namespace {

constexpr size_t kHeadBytesMax = 192;  // an event without the items of a batch
constexpr size_t kItemBytesMax = 64;
constexpr std::string_view kUser = R"({"user_id":")";
constexpr size_t kIdBytes = 9;  // a letter and eight hex digits

constexpr auto kHexPairs = [] {
  std::array<char, 512> pairs{};
  for (size_t i = 0; i < 256; ++i) {
    pairs[2 * i] = "0123456789abcdef"[i >> 4];
    pairs[2 * i + 1] = "0123456789abcdef"[i & 15];
  }
  return pairs;
}();

template <size_t Bytes, typename Number>
char* PutHex(Number value, char* to) {
  for (size_t i = 0; i < Bytes; ++i) {
    std::memcpy(to + 2 * i, &kHexPairs[2 * (value >> 8 * (Bytes - 1 - i) & 0xff)], 2);
  }
  return to + 2 * Bytes;
}

char* PutId(char letter, uint32_t value, char* to) {
  *to = letter;
  return PutHex<4>(value, to + 1);
}

// Inline: then the compiler knows the length of a literal at the copy.
[[gnu::always_inline]] inline char* Put(std::string_view text, char* to) {
  std::memcpy(to, text.data(), text.size());
  return to + text.size();
}

char* PutTime(const ExposureFields& fields, char* to) {
  to = Put(R"(,"exposed_at":)", to);
  to = std::to_chars(to, to + 24, fields.exposed_at.value).ptr;
  to = Put(R"(,"scene":")", to);
  return Put(fields.scene, to);
}

char* PutRequest(uint64_t request, char* to) {
  to = Put(R"("request_id":"r)", to);
  return PutHex<8>(request, to);
}

}  // namespace

void WriteExposure(const ExposureFields& fields, uint32_t item, std::string& out) {
  std::array<char, kHeadBytesMax> event;
  char* to = Put(kUser, event.data());
  to = PutId('u', fields.user, to);
  to = Put(R"(","item_id":")", to);
  to = PutId('n', item, to);
  to = Put("\"", to);
  to = PutTime(fields, to);
  to = Put(R"(","position":)", to);
  to = std::to_chars(to, to + 12, fields.position).ptr;
  to = Put(",", to);
  to = PutRequest(fields.request, to);
  to = Put("\"}", to);
  out.assign(event.data(), to);
}

void WriteBatchExposure(const ExposureFields& fields, std::span<const uint32_t> items, std::string& out) {
  out.resize(kHeadBytesMax + kItemBytesMax * items.size());
  char* to = Put(kUser, out.data());
  to = PutId('u', fields.user, to);
  to = Put("\"", to);
  to = PutTime(fields, to);
  to = Put("\",", to);
  to = PutRequest(fields.request, to);
  to = Put(R"(","items":[)", to);
  uint32_t position = fields.position;
  for (const uint32_t item : items) {
    if (position != fields.position) to = Put(",", to);
    to = Put(R"({"item_id":")", to);
    to = PutId('n', item, to);
    to = Put(R"(","position":)", to);
    to = std::to_chars(to, to + 12, position++).ptr;
    to = Put("}", to);
  }
  to = Put("]}", to);
  out.resize(static_cast<size_t>(to - out.data()));
}

std::string_view UserIdOf(std::string_view event) { return event.substr(kUser.size(), kIdBytes); }

std::array<char, 16> HexOf(uint64_t value) {
  std::array<char, 16> digits;
  PutHex<8>(value, digits.data());
  return digits;
}

}  // namespace seen
