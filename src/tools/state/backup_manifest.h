#pragma once
// The parts of one backup: schemas/backup.md, "Manifests".

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "model/set_digest.h"
#include "tools/state/state_report.h"

namespace seen {

/// Raised if an older seenctl would misread what a newer one writes.
inline constexpr int kBackupFormat = 1;

struct BackupFile {
  std::string name;  // in the partition's folder
  uint64_t bytes = 0;
  Hash128 checksum;  // of the whole file: its name in the backup directory
  Hash128 tail;      // of its last 64 KiB
  friend bool operator==(const BackupFile&, const BackupFile&) = default;
};

struct BackedUpPartition {
  int32_t partition = 0;
  std::vector<BackupFile> files;  // by name
};

struct BackupManifest {
  uint32_t number = 0;  // ascending, from 1
  TimeMs made_at;
  std::string program;   // version of the program that made it
  std::string instance;  // the daemon whose state it is
  std::string partitioner;
  StateReport report;  // digests and positions, as the daemon computed them
  std::vector<BackedUpPartition> partitions;

  uint64_t Files() const;
  uint64_t Bytes() const;
};

std::string EncodeManifest(const BackupManifest& manifest);
/// kRefused: a newer version wrote the text. kCorrupt: the text isn't what EncodeManifest wrote.
Result<BackupManifest> DecodeManifest(std::string_view text);

}  // namespace seen
