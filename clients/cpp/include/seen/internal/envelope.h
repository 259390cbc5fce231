#pragma once
// The header that every snapshot starts with, and the checks that are the same for all kinds.

#include <cstdint>
#include <cstring>
#include <optional>
#include <string>
#include <string_view>

#include "seen/hash.h"
#include "seen/internal/bytes.h"
#include "seen/result.h"

namespace seen::client {

/// The kinds of filters.
enum class Format : std::uint8_t {
  kSplitBlockBloom = 1,
  kBloom,
  kCountingBloom,
  kDLeft,
  kQuotient,
  kCuckoo,
  kIndexedCuckoo,
  kBinaryFuse8,
  kBinaryFuse16,
  kDayChain,
  kFingerprints,
};

/// As the daemon's configuration names them.
constexpr std::string_view NameOf(Format format) {
  constexpr std::string_view kNames[] = {"split_block_bloom", "bloom",     "counting_bloom", "d_left",
                                         "quotient",          "cuckoo",    "indexed_cuckoo", "binary_fuse_8",
                                         "binary_fuse_16",    "day_chain", "fingerprints"};
  return kNames[static_cast<std::size_t>(format) - 1];
}

namespace internal {

struct Envelope {
  Format format = Format::kFingerprints;
  std::uint32_t item_count = 0;
  std::int64_t as_of_ms = 0;
  std::int32_t horizon_day = 0;
  std::int32_t partition = 0;
  std::int64_t input_offset = 0;
  double false_positive_rate = 0;
  std::string_view payload;  // of the items
  bool has_similar = false;
  Format similar_format = Format::kFingerprints;
  std::uint32_t similar_count = 0;
  std::string_view similar_payload;
  std::int64_t generation = 0;  // 0: of a filter without updates
};

/// Whether the caller reads the filter's updates as well.
enum class Updates { kIgnored, kRead };

inline constexpr std::size_t kHeaderBytes = 56;
inline constexpr std::size_t kHeaderBytesWithSimilar = 72;
inline constexpr unsigned kFlagSimilar = 1, kFlagUpdates = 2;
inline constexpr std::size_t kHeaderBytesMax = 4096;
inline constexpr std::size_t kChecksumAt = 52;

/// Of all bytes but the checksum's own; there must be kHeaderBytes.
inline std::uint32_t ChecksumOf(std::string_view bytes) { return ChecksumWithout(bytes, kChecksumAt); }

/// Reads the fields of what is similar, and cuts its payload off the items'.
inline std::optional<Error> TakeSimilar(std::string_view bytes, std::size_t header_bytes,
                                        Envelope& envelope) {
  if (header_bytes < kHeaderBytesWithSimilar) {
    return Error{ErrorCode::kBadHeader, "header_bytes is " + std::to_string(header_bytes) +
                                            ", with flags bit 0 it must be 72 or more"};
  }
  const std::size_t similar_bytes = LoadU32(bytes.data() + 56);
  if (similar_bytes > envelope.payload.size()) {
    return Error{ErrorCode::kBadHeader, "similar_bytes is " + std::to_string(similar_bytes) +
                                            ", above payload_bytes, " +
                                            std::to_string(envelope.payload.size())};
  }
  const auto number = static_cast<unsigned>(ByteAt(bytes.data(), 60));
  const auto format = static_cast<Format>(number);
  if (number < 1 || number > static_cast<unsigned>(Format::kFingerprints) ||
      format == Format::kIndexedCuckoo || format == Format::kDayChain) {
    return Error{ErrorCode::kUnknownFormat, "similar_format is " + std::to_string(number) +
                                                ", this reader knows 1 to 6, 8, 9 and 11: update the reader"};
  }
  envelope.has_similar = true;
  envelope.similar_format = format;
  envelope.similar_count = LoadU32(bytes.data() + 64);
  envelope.similar_payload = envelope.payload.substr(envelope.payload.size() - similar_bytes);
  envelope.payload.remove_suffix(similar_bytes);
  return std::nullopt;
}

/// Reads the field behind those of what is similar.
inline std::optional<Error> TakeGeneration(std::string_view bytes, std::size_t header_bytes,
                                           Envelope& envelope) {
  const std::size_t at = envelope.has_similar ? kHeaderBytesWithSimilar : kHeaderBytes;
  if (header_bytes < at + 8) {
    return Error{ErrorCode::kBadHeader, "header_bytes is " + std::to_string(header_bytes) +
                                            ", with flags bit 1 it must be " + std::to_string(at + 8) +
                                            " or more"};
  }
  envelope.generation = static_cast<std::int64_t>(LoadU64(bytes.data() + at));
  if (envelope.generation < 1) {
    return Error{ErrorCode::kBadHeader,
                 "generation is " + std::to_string(envelope.generation) + ", must be 1 or more"};
  }
  return std::nullopt;
}

inline Parsed<Envelope> ParseEnvelope(std::string_view bytes, Updates updates = Updates::kIgnored) {
  const auto refuse = [](ErrorCode code, std::string what) {
    return Parsed<Envelope>(code, std::move(what));
  };
  const auto byte = [&](std::size_t at) { return static_cast<unsigned>(ByteAt(bytes.data(), at)); };
  if (bytes.size() < 4 || bytes.substr(0, 4) != "SEEN") {
    return refuse(ErrorCode::kNotASnapshot, bytes.empty()
                                                ? "not a snapshot: no bytes (a tombstone is a null value)"
                                                : "not a snapshot: it doesn't start with SEEN");
  }
  if (bytes.size() < kHeaderBytes) {
    return refuse(ErrorCode::kCutOff, "cut off: " + std::to_string(bytes.size()) + " bytes, a header has 56");
  }
  if (byte(4) != 1) {
    return refuse(ErrorCode::kUnknownVersion,
                  "version is " + std::to_string(byte(4)) + ", this reader knows 1: update the reader");
  }
  const std::uint64_t header_bytes = LoadU32(bytes.data() + 8);
  if (header_bytes < kHeaderBytes || header_bytes > kHeaderBytesMax || header_bytes % 8 != 0) {
    return refuse(ErrorCode::kBadHeader, "header_bytes is " + std::to_string(header_bytes) +
                                             ", must be a multiple of 8 from 56 to 4096");
  }
  const std::uint64_t payload_bytes = LoadU32(bytes.data() + 48);
  if (bytes.size() != header_bytes + payload_bytes) {
    return refuse(ErrorCode::kWrongLength, "the length is " + std::to_string(bytes.size()) +
                                               ", header_bytes and payload_bytes make " +
                                               std::to_string(header_bytes + payload_bytes));
  }
  if (ChecksumOf(bytes) != LoadU32(bytes.data() + kChecksumAt)) {
    return refuse(ErrorCode::kWrongChecksum, "checksum doesn't match: the bytes were changed on the way");
  }
  if (byte(5) < 1 || byte(5) > static_cast<unsigned>(Format::kFingerprints)) {
    return refuse(ErrorCode::kUnknownFormat,
                  "format is " + std::to_string(byte(5)) + ", this reader knows 1 to 11: update the reader");
  }
  if (byte(6) != 1) {
    return refuse(ErrorCode::kUnknownHash,
                  "hash is " + std::to_string(byte(6)) + ", this reader knows 1: update the reader");
  }
  if ((byte(7) & ~(kFlagSimilar | kFlagUpdates)) != 0) {
    return refuse(ErrorCode::kUnknownFlags,
                  "flags is " + std::to_string(byte(7)) + ", this reader knows 0 to 3: update the reader");
  }
  if ((byte(7) & kFlagUpdates) != 0 && updates == Updates::kIgnored) {
    return refuse(ErrorCode::kNeedsUpdates,
                  "flags is " + std::to_string(byte(7)) +
                      ": this filter publishes updates; read them too (FilterReader, schemas/update.md)");
  }
  Envelope envelope;
  envelope.format = static_cast<Format>(byte(5));
  envelope.item_count = LoadU32(bytes.data() + 12);
  envelope.as_of_ms = static_cast<std::int64_t>(LoadU64(bytes.data() + 16));
  envelope.horizon_day = static_cast<std::int32_t>(LoadU32(bytes.data() + 24));
  envelope.partition = static_cast<std::int32_t>(LoadU32(bytes.data() + 28));
  envelope.input_offset = static_cast<std::int64_t>(LoadU64(bytes.data() + 32));
  const std::uint64_t rate_bits = LoadU64(bytes.data() + 40);
  std::memcpy(&envelope.false_positive_rate, &rate_bits, sizeof(rate_bits));
  if (!(envelope.false_positive_rate > 0 && envelope.false_positive_rate <= 0.5)) {
    return refuse(
        ErrorCode::kBadRate,
        "false_positive_rate is " + std::to_string(envelope.false_positive_rate) + ", must be in (0, 0.5]");
  }
  envelope.payload = bytes.substr(static_cast<std::size_t>(header_bytes));
  if ((byte(7) & kFlagSimilar) != 0) {
    if (const auto error = TakeSimilar(bytes, static_cast<std::size_t>(header_bytes), envelope))
      return *error;
  }
  if ((byte(7) & kFlagUpdates) != 0) {
    if (const auto error = TakeGeneration(bytes, static_cast<std::size_t>(header_bytes), envelope))
      return *error;
  }
  return envelope;
}

}  // namespace internal
}  // namespace seen::client
