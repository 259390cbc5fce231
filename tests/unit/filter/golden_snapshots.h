#pragma once
// The files of tests/golden/snapshot, as this program makes them today. Readers in other languages are held
// to them.

#include <string>
#include <string_view>
#include <vector>

namespace seen::golden {

struct GoldenSnapshot {
  std::string file;
  std::string note;
  std::string bytes;
  std::vector<std::string> seen;    // ids in it
  std::vector<std::string> unseen;  // ids not in it, for which it answers so
};

/// Bytes a reader must refuse.
struct RefusedSnapshot {
  std::string file;
  std::string why;
  std::string bytes;
};

std::vector<GoldenSnapshot> Snapshots();
std::vector<RefusedSnapshot> Refused();

/// index.json: names every file, what it holds, and hash values to test a reader's own hashing with.
std::string Index();

}  // namespace seen::golden
