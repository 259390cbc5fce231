#pragma once
// Bounds the memory of look-ups. The answer for a user with a million items takes tens of MiB while it is
// made. So one thread at a time makes such an answer, the others wait, and no thread keeps that memory.

#include <chrono>
#include <cstddef>
#include <mutex>
#include <string>
#include <vector>

#include "model/change.h"
#include "model/delta_seen.h"
#include "model/hashes.h"

namespace seen {

/// A thread's look-up of a user, from before the first read until the answer is made. One at a time in a
/// thread.
class HeavyTurn {
 public:
  /// Waits if the user was heavy at the last look-up.
  explicit HeavyTurn(const UserKey& user);
  /// Gives back the memory of a heavy look-up.
  ~HeavyTurn();
  HeavyTurn(const HeavyTurn&) = delete;
  HeavyTurn& operator=(const HeavyTurn&) = delete;

  /// Call it with what was read of the user. True: the user is heavy, and the thread has waited for its turn.
  /// `stored` is empty then, so that those who wait hold nothing: read again. False, too, outside of a
  /// look-up.
  static bool Await(std::string& stored, size_t changes);
  /// How long Await took: the state may be that much older than it was when the look-up began.
  std::chrono::milliseconds waited() const { return waited_; }
  /// Whether the calling thread looks up a heavy user.
  static bool IsHeld();

  /// Whether the user was heavy when last read.
  static bool WasHeavy(const UserKey& user);
  /// For a user whose snapshot was rendered from `stored`. True: the user is heavy, and `stored` is empty
  /// now.
  static bool DropHeavy(const UserKey& user, std::string& stored);

  /// What a thread uses again for each look-up.
  struct Memory {
    std::vector<Change> changes;
    std::string stored;
    SeenReader reader;
  };
  static Memory& OfThread();

 private:
  const UserKey user_;
  std::unique_lock<std::mutex> turn_;
  std::chrono::milliseconds waited_{0};
  bool is_known_ = false;
};

}  // namespace seen
