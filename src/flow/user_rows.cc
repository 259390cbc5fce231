#include "flow/user_rows.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <limits>
#include <new>

#include "model/delta_view.h"

namespace seen {
namespace {
constexpr size_t kAlignment = alignof(UserRows::Row);
static_assert(sizeof(UserRows::User) <= 32);
}  // namespace

UserRows::UserRows(std::shared_ptr<TailMemory> memory)
    : memory_(std::move(memory)),
      user_bits_(static_cast<uint32_t>(std::countr_zero(memory_->chunk_bytes() / 32))),
      // Each user comes with a row, so the bytes of the rows bound the users, too.
      user_chunks_max_(memory_->tail_bytes_max() / memory_->chunk_bytes() + 2),
      user_chunks_(std::make_unique<User*[]>(user_chunks_max_)),
      index_(memory_->last_users()) {}

std::byte* UserRows::NewBytes(size_t size) {
  size = (size + kAlignment - 1) / kAlignment * kAlignment;
  AddBytes(size);
  if (size > memory_->chunk_bytes()) {
    return long_rows_.emplace_back(std::make_unique_for_overwrite<std::byte[]>(size)).get();
  }
  if (size > left_) {
    AddBytes(left_);  // the rest of the chunk is given up
    next_ = chunks_.emplace_back(memory_->Take());
    left_ = memory_->chunk_bytes();
  }
  left_ -= size;
  return std::exchange(next_, next_ + size);
}

UserRows::User* UserRows::Find(const UserKey& user) const {
  const uint32_t number = index_.Find(user, [&](uint32_t at) { return UserAt(at).key == user; });
  return number == UserIndex::kNone ? nullptr : &UserAt(number);
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
  const uint32_t number = index_.size();
  const uint32_t chunk = number >> user_bits_;
  if ((number & ((1u << user_bits_) - 1)) == 0) {
    Check(chunk < user_chunks_max_, "rows have more users than their bytes allow");
    user_chunks_[chunk] = reinterpret_cast<User*>(chunks_.emplace_back(memory_->Take()));
  }
  User& made = *new (&UserAt(number)) User{user, {nullptr}};
  const uint64_t index_bytes = index_.grown_bytes();
  index_.Insert(user, number, [&](uint32_t at) { return UserAt(at).key; });
  AddBytes(sizeof(User) + index_.grown_bytes() - index_bytes);
  return made;
}

std::vector<const UserRows::User*> UserRows::SortedUsers() const {
  std::vector<const User*> users(index_.size());
  for (uint32_t number = 0; number < users.size(); ++number) users[number] = &UserAt(number);
  std::sort(users.begin(), users.end(), [](const User* a, const User* b) { return a->key < b->key; });
  return users;
}

Result<std::string> StoredUserId(const PartitionStore& store, const UserRef& user) {
  auto mark = store.ReadMark(user);
  if (!mark) return Fail(mark.error());
  if (*mark && !(*mark)->user_id.empty()) return std::move((*mark)->user_id);
  std::string stored;
  const auto found = store.ReadDelta(user, stored);
  if (!found) return Fail(found.error());
  DeltaView view;
  if (*found && ParseDelta(stored, view) && !view.user_id.empty()) return std::string(view.user_id);
  PublishedRow kept;
  if (Status read = store.ReadPublished({&user, 1}, {&kept, 1}); !read) return Fail(read.error());
  return kept.user_id;
}

namespace {

uint32_t Second(uint64_t second) {
  return static_cast<uint32_t>(std::min<uint64_t>(second, std::numeric_limits<uint32_t>::max()));
}

}  // namespace

std::span<const DayOfItems> ItemsByDay::Group(std::span<const CountedEnd> ends, DayBy by) {
  const auto day_of = [by](const CountedEnd& end) {
    return by == DayBy::kWindow ? end.day : Day{static_cast<int32_t>(Second(end.second) / kSecondsPerDay)};
  };
  struct Sum {
    DayOfItems day;
    size_t count = 0, at = 0;
  };
  std::vector<Sum> sums;  // ascending: few days, and items of one day mostly come in a row
  size_t last = 0;
  const auto sum_of = [&](Day day) -> Sum& {
    if (last < sums.size() && sums[last].day.day == day) return sums[last];
    const auto found = std::lower_bound(sums.begin(), sums.end(), day,
                                        [](const Sum& sum, Day wanted) { return sum.day.day < wanted; });
    last = static_cast<size_t>(found - sums.begin());
    if (found == sums.end() || found->day.day != day) {
      return *sums.insert(found, {{day, std::numeric_limits<uint32_t>::max(), 0, {}}});
    }
    return *found;
  };
  for (const CountedEnd& end : ends) {
    Sum& sum = sum_of(day_of(end));
    ++sum.count;
    sum.day.first_second = std::min(sum.day.first_second, Second(end.first_second));
    sum.day.last_second = std::max(sum.day.last_second, Second(end.second));
  }
  fingerprints_.resize(ends.size());
  size_t at = 0;
  for (Sum& sum : sums) {
    sum.day.fingerprints = std::span<const Fingerprint>(fingerprints_).subspan(at, sum.count);
    sum.at = at;
    at += sum.count;
  }
  for (const CountedEnd& end : ends) fingerprints_[sum_of(day_of(end)).at++] = end.fingerprint;
  days_.clear();
  for (auto sum = sums.rbegin(); sum != sums.rend(); ++sum) {
    const auto of_day = std::span(fingerprints_).subspan(sum->at - sum->count, sum->count);
    if (!std::is_sorted(of_day.begin(), of_day.end())) std::sort(of_day.begin(), of_day.end());
    days_.push_back(sum->day);
  }
  return days_;
}

}  // namespace seen
