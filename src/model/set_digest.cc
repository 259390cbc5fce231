#include "model/set_digest.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <charconv>

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

// One element as it is hashed, in little-endian bytes of one length. Format: schemas/backup.md, "Digests".
struct SetDigester::Element {
  enum class Type : uint8_t { kSeconds = 1, kItem = 2, kRemoval = 3, kErasure = 4 };
  static constexpr size_t kBytes = 16 + 16 + 1 + 8 + 4 + 8 + 4 + 4;
  Hash128 filter;
  UserKey user;
  Type type = Type::kItem;
  uint64_t kind = 0;
  uint32_t width_s = 0;
  int64_t bucket = 0;
  uint32_t first = 0;
  uint32_t second = 0;

  void AddTo(Hash128& sum) const {
    std::array<char, kBytes> bytes;
    char* at = bytes.data();
    const auto put = [&at](uint64_t value, size_t count) {
      for (size_t i = 0; i < count; ++i) *at++ = static_cast<char>(value >> (8 * i) & 0xffu);
    };
    put(filter.high, 8);
    put(filter.low, 8);
    put(user.high, 8);
    put(user.low, 8);
    put(static_cast<uint64_t>(type), 1);
    put(kind, 8);
    put(width_s, 4);
    put(static_cast<uint64_t>(bucket), 8);
    put(first, 4);
    put(second, 4);
    sum += HashOf({bytes.data(), bytes.size()});
  }
};

SetDigest& SetDigest::operator+=(const SetDigest& other) {
  digest += other.digest;
  without_id += other.without_id;
  similar += other.similar;
  users += other.users;
  users_without_id += other.users_without_id;
  items += other.items;
  removals += other.removals;
  return *this;
}

SetDigester::SetDigester(std::string_view filter, const std::array<std::string, kDeclaredKindsMax>& declared,
                         const Horizon& horizon)
    : filter_(HashOf(filter)), horizon_(horizon) {
  for (size_t i = 0; i < declared.size(); ++i) declared_[i] = HashOf(declared[i]).low;
}

SetDigester::Element SetDigester::ElementOf(const UserKey& user) const {
  Element element;
  element.filter = filter_;
  element.user = user;
  return element;
}

bool SetDigester::AddSegments(const UserKey& user, const Delta& delta) {
  bool any = false;
  for (const Segment& segment : delta.segments) {
    if (horizon_.SecondsLeft(SegmentKind::kExposed, segment.day.since_epoch, 0) < 0) continue;
    any = true;
    Element element = ElementOf(user);
    element.width_s = kDayWidth;
    element.bucket = segment.day.since_epoch;
    element.type = Element::Type::kSeconds;
    element.first = segment.first_second;
    element.second = segment.last_second;
    element.AddTo(sum_.digest);
    element.type = Element::Type::kItem;
    element.second = 0;
    for (const Fingerprint fingerprint : segment.fingerprints) {
      element.first = fingerprint.value;
      element.AddTo(sum_.digest);
    }
    sum_.items += segment.fingerprints.size();
  }
  return any;
}

bool SetDigester::AddOthers(const UserKey& user, const Delta& delta) {
  bool any = false;
  for (const OtherSegment& segment : delta.others) {
    if (horizon_.SecondsLeft(segment.kind, segment.bucket, segment.EndSecond()) < 0) continue;
    any = true;
    const bool is_similar = segment.kind == SegmentKind::kSimilar;
    Hash128& sum = is_similar ? sum_.similar : sum_.digest;
    Element element = ElementOf(user);
    element.kind = IsDeclared(segment.kind) ? declared_[DeclaredPlace(segment.kind)]
                                            : static_cast<uint64_t>(segment.kind);
    element.width_s = segment.width_s;
    element.bucket = segment.bucket;
    element.type = Element::Type::kSeconds;
    element.first = segment.first_second;
    element.second = segment.kind == SegmentKind::kByCreation ? segment.last_day : segment.last_second;
    element.AddTo(sum);
    element.type = Element::Type::kItem;
    for (size_t i = 0; i < segment.fingerprints.size(); ++i) {
      element.first = segment.fingerprints[i].value;
      element.second = IsTimed(segment.kind) ? segment.times[i] : 0;
      element.AddTo(sum);
    }
    if (!is_similar) sum_.items += segment.fingerprints.size();
  }
  return any;
}

bool SetDigester::AddTakenBack(const UserKey& user, const Delta& delta, Hash128& sum) {
  bool any = false;
  Element element = ElementOf(user);
  const auto add = [&](Element::Type type, Day day, uint32_t fingerprint) {
    if (day < horizon_.taken_back) return;
    any = true;
    ++sum_.removals;
    element.type = type;
    element.bucket = day.since_epoch;
    element.first = fingerprint;
    element.AddTo(sum);
  };
  for (const Removal& removal : delta.removals)
    add(Element::Type::kRemoval, removal.day, removal.fingerprint.value);
  if (delta.erased) add(Element::Type::kErasure, *delta.erased, 0);
  return any;
}

Status SetDigester::Add(const UserKey& user, std::string_view encoded_delta) {
  const auto delta = DecodeDelta(encoded_delta);
  if (!delta) return Fail(delta.error());
  const bool has_segments = AddSegments(user, *delta);
  const bool has_others = AddOthers(user, *delta);
  const bool has_id = has_segments || has_others;
  const bool takes_back = AddTakenBack(user, *delta, has_id ? sum_.digest : sum_.without_id);
  if (!has_id && !takes_back) return {};
  ++sum_.users;
  if (!has_id) ++sum_.users_without_id;
  return {};
}

}  // namespace seen
