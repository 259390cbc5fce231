#pragma once
// Reads what `seend` publishes of a user: a filter over the items the user has seen. All there is to include,
// but for watermarks (seen/watermarks.h). Byte by byte: schemas/snapshot.md.

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "seen/candidates.h"
#include "seen/hash.h"
#include "seen/internal/envelope.h"
#include "seen/kinds/binary_fuse.h"
#include "seen/kinds/bloom.h"
#include "seen/kinds/cuckoo.h"
#include "seen/kinds/d_left.h"
#include "seen/kinds/day_chain.h"
#include "seen/kinds/fingerprints.h"
#include "seen/kinds/indexed_cuckoo.h"
#include "seen/kinds/quotient.h"
#include "seen/kinds/split_block_bloom.h"
#include "seen/result.h"
#include "seen/time.h"

namespace seen::client {

/// A user's seen items as a filter: "no" is certain, "yes" is wrong for a small, chosen share of the items
/// that were not seen. An immutable value, cheap to copy; all that is const may be called from any thread.
/// Look-ups make no memory.
class Snapshot {
 public:
  /// Checks `bytes` and points into them: they must outlive the snapshot and not change. O(bytes). An error
  /// must never be taken for "nothing seen": keep the snapshot before it, or treat the user as unknown, and
  /// report it.
  static Parsed<Snapshot> Parse(std::string_view bytes) {
    return ParseAs(bytes, nullptr, internal::Updates::kIgnored);
  }
  static Parsed<Snapshot> Parse(std::string&&) = delete;  // would dangle: ParseCopy

  /// The same, with a copy of the bytes, which all copies of the snapshot share: for caches.
  static Parsed<Snapshot> ParseCopy(std::string_view bytes) {
    return ParseCopy(bytes, internal::Updates::kIgnored);
  }
  /// The same, for a caller that reads the filter's updates as well (FilterReader): it also takes a snapshot
  /// whose `flags` has bit 1. Such a snapshot alone may be late by half an hour.
  static Parsed<Snapshot> ParseCopyWithUpdates(std::string_view bytes) {
    return ParseCopy(bytes, internal::Updates::kRead);
  }

  /// Nothing seen, and exactly so: of users that have a tombstone, or that no record was ever there of.
  static Snapshot Empty() { return Snapshot({}, {}, nullptr, Fingerprints(), Fingerprints()); }

  /// False: certainly not seen. `id`: UTF-8, or an integer, which is its decimal string.
  bool MightContain(std::string_view id, const DayLimits& limits = {}) const {
    return MightContain(FingerprintOf(id), limits);
  }
  template <typename Integer, std::enable_if_t<kIsInteger<Integer>, int> = 0>
  bool MightContain(Integer id, const DayLimits& limits = {}) const {
    return MightContain(FingerprintOf(id), limits);
  }
  bool MightContain(Fingerprint fingerprint, const DayLimits& limits = {}) const {
    return Ask(filter_, fingerprint, limits);
  }

  /// `answers[i]` is 1 if `fingerprints[i]`, or `ids[i]`, may have been seen, else 0; `count` of each. The
  /// fast way.
  void MightContainEach(const Fingerprint* fingerprints, std::size_t count, std::uint8_t* answers,
                        const DayLimits& limits = {}) const {
    AskEach(filter_, fingerprints, count, answers, limits);
  }
  void MightContainEach(const std::string_view* ids, std::size_t count, std::uint8_t* answers,
                        const DayLimits& limits = {}) const {
    Fingerprint fingerprints[256];
    constexpr std::size_t kAtOnce = sizeof(fingerprints) / sizeof(fingerprints[0]);
    for (std::size_t from = 0; from < count; from += kAtOnce) {
      const std::size_t here = std::min(kAtOnce, count - from);
      for (std::size_t i = 0; i < here; ++i) fingerprints[i] = FingerprintOf(ids[from + i]);
      MightContainEach(fingerprints, here, answers + from, limits);
    }
  }

  /// Whether it says what is similar (the daemon's `filters[].similar`). Where it doesn't, as in Empty(), all
  /// answers of the next four are no. None of them knows what AlsoSeen names.
  bool has_similar() const { return envelope_.has_similar; }
  /// May an item like this one have been seen? Ids as in MightContain, or the item's own Fingerprint. An item
  /// that was seen itself need not be near another: ask MightContain for that.
  template <typename Id>
  bool MightBeNear(const Id& id) const {
    return Ask(similar_, internal::InDomain(OwnFingerprint(id), internal::kNearDomain));
  }
  /// May an item of this group have been seen? By the group's id, as the topic of groups has it.
  template <typename Id>
  bool MightHoldGroup(const Id& group_id) const {
    return Ask(similar_, internal::InDomain(OwnFingerprint(group_id), internal::kGroupDomain));
  }
  /// `answers[i]` is 1 or 0; of `ids`: fingerprints, strings, string views or integers, `count` of each.
  template <typename Id>
  void MightBeNearEach(const Id* ids, std::size_t count, std::uint8_t* answers) const {
    AskSimilarEach(ids, count, answers, internal::kNearDomain);
  }
  template <typename Id>
  void MightHoldGroupEach(const Id* group_ids, std::size_t count, std::uint8_t* answers) const {
    AskSimilarEach(group_ids, count, answers, internal::kGroupDomain);
  }

