#pragma once
// Which group of daemons writes the outputs: snapshots, unexposed items, watermarks, dead letters, the state
// topic. Other groups that read the same input are its replicas: they keep the same state, and answer.

#include <cstdint>
#include <optional>

namespace seen {

/// Any thread.
class OutputsOwner {
 public:
  virtual ~OutputsOwner() = default;
  /// Whether this process's group writes the outputs.
  virtual bool IsThisGroup() const = 0;
  /// The owner has published all changes below this offset of the input partition, as its last beat said
  /// (PublishFlow::PublishedTo). -1: not known.
  virtual int64_t PublishedTo(int32_t partition) const = 0;
};

}  // namespace seen
