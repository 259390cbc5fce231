#include "flow/user_rows.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <new>
#include <utility>

#include "base/check.h"

namespace seen {
namespace {
constexpr uint32_t kIndexMin = 1024;
constexpr uint32_t kIndexMax = 1u << 30;
constexpr size_t kAlignment = alignof(UserRows::Row);
static_assert(sizeof(UserRows::User) <= 32);
}  // namespace

struct UserRows::Index {
  explicit Index(uint32_t size) : mask(size - 1), cells(new std::atomic<uint64_t>[size]()) {}
  uint32_t mask;
  // Upper half: the key's tag, its first 32 bits; lower half: the user's number + 1. 0: free.
  std::unique_ptr<std::atomic<uint64_t>[]> cells;

  static uint32_t TagOf(const UserKey& key) { return static_cast<uint32_t>(key.high >> 32); }
  uint32_t Home(const UserKey& key) const { return static_cast<uint32_t>(key.low) & mask; }

  void Insert(const UserKey& key, uint32_t number) {
    uint32_t at = Home(key);
    while (cells[at].load(std::memory_order_relaxed) != 0) at = (at + 1) & mask;
    cells[at].store(uint64_t{TagOf(key)} << 32 | (number + 1), std::memory_order_release);
  }
};

UserRows::UserRows(std::shared_ptr<TailMemory> memory)
    : memory_(std::move(memory)),
      user_bits_(static_cast<uint32_t>(std::countr_zero(memory_->chunk_bytes() / 32))),
      // A user comes with a row, so that their bytes bound the users too.
      user_chunks_max_(memory_->tail_bytes_max() / memory_->chunk_bytes() + 2),
      user_chunks_(std::make_unique<User*[]>(user_chunks_max_)) {
  const uint32_t cells = std::bit_ceil(std::min(memory_->last_users(), kIndexMax / 4) * 2 + 1);
  indexes_.push_back(std::make_unique<Index>(std::max(cells, kIndexMin)));
  index_.store(indexes_.back().get(), std::memory_order_release);
}

UserRows::~UserRows() { memory_->GiveBack(std::move(chunks_), users_); }

std::byte* UserRows::NewBytes(size_t size) {
  size = (size + kAlignment - 1) / kAlignment * kAlignment;
  AddBytes(size);
  if (size > memory_->chunk_bytes()) {
    return long_rows_.emplace_back(std::make_unique_for_overwrite<std::byte[]>(size)).get();
  }
  if (size > left_) {
    AddBytes(left_);  // given up
    next_ = chunks_.emplace_back(memory_->Take());
    left_ = memory_->chunk_bytes();
  }
  left_ -= size;
  return std::exchange(next_, next_ + size);
}

void UserRows::Prefetch(const UserKey& user) const {
  const Index& index = *index_.load(std::memory_order_acquire);
  __builtin_prefetch(&index.cells[index.Home(user)]);
}

UserRows::User* UserRows::Find(const UserKey& user) const {
  const Index* index = index_.load(std::memory_order_acquire);
  const uint32_t tag = Index::TagOf(user);
  for (uint32_t at = index->Home(user);; at = (at + 1) & index->mask) {
    const uint64_t cell = index->cells[at].load(std::memory_order_acquire);
    if (cell == 0) return nullptr;
    if (static_cast<uint32_t>(cell >> 32) != tag) continue;
    User& found = UserAt(static_cast<uint32_t>(cell) - 1);
    if (found.key == user) return &found;
  }
}

const UserRows::Row* UserRows::Newest(const UserKey& user) const {
  const User* found = Find(user);
  return found ? found->newest.load(std::memory_order_acquire) : nullptr;
}

void UserRows::Append(const UserKey& user, std::string_view row) {
  std::byte* const bytes = NewBytes(sizeof(Row) + row.size());
  Row* const appended = new (bytes) Row{nullptr, static_cast<uint32_t>(row.size())};
  std::memcpy(bytes + sizeof(Row), row.data(), row.size());
  User* const found = Find(user);
  User& of = found ? *found : NewUser(user);
  appended->older = of.newest.load(std::memory_order_relaxed);
  of.newest.store(appended, std::memory_order_release);
}

UserRows::User& UserRows::NewUser(const UserKey& user) {
  if (users_ * 2 >= indexes_.back()->mask) Grow();
  const uint32_t chunk = users_ >> user_bits_;
  if ((users_ & ((1u << user_bits_) - 1)) == 0) {
    Check(chunk < user_chunks_max_, "rows have more users than their bytes allow");
    user_chunks_[chunk] = reinterpret_cast<User*>(chunks_.emplace_back(memory_->Take()));
  }
  User& made = *new (&UserAt(users_)) User{user, {nullptr}};
  AddBytes(sizeof(User));
  indexes_.back()->Insert(user, users_++);
  return made;
}

void UserRows::Grow() {
  const Index& old = *indexes_.back();
  auto grown = std::make_unique<Index>((old.mask + 1) * 2);
  for (uint32_t number = 0; number < users_; ++number) grown->Insert(UserAt(number).key, number);
  AddBytes(uint64_t{grown->mask + 1} * sizeof(uint64_t));
  index_.store(grown.get(), std::memory_order_release);
  indexes_.push_back(std::move(grown));
}

std::vector<const UserRows::User*> UserRows::SortedUsers() const {
  std::vector<const User*> users(users_);
  for (uint32_t number = 0; number < users_; ++number) users[number] = &UserAt(number);
  std::sort(users.begin(), users.end(), [](const User* a, const User* b) { return a->key < b->key; });
  return users;
}

}  // namespace seen
