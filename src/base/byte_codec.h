#pragma once
// Encodes and decodes small values of our own: position, descriptor, sweep, keys. Fields of values are
// little-endian. Keys are big-endian, so that their bytes have their order.

#include <bit>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

namespace seen {

template <typename Integer>
void PutLittleEndian(Integer value, std::string& out) {
  auto bits = static_cast<std::make_unsigned_t<Integer>>(value);
  for (size_t i = 0; i < sizeof(Integer); ++i) {
    out.push_back(static_cast<char>(bits & 0xffu));
    bits = static_cast<std::make_unsigned_t<Integer>>(static_cast<uint64_t>(bits) >> 8);
  }
}

/// The lowest `bytes` bytes of `value`, the highest first: of keys that sort by number.
inline void PutBigEndian(uint64_t value, size_t bytes, std::string& out) {
  for (size_t i = bytes; i-- > 0;) out.push_back(static_cast<char>(value >> (8 * i)));
}
inline uint64_t GetBigEndian(const char* from, size_t bytes) {
  uint64_t value = 0;
  for (size_t i = 0; i < bytes; ++i) value = value << 8 | static_cast<unsigned char>(from[i]);
  return value;
}

template <typename Integer>
void PutBigEndian(Integer value, char*& to) {
  for (size_t i = sizeof(Integer); i-- > 0;)
    *to++ = static_cast<char>(static_cast<uint64_t>(value) >> (8 * i));
}
template <typename Integer>
Integer GetBigEndian(const char*& from) {
  uint64_t value = 0;
  for (size_t i = 0; i < sizeof(Integer); ++i) value = value << 8 | static_cast<unsigned char>(*from++);
  return static_cast<Integer>(value);
}

/// Appends the length, then the bytes. `Length` holds the length.
template <typename Length = uint16_t>
void PutText(std::string_view text, std::string& out) {
  PutLittleEndian(static_cast<Length>(text.size()), out);
  out.append(text);
}

template <typename Integer>
void PutAll(const std::vector<Integer>& values, std::string& out) {
  if constexpr (std::endian::native == std::endian::little) {
    out.append(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(Integer));
  } else {
    for (const Integer value : values) PutLittleEndian(value, out);
  }
}

/// Reads fields one after the other. From the first field that doesn't fit on, all fields read as zero and
/// Complete() is false.
class FieldReader {
 public:
  explicit FieldReader(std::string_view bytes) : rest_(bytes) {}

  template <typename Integer>
  Integer Get() {
    const std::string_view bytes = Take(sizeof(Integer));
    uint64_t bits = 0;
    for (size_t i = bytes.size(); i-- > 0;) bits = bits << 8 | static_cast<unsigned char>(bytes[i]);
    return static_cast<Integer>(bits);
  }
  /// Reads `count` integers. `out` is empty if the bytes are too few.
  template <typename Integer>
  void GetAll(size_t count, std::vector<Integer>& out) {
    const std::string_view bytes = Take(count * sizeof(Integer));
    out.resize(bytes.size() / sizeof(Integer));
    if constexpr (std::endian::native == std::endian::little) {
      if (!out.empty()) std::memcpy(out.data(), bytes.data(), bytes.size());
    } else {
      FieldReader fields(bytes);
      for (Integer& value : out) value = fields.Get<Integer>();
    }
  }
  /// As PutText wrote it; a view into the bytes.
  template <typename Length = uint16_t>
  std::string_view GetTextView() {
    return Take(Get<Length>());
  }
  std::string GetText() { return std::string(GetTextView()); }
  /// Takes all the bytes that are left.
  std::string_view Rest() { return Take(rest_.size()); }
  bool ok() const { return ok_; }
  /// Whether all fields fitted and no byte is left.
  bool Complete() const { return ok_ && rest_.empty(); }

 private:
  std::string_view Take(size_t count) {
    if (!ok_ || count > rest_.size()) {
      ok_ = false;
      return {};
    }
    const std::string_view taken = rest_.substr(0, count);
    rest_.remove_prefix(count);
    return taken;
  }

  std::string_view rest_;
  bool ok_ = true;
};

}  // namespace seen
