#pragma once
// The files of tests/golden/update: records, what must be refused, and sequences of three topics with the
// answers of a reader. schemas/update.md, "Golden files".

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "model/hashes.h"
#include "model/update.h"

namespace seen::golden {

struct UpdateEntry {
  uint64_t user = 0;
  std::vector<Fingerprint> fingerprints;
};
struct GoldenSection {
  uint16_t mask = 1;
  AdditionKind kind = AdditionKind::kSeen;
  uint32_t until_s = 0;
  std::vector<UpdateEntry> entries;
};
struct GoldenUpdate {
  std::string name;
  UpdateHeader header;
  std::vector<std::string> filters = {"default"};
  std::vector<GoldenSection> sections = {};
  bool by_daemon = true;  // whether the daemon's writer makes these bytes
  std::string more_header = {};
  uint8_t reserved = 0;  // byte 3 of each section
};

/// As plainly as possible, from schemas/update.md.
std::string Encoded(const GoldenUpdate& update);
/// By the daemon's writer.
std::string WrittenByDaemon(const GoldenUpdate& update);
/// The same bytes with the right checksum.
std::string SealedUpdate(std::string bytes);
std::string Base64(std::string_view bytes);

/// Items of one user.
UpdateEntry EntryOf(std::string_view user, const std::vector<std::string>& items);

std::vector<GoldenUpdate> Updates();
struct RefusedUpdate {
  std::string name;
  int step;
  std::string why;
  std::string bytes;
};
std::vector<RefusedUpdate> RefusedUpdates();

/// index.json and sequences.json.
std::string UpdatesIndex();
std::string UpdateSequences();

}  // namespace seen::golden
