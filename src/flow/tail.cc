#include "flow/tail.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <new>
#include <utility>

#include "base/result.h"

namespace seen {
namespace {
constexpr uint32_t kIdUnits = 16;  // taken at once for ids; an id has 512 bytes at most
// One record may overshoot the limit: 10,000 items of one user, each with 33 similar fingerprints.
constexpr uint64_t kOvershootBytes = 8 * 1024 * 1024;

// A radix sort, ascending by the upper halves: three passes of eleven bits.
void SortByUpperHalf(std::vector<uint64_t>& values) {
  constexpr int kBits = 11;
  constexpr uint32_t kDigits = 1u << kBits;
  std::vector<uint64_t> other(values.size());
  for (int shift = 32; shift < 64; shift += kBits) {
    std::array<uint32_t, kDigits> at{};
    for (const uint64_t value : values) ++at[value >> shift & (kDigits - 1)];
    uint32_t before = 0;
    for (uint32_t& count : at) before += std::exchange(count, before);
    for (const uint64_t value : values) other[at[value >> shift & (kDigits - 1)]++] = value;
    values.swap(other);
  }
}
}  // namespace

Tail::Tail(std::shared_ptr<TailMemory> memory, FilterMask similar_filters)
    : memory_(std::move(memory)),
      bytes_max_(memory_->tail_bytes_max()),
      similar_filters_(similar_filters),
      unit_bits_(static_cast<uint32_t>(std::countr_zero(memory_->chunk_bytes() / kUnit))),
      unit_mask_((1u << unit_bits_) - 1),
      chunks_max_((bytes_max_ + kOvershootBytes) / memory_->chunk_bytes() + 2),
      index_(memory_->last_users()) {
  chunks_ = std::make_unique<std::byte*[]>(chunks_max_);
}

Tail::~Tail() {
  std::vector<std::byte*> chunks(chunks_.get(), chunks_.get() + (unit_end_ >> unit_bits_));
  memory_->GiveBack(std::move(chunks), index_.size());
}

uint32_t Tail::NewUnits(uint32_t count) {
  if (unit_end_ - next_unit_ < count) {  // units taken together must not cross a chunk's end
    const size_t number = unit_end_ >> unit_bits_;
    Check(number < chunks_max_, "the tail has more in it than its bytes allow");
    chunks_[number] = memory_->Take();
    next_unit_ = unit_end_;
    unit_end_ += unit_mask_ + 1;
  }
  AddBytes(count * kUnit);
  const uint32_t unit = next_unit_;
  next_unit_ += count;
  return unit;
}

void Tail::PrefetchSlot(const UserKey& key) const {
  const uint32_t unit = index_.Find(key, [](uint32_t) { return true; });
  if (unit != UserIndex::kNone) PrefetchLine(UnitAt(unit));
}

void Tail::PrefetchBlock(const UserSlot& slot) const {
  const uint32_t newest = slot.newest.load(std::memory_order_acquire);
  if (newest != 0) PrefetchLine(UnitAt(newest - 1));
}

const Tail::UserSlot* Tail::Find(const UserKey& key) const {
  const uint32_t unit = index_.Find(key, [&](uint32_t at) { return SlotAt(at).key == key; });
  return unit == UserIndex::kNone ? nullptr : &SlotAt(unit);
}

Tail::UserSlot& Tail::SlotOf(const UserKey& key, std::string_view user_id, uint32_t id_check) {
  if (const UserSlot* found = Find(key)) {
    auto& slot = const_cast<UserSlot&>(*found);  // ours: this is its only writer
    if (slot.id_check != id_check) [[unlikely]]
      slot.has_collision = true;
    return slot;
  }
  const uint32_t unit = NewUnits(1);
  UserSlot& slot = *new (UnitAt(unit)) UserSlot{};
  slot.key = key;
  slot.id = StoreId(user_id);
  slot.id_check = id_check;
  const uint64_t index_bytes = index_.grown_bytes();
  index_.Insert(key, unit, [&](uint32_t at) { return SlotAt(at).key; });
  AddBytes(index_.grown_bytes() - index_bytes);
  return slot;
}

bool Tail::Takes(FilterMask of, ChangeKind kind, const Change& change, FilterMask filters) const {
  if (change.kind == ChangeKind::kSimilar) return (of & similar_filters_) == filters;
  return of == filters && kind == change.kind;
}

void Tail::Append(UserSlot& slot, const Change& change, FilterMask filters) {
  const bool similar = change.kind == ChangeKind::kSimilar;
  const ChangeKind kind = similar ? ChangeKind::kExposed : change.kind;  // of the slot or block it begins
  const Entry entry{change.fingerprint.value, change.second};
  const uint32_t newest = slot.newest.load(std::memory_order_relaxed);
  uint32_t units = 1;
  if (newest == 0) {
    const uint8_t used = slot.used.load(std::memory_order_relaxed);
    if (used == 0) {
      slot.filters = filters;
      slot.kind = kind;
    }
    if (used < kInline && Takes(slot.filters, slot.kind, change, filters)) {
      slot.first[used] = entry;
      if (similar) {
        slot.similar.store(static_cast<uint8_t>(slot.similar.load(std::memory_order_relaxed) | 1u << used),
                           std::memory_order_relaxed);
      }
      slot.used.store(static_cast<uint8_t>(used + 1), std::memory_order_release);
      return;
    }
  } else {
    Block& block = BlockAt(newest - 1);
    const uint16_t used = block.used.load(std::memory_order_relaxed);
    if (used < block.capacity && Takes(block.filters, block.kind, change, filters)) {
      block.entries()[used] = entry;
      if (similar) {
        block.similar.store(block.similar.load(std::memory_order_relaxed) | uint32_t{1} << used,
                            std::memory_order_relaxed);
      }
      block.used.store(static_cast<uint16_t>(used + 1), std::memory_order_release);
      return;
    }
    units = block.older == 0 ? 2 : 4;  // small, because few users are busy
  }
  const uint32_t unit = NewUnits(units);
  Block& block = *new (UnitAt(unit)) Block{};
  block.older = newest;
  block.filters = filters;
  block.kind = kind;
  if (similar) block.similar.store(1, std::memory_order_relaxed);
  block.capacity = static_cast<uint16_t>((units * kUnit - sizeof(Block)) / sizeof(Entry));
  block.entries()[0] = entry;
  block.used.store(1, std::memory_order_relaxed);
  slot.newest.store(unit + 1, std::memory_order_release);
}

const char* Tail::StoreId(std::string_view user_id) {
  const auto size = static_cast<uint16_t>(user_id.size());
  const size_t bytes = sizeof size + size;
  if (bytes > id_left_) {
    id_next_ = static_cast<char*>(UnitAt(NewUnits(kIdUnits)));
    id_left_ = kIdUnits * kUnit;
  }
  std::memcpy(id_next_, &size, sizeof size);
  std::memcpy(id_next_ + sizeof size, user_id.data(), size);
  id_left_ -= bytes;
  return std::exchange(id_next_, id_next_ + bytes);
}

std::string_view Tail::UserSlot::user_id() const {
  uint16_t size;
  std::memcpy(&size, id, sizeof size);
  return {id + sizeof size, size};
}

std::string_view Tail::Read(const UserKey& key, FilterMask filters, std::vector<Change>& out) const {
  const UserSlot* slot = Find(key);
  if (!slot) return {};
  ReadSlot(*slot, filters, out);
  return slot->user_id();
}

std::string_view Tail::IdOf(const UserKey& key) const {
  const UserSlot* slot = Find(key);
  return slot ? slot->user_id() : std::string_view();
}

void Tail::ReadSlot(const UserSlot& slot, FilterMask filters, std::vector<Change>& out) const {
  const auto first = static_cast<std::ptrdiff_t>(out.size());
  const auto take = [&](const Entry* entries, uint32_t used, FilterMask of, ChangeKind kind,
                        uint32_t similar) {
    if (!(of & filters)) return;
    if (similar == 0) [[likely]] {
      while (used-- > 0) out.push_back({{entries[used].fingerprint}, entries[used].second, kind});
      return;
    }
    const bool takes_similar = (of & filters & similar_filters_) != 0;
    while (used-- > 0) {
      const bool is_similar = (similar >> used & 1) != 0;
      if (is_similar && !takes_similar) continue;
      out.push_back(
          {{entries[used].fingerprint}, entries[used].second, is_similar ? ChangeKind::kSimilar : kind});
    }
  };
  for (uint32_t next = slot.newest.load(std::memory_order_acquire); next != 0;) {
    const Block& block = BlockAt(next - 1);
    const uint16_t used = block.used.load(std::memory_order_acquire);
    take(block.entries(), used, block.filters, block.kind, block.similar.load(std::memory_order_relaxed));
    next = block.older;
  }
  const uint8_t used = slot.used.load(std::memory_order_acquire);
  if (used > 0) {
    take(slot.first.data(), used, slot.filters, slot.kind, slot.similar.load(std::memory_order_relaxed));
  }
  std::reverse(out.begin() + first, out.end());
}

std::vector<const Tail::UserSlot*> Tail::SortedUsers() const {
  std::vector<uint64_t> cells = index_.TagsAndNumbers();
  SortByUpperHalf(cells);  // a tag is the beginning of its key
  const auto tag = [&](size_t i) { return cells[i] >> 32; };
  std::vector<const UserSlot*> users(cells.size());
  for (size_t i = 0; i < cells.size(); ++i) users[i] = &SlotAt(static_cast<uint32_t>(cells[i]));
  for (size_t from = 0, to = 0; from < cells.size(); from = to) {
    for (to = from + 1; to < cells.size() && tag(to) == tag(from);) ++to;
    if (to - from == 1) continue;
    const auto at = users.begin();
    std::sort(at + static_cast<std::ptrdiff_t>(from), at + static_cast<std::ptrdiff_t>(to),
              [](const UserSlot* a, const UserSlot* b) { return a->key < b->key; });
  }
  return users;
}

}  // namespace seen
