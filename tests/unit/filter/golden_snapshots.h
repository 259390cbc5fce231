#pragma once
// The files of tests/golden/snapshot, as this program makes them today. Readers in other languages are held
// to them.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "model/day.h"

namespace seen::golden {

/// Of the kinds that know days: what was shown on one.
struct GoldenDay {
  Day day;
  uint32_t first_second = 0, last_second = 0;
  std::vector<std::string> seen;
};

struct GoldenSnapshot {
  std::string file;
  std::string note;
  std::string bytes;
  std::vector<std::string> seen;    // ids in it
  std::vector<std::string> unseen;  // ids not in it, for which it answers so
  std::vector<GoldenDay> days;      // newest first; empty: this kind knows none
};

/// Bytes a reader must refuse.
struct RefusedSnapshot {
  std::string file;
  std::string why;
  std::string bytes;
};

std::vector<GoldenSnapshot> Snapshots();
std::vector<GoldenSnapshot> SnapshotsOfOtherKinds();  // than the default
std::vector<RefusedSnapshot> Refused();

std::vector<std::string> IntegerIds();
std::vector<std::string> UnicodeIds();
/// prefix + number, from `first` on.
std::vector<std::string> Numbered(std::string_view prefix, int first, int count);

/// index.json: names every file, what it holds, and hash values to test a reader's own hashing with.
std::string Index();

}  // namespace seen::golden
