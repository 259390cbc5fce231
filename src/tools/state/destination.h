#pragma once
// State is rows from a source to a destination.
//
//   from                                               into
//   history (from_history.h)                           a directory    (IntoDirectory)
//   a directory, a backup (state_source.h)             the state topic (IntoTopic)
//     RowRouter between them if the number             a digest       (IntoDigest)
//     of partitions changes (reshard_command.cc)

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "flow/store_port.h"
#include "kafka/client_settings.h"
#include "rows/descriptor.h"
#include "rows/row_batch.h"
#include "tools/state/state_report.h"

namespace seen {

/// What a partition's state begins with. All other rows are its users'.
struct PartitionHead {
  StoreDescriptor descriptor;
  Position position;
};
/// The head's rows, ascending.
RowBatch HeadRows(const PartitionHead& head);

/// Calls in this order:
///   Prepare
///   SortFolder       only if rows must be sorted first
///   Begin
///   Add, then End    for each partition
///   Finish, Clear
/// One thread, except that up to threads() threads may call Add and End, for different partitions.
class StateDestination {
 public:
  virtual ~StateDestination() = default;
  /// Call it before reading anything. kRefused, with the remedy: there is state to keep, or it is in use.
  virtual Status Prepare(int32_t partitions) = 0;
  /// Makes a folder for files of sorted rows, which only this run uses. After Prepare.
  virtual Result<std::string> SortFolder() = 0;
  virtual unsigned threads() const { return 1; }
  /// Replaces existing state. `heads`: of all partitions, in their order.
  virtual Status Begin(std::vector<PartitionHead> heads) = 0;
  /// The users' rows: all puts, with ascending keys in each partition.
  virtual Status Add(int32_t partition, const Row& row) = 0;
  /// The partition has no more rows.
  virtual Status End(int32_t) { return {}; }
  virtual Status Finish() { return {}; }
  /// Removes the files of sorted rows. Call it once nobody reads them.
  virtual void Clear() = 0;
  /// The size of the state as stored there.
  virtual uint64_t StateBytes() const { return 0; }
};

struct DirectorySettings {
  std::string directory;
  uint64_t memory_bytes = 0;
  unsigned threads = 1;
  bool replace = false;  // drop existing state
};
std::unique_ptr<StateDestination> IntoDirectory(const DirectorySettings& settings);

struct TopicSettings {
  std::string option;   // the option that names the topic, for messages
  std::string command;  // in the openings: who wrote the state
  std::string brokers;
  ClientSettings client;
  std::string topic;
  std::string group;     // of the daemons that restore the state
  std::string remedy;    // another remedy for a topic with state: "give --replace, or "; empty: none
  std::string again;     // "run this command again with --replace"
  std::string scratch;   // parent of SortFolder; empty: the system's folder for temporary files
  bool replace = false;  // existing state stops counting
  bool quiet = false;
};
std::unique_ptr<StateDestination> IntoTopic(const TopicSettings& settings);

/// Sums the rows, and stores nothing. Finish completes `report`, which must outlive the result. `scratch`: as
/// in TopicSettings.
std::unique_ptr<StateDestination> IntoDigest(const std::string& scratch, StateReport& report);

}  // namespace seen
