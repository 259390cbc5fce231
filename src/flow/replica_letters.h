#pragma once
// Dead letters of owners and replicas. The owner sends them. A replica keeps its last letters until the
// owner's beats say that the owner has come past them, so that a promotion leaves none out.

#include <cstdint>
#include <deque>
#include <map>
#include <string>

#include "base/mutex.h"
#include "flow/log_port.h"
#include "owner/outputs_owner.h"

namespace seen {

/// Any thread.
class ReplicaLetters final : public DeadLetterSink {
 public:
  static constexpr size_t kBytesMax = 4 << 20;  // kept in all; beyond, the oldest of its partition is dropped

  /// Both outlive this.
  ReplicaLetters(DeadLetterSink& sink, const OutputsOwner& owner) : sink_(sink), owner_(owner) {}

  bool TrySend(const DeadLetter& letter) override;
  /// If this group has become the owner, the kept letters are sent first.
  int64_t OldestUnacknowledged(int32_t partition) const override;
  void Forget(int32_t partition) override;

 private:
  struct Kept {
    Rejection rejection;
    Record record;  // its key and value are views of the strings
    std::string key;
    std::string value;
    size_t bytes() const { return sizeof(Kept) + key.size() + value.size(); }
  };
  using Letters = std::deque<Kept>;  // of a partition, ascending by offset
  void Keep(const DeadLetter& letter) REQUIRES(mutex_);
  bool SendKept(int32_t partition, Letters& letters) const REQUIRES(mutex_);
  void DropFirst(Letters& letters) const REQUIRES(mutex_);

  DeadLetterSink& sink_;
  const OutputsOwner& owner_;
  mutable Mutex mutex_;
  mutable std::map<int32_t, Letters> kept_ GUARDED_BY(mutex_);
  mutable size_t bytes_ GUARDED_BY(mutex_) = 0;
};

}  // namespace seen
