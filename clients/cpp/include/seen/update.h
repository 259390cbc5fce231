#pragma once
// Reads one update: what is new of a partition's users since their snapshots. Byte by byte:
// schemas/update.md. FilterReader (seen/filter_reader.h) answers from updates and snapshots.

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "seen/hash.h"
#include "seen/internal/bytes.h"
#include "seen/result.h"

namespace seen::client {

/// How updates name a user: XXH64 of the id, seed 0.
inline std::uint64_t UpdateUserOf(std::string_view user) { return XXH64(user.data(), user.size(), 0); }

enum class AdditionKind : std::uint8_t {
  kSeen,     // fingerprints of items
  kSimilar,  // of what is near, and of groups
};

/// Additions of one user. Points into the update's bytes.
struct UpdateEntry {
  std::uint64_t user = 0;  // UpdateUserOf the id
  std::uint32_t count = 0;
  const char* bytes = nullptr;
  Fingerprint operator[](std::uint32_t i) const {
    return static_cast<Fingerprint>(internal::LoadU32(bytes + std::size_t{4} * i));
  }
};

/// Additions that count in the same filters and end at the same time. Points into the update's bytes.
class UpdateSection {
 public:
  /// Bit i: the additions count in the i-th filter that the update names.
  std::uint16_t mask() const { return internal::LoadU16(bytes_); }
  AdditionKind kind() const { return static_cast<AdditionKind>(internal::ByteAt(bytes_, 2)); }
  /// The additions count before this second; 0: without end.
  std::uint32_t until_s() const { return internal::LoadU32(bytes_ + 4); }
  std::uint32_t entries() const { return internal::LoadU32(bytes_ + 8); }
  std::uint32_t items() const { return internal::LoadU32(bytes_ + 12); }

  /// The user of an entry, by its number.
  std::uint64_t UserAt(std::size_t i) const { return internal::LoadU64(bytes_ + kBytes + 8 * i); }
  /// Calls `visit(UpdateEntry)` for each entry. A user may have several.
  template <typename Visit>
  void ForEach(Visit visit) const {
    const std::size_t count = entries();
    const char* counts = bytes_ + kBytes + 8 * count;
    const char* items = counts + 2 * count;
    for (std::size_t i = 0; i < count; ++i) {
      const std::uint32_t own = internal::LoadU16(counts + 2 * i);
      visit(UpdateEntry{UserAt(i), own, items});
      items += std::size_t{4} * own;
    }
  }

 private:
  friend class Update;
  static constexpr std::size_t kBytes = 16;  // before its users
  explicit UpdateSection(const char* bytes) : bytes_(bytes) {}
  std::uint64_t length() const { return kBytes + std::uint64_t{10} * entries() + std::uint64_t{4} * items(); }
  std::optional<Error> Check(std::size_t bytes, unsigned filters) const;

  const char* bytes_;
};

/// An immutable value that points into its bytes: they must outlive it and not change. Cheap to copy.
class Update {
 public:
  /// Checks everything. O(bytes). An update that is refused is a gap: report it.
  static Parsed<Update> Parse(std::string_view bytes);
  static Parsed<Update> Parse(std::string&&) = delete;  // would dangle

  /// How many records before this one hold parts of the event at from(); as a rule 0.
  int part() const { return static_cast<int>(internal::ByteAt(At(5), 0)); }
  std::int32_t partition() const { return static_cast<std::int32_t>(internal::LoadU32(At(12))); }
  /// Offsets are comparable within one generation only.
  std::int64_t generation() const { return I64(16); }
  /// The update has the additions of the live events at the offsets from() to to() - 1.
  std::int64_t from() const { return I64(24); }
  std::int64_t to() const { return I64(32); }
  /// With all below to(), a reader has all that the input partition held then; -1: not known.
  std::int64_t as_of_ms() const { return I64(40); }

  std::size_t filter_count() const { return filter_count_; }
  std::string_view filter(std::size_t i) const { return filters_[i]; }
  /// Whether the event at from() goes on in the next record.
  bool is_part() const { return to() == from() && header_bytes() < bytes_.size(); }
  /// The bit of a filter in the sections' masks; 0: the update doesn't name it, and says nothing about it.
  std::uint16_t BitOf(std::string_view filter) const {
    for (std::size_t i = 0; i < filter_count_; ++i) {
      if (filters_[i] == filter) return static_cast<std::uint16_t>(1U << i);
    }
    return 0;
  }
  /// Calls `visit(UpdateSection)` for each section.
  template <typename Visit>
  void ForEachSection(Visit visit) const {
    for (std::size_t at = header_bytes(); at < bytes_.size();) {
      const UpdateSection section(At(at));
      visit(section);
      at += static_cast<std::size_t>(section.length());
    }
  }

 private:
  static constexpr std::size_t kHeaderBytes = 56, kHeaderBytesMax = 8192, kChecksumAt = 8, kNamesAt = 49;
  static constexpr std::size_t kFiltersMax = 16;

  explicit Update(std::string_view bytes) : bytes_(bytes) {}
  const char* At(std::size_t at) const { return bytes_.data() + at; }
  std::int64_t I64(std::size_t at) const { return static_cast<std::int64_t>(internal::LoadU64(At(at))); }
  std::size_t header_bytes() const { return internal::LoadU16(At(6)); }
  std::optional<Error> CheckEnvelope() const;
  std::optional<Error> CheckFields() const;
  std::optional<Error> TakeNames();
  std::optional<Error> CheckSections() const;

