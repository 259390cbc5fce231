#include "flow/heavy_turn.h"

#include <array>
#include <atomic>

namespace seen {
namespace {

constexpr size_t kHeavyBytes =
    256 << 10;                      // encoded: about 75,000 items, for which an answer takes some 3 MiB
constexpr size_t kChangeBytes = 4;  // of a change, once it is encoded

std::mutex one_at_a_time;
// Which users were heavy: a part of the key each, at the place that another part gives; 0: none. Users who
// collide only wait, or don't wait once.
std::array<std::atomic<uint32_t>, 1024> heavy_users{};
thread_local HeavyTurn* of_thread = nullptr;

std::atomic<uint32_t>& PlaceOf(const UserKey& user) { return heavy_users[user.low % heavy_users.size()]; }
uint32_t TagOf(const UserKey& user) { return static_cast<uint32_t>(user.high) | 1U; }

}  // namespace

HeavyTurn::HeavyTurn(const UserKey& user) : user_(user), turn_(one_at_a_time, std::defer_lock) {
  of_thread = this;
  if (WasHeavy(user)) [[unlikely]]
    turn_.lock();
}

HeavyTurn::~HeavyTurn() {
  of_thread = nullptr;
  if (!turn_) [[likely]]
    return;
  OfThread() = {};
  if (!is_known_) PlaceOf(user_).store(0, std::memory_order_relaxed);  // no longer heavy
}

bool HeavyTurn::Await(std::string& stored, size_t changes) {
  if (stored.size() + changes * kChangeBytes < kHeavyBytes || of_thread == nullptr) [[likely]]
    return false;
  HeavyTurn& turn = *of_thread;
  turn.is_known_ = true;
  PlaceOf(turn.user_).store(TagOf(turn.user_), std::memory_order_relaxed);
  if (turn.turn_) return false;
  stored = {};
  const auto since = std::chrono::steady_clock::now();
  turn.turn_.lock();
  turn.waited_ = std::chrono::ceil<std::chrono::milliseconds>(std::chrono::steady_clock::now() - since);
  return true;
}

bool HeavyTurn::IsHeld() { return of_thread != nullptr && of_thread->turn_; }

bool HeavyTurn::WasHeavy(const UserKey& user) {
  return PlaceOf(user).load(std::memory_order_relaxed) == TagOf(user);
}

bool HeavyTurn::DropHeavy(const UserKey& user, std::string& stored) {
  if (stored.size() < kHeavyBytes) [[likely]]
    return false;
  PlaceOf(user).store(TagOf(user), std::memory_order_relaxed);
  stored = {};
  return true;
}

HeavyTurn::Memory& HeavyTurn::OfThread() {
  thread_local Memory memory;
  return memory;
}

}  // namespace seen
