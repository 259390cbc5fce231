#pragma once
// Which group of daemons writes the outputs: snapshots, unexposed items, watermarks, dead letters, the state
// topic. Others that read the same input are replicas of it: they keep the same state, and answer.

#include <cstdint>
#include <optional>

namespace seen {

/// Any thread.
class OutputsOwner {
 public:
  virtual ~OutputsOwner() = default;
  /// This process's group does.
  virtual bool IsThisGroup() const = 0;
  /// Up to this offset of the input partition the owner has published all changes, as its last beat said
  /// (PublishFlow::PublishedTo); -1: not known.
  virtual int64_t PublishedTo(int32_t partition) const = 0;
};

}  // namespace seen
