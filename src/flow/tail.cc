#include "flow/tail.h"

#include <algorithm>
#include <cstring>

#include "base/check.h"

namespace seen {
namespace {
constexpr uint32_t kFirstIndexSize = 4096;
// One record may overshoot the limit: 10,000 items of one user.
constexpr uint64_t kOvershootBytes = 1024 * 1024;
}  // namespace

struct Tail::Index {
  explicit Index(uint32_t size) : mask(size - 1), cells(new std::atomic<uint64_t>[size]()) {}
  uint32_t mask;
  // Upper half: the key's tag; lower half: slot number + 1. 0: free.
  std::unique_ptr<std::atomic<uint64_t>[]> cells;

  static uint32_t TagOf(const UserKey& key) { return static_cast<uint32_t>(key.high); }
  uint32_t Home(const UserKey& key) const { return static_cast<uint32_t>(key.low) & mask; }

  void Insert(const UserKey& key, uint32_t slot_number) {
    uint32_t at = Home(key);
    while (cells[at].load(std::memory_order_relaxed) != 0) at = (at + 1) & mask;
    cells[at].store(uint64_t{TagOf(key)} << 32 | (slot_number + 1), std::memory_order_release);
  }
};

Tail::Tail(uint64_t bytes_max)
    : bytes_max_(bytes_max),
      entry_chunks_max_((bytes_max + kOvershootBytes) / (kEntriesPerChunk * sizeof(Entry)) + 2),
      slot_chunks_max_((bytes_max + kOvershootBytes) / (kSlotsPerChunk * sizeof(UserSlot)) + 2) {
  entry_chunks_ = std::make_unique<std::unique_ptr<Entry[]>[]>(entry_chunks_max_);
  slot_chunks_ = std::make_unique<std::unique_ptr<UserSlot[]>[]>(slot_chunks_max_);
  indexes_.push_back(std::make_unique<Index>(kFirstIndexSize));
  index_.store(indexes_.back().get(), std::memory_order_release);
}

Tail::~Tail() = default;

const Tail::UserSlot* Tail::Find(const UserKey& key) const {
  const Index* index = index_.load(std::memory_order_acquire);
  const uint32_t tag = Index::TagOf(key);
  for (uint32_t at = index->Home(key);; at = (at + 1) & index->mask) {
    const uint64_t cell = index->cells[at].load(std::memory_order_acquire);
    if (cell == 0) return nullptr;
    if (static_cast<uint32_t>(cell >> 32) != tag) continue;
    const UserSlot& slot = SlotAt(static_cast<uint32_t>(cell) - 1);
    if (slot.key == key) return &slot;
  }
}

Tail::UserSlot& Tail::SlotOf(const UserKey& key, std::string_view user_id) {
  if (const UserSlot* found = Find(key)) {
    auto& slot = const_cast<UserSlot&>(*found);  // ours: we are its only writer
    if (slot.user_id != user_id) [[unlikely]]
      slot.ids_met = true;
    return slot;
  }
  if (slot_count_ * 2 >= indexes_.back()->mask) Grow();
  const uint32_t number = slot_count_++;
  auto& chunk = slot_chunks_[number / kSlotsPerChunk];
  if (!chunk) {
    Check(number / kSlotsPerChunk < slot_chunks_max_, "the tail has more users than its bytes allow");
    chunk = std::make_unique<UserSlot[]>(kSlotsPerChunk);
    AddBytes(kSlotsPerChunk * sizeof(UserSlot));
  }
  UserSlot& slot = SlotAt(number);
  slot.key = key;
  slot.user_id = StoreId(user_id);
  indexes_.back()->Insert(key, number);
  return slot;
}

void Tail::Append(UserSlot& slot, const Change& change, FilterMask filters) {
  const uint32_t number = entry_count_++;
  auto& chunk = entry_chunks_[number / kEntriesPerChunk];
  if (!chunk) {
    Check(number / kEntriesPerChunk < entry_chunks_max_, "the tail has more entries than its bytes allow");
    chunk = std::make_unique<Entry[]>(kEntriesPerChunk);
    AddBytes(kEntriesPerChunk * sizeof(Entry));
  }
  chunk[number % kEntriesPerChunk] = {change.fingerprint.value, change.second,
                                      slot.newest.load(std::memory_order_relaxed), filters, change.kind};
  slot.newest.store(number + 1, std::memory_order_release);
}

void Tail::Grow() {
  const Index& old = *indexes_.back();
  auto grown = std::make_unique<Index>((old.mask + 1) * 2);
  for (uint32_t number = 0; number < slot_count_; ++number) grown->Insert(SlotAt(number).key, number);
  AddBytes(uint64_t{grown->mask + 1} * sizeof(uint64_t));
  index_.store(grown.get(), std::memory_order_release);
  indexes_.push_back(std::move(grown));
}

std::string_view Tail::StoreId(std::string_view user_id) {
  if (user_id.size() > id_chunk_left_) {
    id_chunks_.push_back(std::make_unique<char[]>(kIdChunkBytes));
    id_next_ = id_chunks_.back().get();
    id_chunk_left_ = kIdChunkBytes;
    AddBytes(kIdChunkBytes);
  }
  std::memcpy(id_next_, user_id.data(), user_id.size());
  const std::string_view stored(id_next_, user_id.size());
  id_next_ += user_id.size();
  id_chunk_left_ -= user_id.size();
  return stored;
}

std::string_view Tail::Read(const UserKey& key, FilterMask filters, std::vector<Change>& out) const {
  const UserSlot* slot = Find(key);
  if (!slot) return {};
  ReadSlot(*slot, filters, out);
  return slot->user_id;
}

void Tail::ReadSlot(const UserSlot& slot, FilterMask filters, std::vector<Change>& out) const {
  const auto first = static_cast<std::ptrdiff_t>(out.size());
  for (uint32_t next = slot.newest.load(std::memory_order_acquire); next != 0;) {
    const Entry& entry = EntryAt(next - 1);
    if (entry.filters & filters) out.push_back({{entry.fingerprint}, entry.second, entry.kind});
    next = entry.next;
  }
  std::reverse(out.begin() + first, out.end());
}

std::vector<const Tail::UserSlot*> Tail::SortedUsers() const {
  std::vector<const UserSlot*> users(slot_count_);
  for (uint32_t number = 0; number < slot_count_; ++number) users[number] = &SlotAt(number);
  std::sort(users.begin(), users.end(), [](const UserSlot* a, const UserSlot* b) { return a->key < b->key; });
  return users;
}

}  // namespace seen