  /// The items the user hasn't seen, in their order and each once: several recall routes can be given one
  /// after the other. `items`: a vector, array or span of strings, string views, integers or Candidates,
  /// below 2^31 of them. Of a Candidate's id that comes more than once the latest time counts.
  template <typename Items>
  auto Unseen(const Items& items, const AlsoSeen& also_seen = {}, const DayLimits& limits = {}) const {
    using Item = std::decay_t<decltype(items[0])>;
    std::vector<TimeMs> created(kIs<Item, Candidate> ? items.size() : 0);
    const auto firsts =
        internal::FirstsOf(items, [&]([[maybe_unused]] std::uint32_t n, [[maybe_unused]] std::size_t i) {
          if constexpr (kIs<Item, Candidate>) created[n] = std::max(created[n], items[i].created_at);
        });
    std::vector<std::uint8_t> seen(firsts.items.size());
    MightContainEach(firsts.fingerprints.data(), seen.size(), seen.data(), limits);
    std::vector<Item> unseen;
    for (std::size_t n = 0; n < seen.size(); ++n) {
      const Fingerprint fingerprint = firsts.fingerprints[n];
      bool drop = seen[n] != 0;
      if constexpr (kIs<Item, Candidate>) {
        if (drop)
          drop = MightContain(fingerprint, {std::max(created[n], limits.created_at), limits.window_start});
      }
      const auto& item = items[firsts.items[n]];
      if (!drop && !also_seen.Contains(fingerprint, item)) unseen.push_back(item);
    }
    return unseen;
  }

  /// How many candidates to recall so that, all but certainly, `want` are left when those that were seen are
  /// taken out. 0 where `want` is 0.
  std::uint64_t RecallSize(std::uint64_t want, const AlsoSeen& also_seen = {}) const {
    if (want == 0) return 0;
    std::uint64_t seen = envelope_.item_count;
    also_seen.ForEach([&](Fingerprint fingerprint) { seen += MightContain(fingerprint) ? 0U : 1U; });
    const auto wanted = static_cast<double>(want);
    // Kept from being fused with the addition, which would round once instead of twice.
    const volatile double spread = 3 * std::sqrt(wanted * envelope_.false_positive_rate);
    const double recalled = std::ceil((wanted + spread) / (1 - envelope_.false_positive_rate));
    constexpr std::uint64_t kMax = std::numeric_limits<std::uint64_t>::max();
    if (!(recalled < 9e18)) return kMax;
    return seen + static_cast<std::uint64_t>(recalled);
  }

  /// What an indexed cuckoo filter (kind 7) says about an item: an entry each that answers to it, of which
  /// one at most is right. Of other kinds, none.
  std::vector<EntryDetails> Details(Fingerprint fingerprint) const {
    const auto* filter = std::get_if<IndexedCuckoo>(&filter_);
    if (filter == nullptr) return {};
    return filter->Details(internal::HashOf(fingerprint));
  }
  std::vector<EntryDetails> Details(std::string_view id) const { return Details(FingerprintOf(id)); }

  Format format() const { return envelope_.format; }
  /// How many different fingerprints are in.
  std::uint32_t item_count() const { return envelope_.item_count; }
  /// How many different fingerprints of near items and groups are in; 0 where nothing is said of them.
  std::uint32_t similar_count() const { return envelope_.similar_count; }
  /// The kind of the filter of what is similar; of no meaning without has_similar().
  Format similar_format() const { return envelope_.similar_format; }
  /// The greatest Kafka timestamp read from the input partition: the stream's time, not the user's.
  TimeMs as_of() const { return TimeMs(TimeMs::duration(envelope_.as_of_ms)); }
  /// The first UTC day of the window when it was made. What has a window of its own may be older.
  Day horizon() const { return Day(Days(envelope_.horizon_day)); }
  std::int32_t partition() const { return envelope_.partition; }
  /// Every record of the input partition below it has been applied. May go back: don't order by it.
  std::int64_t input_offset() const { return envelope_.input_offset; }
  /// In which input_offset() is comparable; 0: of a filter without updates. schemas/update.md.
  std::int64_t generation() const { return envelope_.generation; }
  /// As asked for in the configuration; 0 of Empty().
  double false_positive_rate() const { return envelope_.false_positive_rate; }
  /// The whole snapshot; no bytes of Empty().
  std::string_view bytes() const { return bytes_; }

 private:
  using Filter = std::variant<Fingerprints, SplitBlockBloom, Bloom, CountingBloom, DLeft, Quotient, Cuckoo,
                              IndexedCuckoo, BinaryFuse8, BinaryFuse16, DayChain>;
  using Owned = std::shared_ptr<const std::vector<char>>;
  using Updates = internal::Updates;

