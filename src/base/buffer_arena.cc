#include "base/buffer_arena.h"

#include <sys/types.h>

#include <cstddef>
#include <limits>
#include <optional>
#include <string>

// Of jemalloc. Weak, because programs under sanitizers have another allocator.
extern "C" [[gnu::weak]] int mallctl(const char* name, void* old, size_t* old_size, void* set,
                                     size_t set_size);

namespace seen {
namespace {

constexpr ssize_t kKeptMs = 100;  // a busy thread needs a buffer again within milliseconds

template <typename T>
bool Set(const std::string& name, T value) {
  return mallctl(name.c_str(), nullptr, nullptr, &value, sizeof value) == 0;
}

std::optional<unsigned> MakeArena() {
  unsigned made = 0;
  size_t size = sizeof made;
  if (mallctl == nullptr || mallctl("arenas.create", &made, &size, nullptr, 0) != 0) return std::nullopt;
  const std::string arena = "arena." + std::to_string(made) + ".";
  const bool is_set = Set(arena + "oversize_threshold", std::numeric_limits<size_t>::max()) &&
                      Set(arena + "dirty_decay_ms", kKeptMs) && Set(arena + "muzzy_decay_ms", ssize_t{0});
  return is_set ? std::optional(made) : std::nullopt;
}

}  // namespace

// jemalloc gives large pieces back at once only for threads in arenas of its own choice.
void KeepFreedBuffers() {
  static const std::optional<unsigned> arena = MakeArena();
  if (arena) Set("thread.arena", *arena);
}

}  // namespace seen