  std::string_view bytes_;
  std::size_t filter_count_ = 0;
  std::array<std::string_view, kFiltersMax> filters_;
};

inline Parsed<Update> Update::Parse(std::string_view bytes) {
  Update update(bytes);
  if (auto error = update.CheckEnvelope()) return *std::move(error);
  if (auto error = update.CheckFields()) return *std::move(error);
  if (auto error = update.TakeNames()) return *std::move(error);
  if (auto error = update.CheckSections()) return *std::move(error);
  return update;
}

inline std::optional<Error> Update::CheckEnvelope() const {
  if (bytes_.size() < 4 || bytes_.substr(0, 4) != "SEEU") {
    return Error{ErrorCode::kNotAnUpdate,
                 bytes_.empty() ? "not an update: no bytes" : "not an update: it doesn't start with SEEU"};
  }
  if (bytes_.size() < kHeaderBytes) {
    return Error{ErrorCode::kCutOff,
                 "cut off: " + std::to_string(bytes_.size()) + " bytes, a header has 56 or more"};
  }
  if (const auto version = internal::ByteAt(At(4), 0); version != 1) {
    return Error{ErrorCode::kUnknownVersion,
                 "version is " + std::to_string(version) + ", this reader knows 1: update the reader"};
  }
  if (header_bytes() < kHeaderBytes || header_bytes() > kHeaderBytesMax || header_bytes() > bytes_.size()) {
    return Error{ErrorCode::kBadHeader, "header_bytes is " + std::to_string(header_bytes()) +
                                            ", must be from 56 to 8192, and at most the length, " +
                                            std::to_string(bytes_.size())};
  }
  if (internal::ChecksumWithout(bytes_, kChecksumAt) != internal::LoadU32(At(kChecksumAt))) {
    return Error{ErrorCode::kWrongChecksum, "checksum doesn't match: the bytes were changed on the way"};
  }
  return std::nullopt;
}

inline std::optional<Error> Update::CheckFields() const {
  struct Field {
    const char* name;
    std::int64_t value, least, most;
  };
  constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();
  const Field fields[] = {{"partition", partition(), 0, kMost},
                          {"generation", generation(), 1, kMost},
                          {"from", from(), 0, kMost},
                          {"to", to(), from(), kMost},
                          {"as_of_ms", as_of_ms(), -1, kMost},
                          {"filter_count", static_cast<std::int64_t>(internal::ByteAt(At(48), 0)), 1,
                           static_cast<std::int64_t>(kFiltersMax)}};
  for (const Field& field : fields) {
    if (field.value >= field.least && field.value <= field.most) continue;
    return Error{ErrorCode::kBadField,
                 std::string(field.name) + " is " + std::to_string(field.value) + ", must be " +
                     std::to_string(field.least) +
                     (field.most == kMost ? " or more" : " to " + std::to_string(field.most))};
  }
  return std::nullopt;
}

inline std::optional<Error> Update::TakeNames() {
  const std::size_t count = internal::ByteAt(At(48), 0);
  const auto refuse = [&](const char* what) {
    return Error{ErrorCode::kBadNames, "name " + std::to_string(filter_count_) + " of " +
                                           std::to_string(count) + " filters " + what};
  };
  std::string_view rest = bytes_.substr(kNamesAt, header_bytes() - kNamesAt);
  for (; filter_count_ < count; ++filter_count_) {
    if (rest.empty()) return refuse("is beyond header_bytes");
    const std::size_t length = internal::ByteAt(rest.data(), 0);
    if (length == 0) return refuse("has no bytes");
    if (length >= rest.size()) return refuse("is beyond header_bytes");
    const std::string_view name = rest.substr(1, length);
    if (BitOf(name) != 0) return refuse("comes twice");
    filters_[filter_count_] = name;
    rest.remove_prefix(1 + length);
  }
  return std::nullopt;
}

inline std::optional<Error> UpdateSection::Check(std::size_t bytes, unsigned filters) const {
  const auto refuse = [](const char* field, std::uint64_t value, const std::string& rule) {
    return Error{ErrorCode::kBadSection,
                 "section: " + std::string(field) + " is " + std::to_string(value) + ", must be " + rule};
  };
  if (bytes < kBytes) {
    return Error{ErrorCode::kBadSection, "section: " + std::to_string(bytes) + " bytes are left, must be 16"};
  }
  if (const auto number = internal::ByteAt(bytes_, 2); number > 1) {
    return Error{ErrorCode::kUnknownKind, "section: kind is " + std::to_string(number) +
                                              ", this reader knows 0 and 1: update the reader"};
  }
  if (mask() == 0 || mask() >> filters != 0) {
    return refuse("mask", mask(), "1 or more, and below 2^" + std::to_string(filters));
  }
  if (entries() == 0 || items() == 0) return refuse(entries() == 0 ? "users" : "items", 0, "1 or more");
  if (length() > bytes) {
    return refuse("its length", length(), "at most what is left, " + std::to_string(bytes));
  }
  const char* counts = bytes_ + kBytes + std::size_t{8} * entries();
  std::uint64_t sum = 0, least = 1;
  for (std::size_t i = 0; i < entries(); ++i) {
    const std::uint64_t own = internal::LoadU16(counts + 2 * i);
    sum += own;
    least = std::min(least, own);
  }
  if (least == 0) return refuse("the count of a user", 0, "1 or more");
  if (sum != items()) return refuse("the sum of its counts", sum, "items, " + std::to_string(items()));
  return std::nullopt;
}

inline std::optional<Error> Update::CheckSections() const {
  for (std::size_t at = header_bytes(); at < bytes_.size();) {
    const UpdateSection section(At(at));
    if (auto error = section.Check(bytes_.size() - at, static_cast<unsigned>(filter_count_))) return error;
    at += static_cast<std::size_t>(section.length());
  }
  return std::nullopt;
}

}  // namespace seen::client
