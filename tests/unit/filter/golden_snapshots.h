#pragma once
// The files of tests/golden/snapshot, as this program makes them today. Readers in other languages are held
// to them.

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "filter/snapshot.h"
#include "model/day.h"

namespace seen::golden {

/// Of the kinds that know days: what was shown on one.
struct GoldenDay {
  Day day;
  uint32_t first_second = 0, last_second = 0;
  std::vector<std::string> seen;
};

/// What an indexed cuckoo filter must say of an item, from the code that wrote the filter.
struct GoldenEntry {
  std::string id;
  IndexedItem item;
};

/// Of snapshots that say what is similar: ids for which the second filter answers so.
struct GoldenSimilar {
  std::vector<std::string> near, not_near;
  std::vector<std::string> groups, not_groups;
};

struct GoldenSnapshot {
  std::string file;
  std::string note;
  std::string bytes;
  std::vector<std::string> seen;    // ids in it
  std::vector<std::string> unseen;  // ids not in it, for which it answers so
  std::vector<GoldenDay> days;      // newest first; empty: this kind knows none
  GoldenSimilar similar;
  // For values whose ids would be hard to find.
  std::vector<Fingerprint> seen_fingerprints = {}, unseen_fingerprints = {};
  // Which days of a chain a reader leaves out. nullopt: by the middle one of `days`.
  std::optional<uint32_t> created_second = std::nullopt;
  std::optional<Day> from_day = std::nullopt;
  std::vector<GoldenEntry> entries = {};  // each must be found
  bool counts = true;                     // whether the header's counts are those of the lists
};

/// Bytes a reader must refuse.
struct RefusedSnapshot {
  std::string file;
  int step;  // the step of "What to refuse" that the bytes fail
  std::string why;
  std::string bytes;
  bool needs_updates = false;  // whoever reads updates as well takes it, as the daemon does
};

std::vector<GoldenSnapshot> Snapshots();
std::vector<GoldenSnapshot> SnapshotsOfOtherKinds();  // than the default
std::vector<GoldenSnapshot> SnapshotsWithSimilar();
std::vector<GoldenSnapshot> SnapshotsAtTheEdges();  // the daemon doesn't write these
std::vector<GoldenSnapshot> IndexedSnapshotsAtTheEdges();
std::vector<RefusedSnapshot> Refused();
std::vector<RefusedSnapshot> RefusedEnvelopes();
std::vector<RefusedSnapshot> RefusedPayloads();
std::vector<RefusedSnapshot> RefusedWithSimilar();

/// Of the kinds that know days: the items by day, newest first; of a few days the first have more.
std::vector<GoldenDay> Spread(const std::vector<std::string>& ids);
/// With `similar` as a second filter. nullopt: without.
std::string Rendered(const SnapshotMeta& meta, const std::vector<std::string>& ids,
                     const std::vector<GoldenDay>& days,
                     std::optional<std::span<const Fingerprint>> similar = std::nullopt);
/// Those of `candidates` that the bytes' first filter says no to.
std::vector<std::string> UnseenOf(const std::string& bytes, const std::vector<std::string>& candidates);

std::vector<std::string> IntegerIds();
std::vector<std::string> UnicodeIds();
/// An id of so many bytes: the alphabet, again and again.
std::string OfLength(size_t bytes);
/// prefix + number, from `first` on.
std::vector<std::string> Numbered(std::string_view prefix, int first, int count);

/// index.json: names every file, what it holds, and hash values to test a reader's own hashing with.
std::string Index();
/// watermarks.json: records of the topic of watermarks, which of them a reader refuses, and what it then
/// answers.
std::string WatermarkCases();
/// also_seen.json: what a reader answers if it knows ids that count as seen besides a snapshot.
std::string AlsoSeenCases();

}  // namespace seen::golden
