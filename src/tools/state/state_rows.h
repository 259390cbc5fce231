#pragma once
// State is rows from a source to a sink. Sinks:
//
//   a directory        IntoDirectory      of a daemon that isn't running
//   the state topic    IntoTopic          one base a partition: daemons with empty directories restore it
//   a digest           IntoDigest         state_report.h
//   JSON lines         IntoLines          one line a user and filter
//
// Sources: stored_state.h (a directory, a backup, the state topic), resharded.h (several of them, through a
// router to another number of partitions), from_history.h (files or topics). The table of commands is in
// state_commands.cc.
// Between a running daemon, a backup and a directory travel files, not rows: backup_directory.h.

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "flow/store_port.h"
#include "kafka/client_settings.h"
#include "rows/descriptor.h"
#include "rows/row_batch.h"
#include "store/resting_rows.h"

namespace seen {

/// What a partition's state begins with. All other rows are its users'.
struct PartitionHead {
  StoreDescriptor descriptor;
  Position position;
};
/// The head's rows, ascending.
RowBatch HeadRows(const PartitionHead& head);

/// Where rows go. CopyState makes the calls, in the order of the functions here. One thread, except that up
/// to threads() threads may call Add and End, for different partitions. `place`: of the partition in Begin's
/// `heads`.
class CopySink {
 public:
  virtual ~CopySink() = default;
  /// Before anything is read. kRefused, with the remedy: there is state to keep, or it is in use.
  virtual Status Prepare(int32_t /*partitions*/) { return {}; }
  /// Makes a folder for files of sorted rows, which only this run uses. For sources that sort.
  virtual Result<std::string> SortFolder() = 0;
  virtual unsigned threads() const { return 1; }
  /// Replaces existing state. The state topic and a directory take all partitions, in their order.
  virtual Status Begin(std::vector<PartitionHead> heads) = 0;
  /// The users' rows: all puts, with ascending keys in each partition. `stored`: the row's store, which has
  /// the other rows of the user; nullptr: the row is of no store.
  virtual Status Add(int32_t place, const Row& row, RestingRows* stored) = 0;
  /// The partition has no more rows.
  virtual Status End(int32_t /*place*/) { return {}; }
  virtual Status Finish() { return {}; }
  /// Removes the files of sorted rows. A source that sorts calls it once nobody reads them.
  virtual void Clear() {}
  /// The size of the state as stored there.
  virtual uint64_t StateBytes() const { return 0; }
};

/// Where rows come from. One thread. Each call once, in the order of the functions.
class CopySource {
 public:
  virtual ~CopySource() = default;
  virtual int32_t partitions() const = 0;
  /// Reads what must be known before the first row. May sort rows in the sink's SortFolder.
  virtual Result<std::vector<PartitionHead>> Heads(CopySink& sink) = 0;
  /// Adds all rows to the sink, and ends its partitions.
  virtual Status PassRows(CopySink& sink) = 0;
};

/// The first error of the source or the sink. After an error in the middle the state there isn't whole.
Status CopyState(CopySource& source, CopySink& sink);

struct DirectorySettings {
  std::string directory;
  uint64_t memory_bytes = 0;
  unsigned threads = 1;
  bool replace = false;  // drop existing state
};
std::unique_ptr<CopySink> IntoDirectory(const DirectorySettings& settings);

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
std::unique_ptr<CopySink> IntoTopic(const TopicSettings& settings);

/// docs/SEENCTL.md, "export". `filter` empty: all filters. `path` empty: standard output. The rows must be of
/// a store.
std::unique_ptr<CopySink> IntoLines(const std::string& filter, const std::string& path);

}  // namespace seen
