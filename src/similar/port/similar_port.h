#pragma once
// What the trunk asks of the wing, and what it shows: why a candidate is left out, the items that are similar
// to a text, and the counts of a partition of items.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "similar/port/item_group.h"

namespace seen {

/// Why an item that wasn't seen itself is left out or demoted.
enum class SimilarReason : uint8_t {
  kNear,   // it is near an item that was seen
  kGroup,  // an item of its group was seen
  kPage,   // it is similar to an item that stands before it in this answer
};

constexpr std::string_view SimilarReasonName(SimilarReason because) {
  constexpr std::string_view kNames[] = {"near", "group", "page"};
  return kNames[static_cast<size_t>(because)];
}

/// What an item is similar to.
struct SimilarTo {
  std::string like;  // the item that was seen, or that stays; empty: only its fingerprint is known
  SimilarReason because = SimilarReason::kNear;
  std::optional<double> similarity = std::nullopt;  // to that item, if known
  friend bool operator==(const SimilarTo&, const SimilarTo&) = default;
};

struct SimilarCandidate {
  uint32_t candidate = 0;  // index into the candidates
  SimilarTo to;
  friend bool operator==(const SimilarCandidate&, const SimilarCandidate&) = default;
};

/// An item's text, in UTF-8. Invalid bytes count as U+FFFD.
struct ItemText {
  std::string_view title = {};
  std::string_view text = {};
  std::string_view lang = {};  // BCP 47, e.g. "zh" or "en-GB"; empty: unknown
};

inline constexpr size_t kSimilarMax = 100;  // of one answer

struct SimilarQuestion {
  ItemText text;
  std::string_view except;  // an item id to leave out; empty: none
  size_t limit = 10;        // 1 to kSimilarMax
};

struct SimilarAnswer {
  std::vector<NearItem> similar;  // nearest first
  bool cut = false;               // only the beginning of the text counted
};

/// Finds the items that are similar to a text that isn't stored. Implemented by similar/daemon/items.h; faked
/// in serve's tests. Any thread.
class SimilarPort {
 public:
  virtual ~SimilarPort() = default;
  /// kNotFound: this daemon groups nothing. kUnavailable: the language's index isn't here, or hasn't caught
  /// up: answer 503 with Retry-After.
  virtual Result<SimilarAnswer> Similar(const SimilarQuestion& question) = 0;
};

/// Counts of one partition of items since it was opened.
struct GroupFigures {
  uint64_t items_total = 0;    // read, without the deleted
  uint64_t copies_total = 0;   // verbatim copies: one look-up each
  uint64_t grouped_total = 0;  // joined an older item's group, copies included
  uint64_t deleted_total = 0;
  uint64_t moved_total = 0;  // changed their group: a new text, or the group's first item has gone
  uint64_t no_text_total = 0;
  uint64_t too_old_total = 0;     // arrived outside the window: compared, not kept
  uint64_t candidates_total = 0;  // verified
  uint64_t compared_total = 0;    // SimHashes in lists that were read
  uint64_t lists_cut_total = 0;   // entries of lists that list_max left out
  uint64_t candidates_cut_total = 0;
  uint64_t times_corrected_total = 0;  // 1: the stored index time was beyond stored_time_max
  uint64_t sent_total = 0;             // records handed to the topic of groups
  uint64_t items = 0;                  // in the index, some of them past the window
  uint64_t bytes = 0;                  // of the index on disk
};

}  // namespace seen