  template <typename T, typename Wanted>
  static constexpr bool kIs = std::is_same_v<std::decay_t<T>, Wanted>;

  Snapshot(const internal::Envelope& envelope, std::string_view bytes, Owned owned, Filter filter,
           Filter similar)
      : envelope_(envelope),
        bytes_(bytes),
        owned_(std::move(owned)),
        filter_(std::move(filter)),
        similar_(std::move(similar)) {}

  static bool Ask(const Filter& any, Fingerprint fingerprint, const DayLimits& limits = {}) {
    const std::uint64_t hash = internal::HashOf(fingerprint);
    return std::visit(
        [&](const auto& filter) {
          if constexpr (kIs<decltype(filter), DayChain>)
            return filter.MightContain(fingerprint, hash, limits);
          return filter.MightContain(fingerprint, hash);
        },
        any);
  }

  static void AskEach(const Filter& any, const Fingerprint* fingerprints, std::size_t count,
                      std::uint8_t* answers, const DayLimits& limits = {}) {
    std::visit(
        [&](const auto& filter) {
          if constexpr (kIs<decltype(filter), DayChain>) {
            filter.MightContainEach(fingerprints, count, answers, limits);
          } else if constexpr (kIs<decltype(filter), SplitBlockBloom>) {
            filter.MightContainEach(fingerprints, count, answers);
          } else {
            for (std::size_t i = 0; i < count; ++i) {
              answers[i] = filter.MightContain(fingerprints[i], internal::HashOf(fingerprints[i]));
            }
          }
        },
        any);
  }

  template <typename Id>
  static Fingerprint OwnFingerprint(const Id& id) {
    if constexpr (kIs<Id, Fingerprint>) {
      return id;
    } else {
      return FingerprintOf(id);
    }
  }

  template <typename Id>
  void AskSimilarEach(const Id* ids, std::size_t count, std::uint8_t* answers, std::uint8_t domain) const {
    Fingerprint fingerprints[256];
    constexpr std::size_t kAtOnce = sizeof(fingerprints) / sizeof(fingerprints[0]);
    for (std::size_t from = 0; from < count; from += kAtOnce) {
      const std::size_t here = std::min(kAtOnce, count - from);
      for (std::size_t i = 0; i < here; ++i)
        fingerprints[i] = internal::InDomain(OwnFingerprint(ids[from + i]), domain);
      AskEach(similar_, fingerprints, here, answers + from);
    }
  }

  template <typename Kind>
  static Parsed<Filter> ParseFilter(std::string_view payload) {
    auto filter = Kind::Parse(payload);
    if (!filter) return filter.error();
    return Filter(*std::move(filter));
  }

  static Parsed<Filter> ParseFilter(Format format, std::string_view payload) {
    switch (format) {
      case Format::kSplitBlockBloom:
        return ParseFilter<SplitBlockBloom>(payload);
      case Format::kBloom:
        return ParseFilter<Bloom>(payload);
      case Format::kCountingBloom:
        return ParseFilter<CountingBloom>(payload);
      case Format::kDLeft:
        return ParseFilter<DLeft>(payload);
      case Format::kQuotient:
        return ParseFilter<Quotient>(payload);
      case Format::kCuckoo:
        return ParseFilter<Cuckoo>(payload);
      case Format::kIndexedCuckoo:
        return ParseFilter<IndexedCuckoo>(payload);
      case Format::kBinaryFuse8:
        return ParseFilter<BinaryFuse8>(payload);
      case Format::kBinaryFuse16:
        return ParseFilter<BinaryFuse16>(payload);
      case Format::kDayChain:
        return ParseFilter<DayChain>(payload);
      case Format::kFingerprints:
        return ParseFilter<Fingerprints>(payload);
    }
    return Error{ErrorCode::kUnknownFormat, "format is unknown"};
  }

  static Parsed<Snapshot> ParseCopy(std::string_view bytes, Updates updates) {
    auto copy = std::make_shared<const std::vector<char>>(bytes.begin(), bytes.end());
    const std::string_view kept(copy->data(), copy->size());
    return ParseAs(kept, std::move(copy), updates);
  }

  static Parsed<Snapshot> ParseAs(std::string_view bytes, Owned owned, Updates updates) {
    const auto envelope = internal::ParseEnvelope(bytes, updates);
    if (!envelope) return envelope.error();
    auto filter = ParseFilter(envelope->format, envelope->payload);
    if (!filter) return filter.error();
    if (!envelope->has_similar)
      return Snapshot(*envelope, bytes, std::move(owned), *std::move(filter), Fingerprints());
    auto similar = ParseFilter(envelope->similar_format, envelope->similar_payload);
    if (!similar) return Error{similar.error().code, "what is similar: " + similar.error().message};
    return Snapshot(*envelope, bytes, std::move(owned), *std::move(filter), *std::move(similar));
  }

  internal::Envelope envelope_;
  std::string_view bytes_;
  Owned owned_;  // null: the bytes are the caller's
  Filter filter_;
  Filter similar_;  // of nothing where the snapshot doesn't say what is similar
};

}  // namespace seen::client
