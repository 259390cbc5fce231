#include "store/journal_families.h"

#include <algorithm>
#include <charconv>
#include <utility>

#include "base/byte_codec.h"

namespace seen {
namespace {

constexpr std::string_view kFamilyPrefix = "journal-";
constexpr uint8_t kStartVersion = 1;

}  // namespace

std::string JournalFamilyName(Day day) {
  return std::string(kFamilyPrefix) + std::to_string(day.since_epoch);
}

std::optional<Day> DayOfJournalFamily(std::string_view name) {
  if (!name.starts_with(kFamilyPrefix)) return std::nullopt;
  const std::string_view number = name.substr(kFamilyPrefix.size());
  Day day;
  const auto [end, error] = std::from_chars(number.data(), number.data() + number.size(), day.since_epoch);
  if (error != std::errc{} || end != number.data() + number.size()) return std::nullopt;
  if (name != JournalFamilyName(day)) return std::nullopt;
  return day;
}

JournalKey JournalKeyOf(const UserKey& user, const JournalPlace& place) {
  JournalKey key;
  const auto bytes = ToBytes(user);
  char* to = std::copy(bytes.begin(), bytes.end(), key.begin());
  const int64_t left_of_day = StartOf(DayOf(place.at)).value + kMsPerDay - 1 - place.at.value;
  PutBigEndian(static_cast<uint32_t>(left_of_day), to);
  PutBigEndian(~static_cast<uint64_t>(place.offset), to);
  return key;
}

std::optional<JournalPlace> JournalPlaceOf(Day day, std::string_view key) {
  if (key.size() != kJournalKeyBytes) return std::nullopt;
  const char* from = key.data() + kJournalUserBytes;
  const auto left_of_day = GetBigEndian<uint32_t>(from);
  if (left_of_day >= kMsPerDay) return std::nullopt;
  const auto offset = static_cast<int64_t>(~GetBigEndian<uint64_t>(from));
  return JournalPlace{{StartOf(day).value + kMsPerDay - 1 - left_of_day}, offset};
}

std::string JournalUserBegin(const UserKey& user) {
  const auto bytes = ToBytes(user);
  return {bytes.begin(), bytes.end()};
}

std::string JournalUserEnd(const UserKey& user) {
  // Longer than any key and greater than the greatest. The next user's keys can't be the end: the last user
  // has no next.
  return JournalUserBegin(user) + std::string(kJournalKeyBytes - kJournalUserBytes + 1, '\xff');
}

std::string EncodeJournalStart(Day day) {
  std::string bytes;
  PutLittleEndian(kStartVersion, bytes);
  PutLittleEndian(day.since_epoch, bytes);
  return bytes;
}

Result<Day> DecodeJournalStart(std::string_view bytes) {
  FieldReader reader(bytes);
  const auto version = reader.Get<uint8_t>();
  const Day day{reader.Get<int32_t>()};
  if (reader.Complete() && version == kStartVersion) return day;
  return Fail(Code::kCorrupt,
              "the journal's start: " + std::to_string(bytes.size()) + " bytes that aren't one of version 1");
}

JournalFamily::~JournalFamily() { db_.DestroyColumnFamilyHandle(handle_).PermitUncheckedError(); }

uint64_t JournalFamily::Bytes() const {
  uint64_t bytes = 0;
  return db_.GetIntProperty(handle_, rocksdb::DB::Properties::kLiveSstFilesSize, &bytes) ? bytes : 0;
}

void JournalFamilies::Adopt(std::vector<Pointer> families) {
  const MutexLock lock(mutex_);
  for (Pointer& family : families) families_[family->day()] = std::move(family);
}

void JournalFamilies::Clear() {
  std::map<Day, Pointer> gone;
  const MutexLock lock(mutex_);
  gone.swap(families_);
}

JournalFamilies::Pointer JournalFamilies::Find(Day day) const {
  const MutexLock lock(mutex_);
  const auto found = families_.find(day);
  return found == families_.end() ? nullptr : found->second;
}

std::vector<JournalFamilies::Pointer> JournalFamilies::All() const {
  const MutexLock lock(mutex_);
  std::vector<Pointer> all;
  all.reserve(families_.size());
  for (const auto& [day, family] : families_) all.push_back(family);
  return all;
}

rocksdb::Status JournalFamilies::Make(rocksdb::DB& db, Day day, Pointer& family) {
  family = Find(day);
  if (family) return rocksdb::Status::OK();
  rocksdb::ColumnFamilyHandle* handle = nullptr;
  rocksdb::Status made = db.CreateColumnFamily(options_, JournalFamilyName(day), &handle);
  if (!made.ok()) return made;
  family = std::make_shared<JournalFamily>(db, handle, day);
  const MutexLock lock(mutex_);
  families_[day] = family;
  return made;
}

rocksdb::Status JournalFamilies::Drop(rocksdb::DB& db, const Pointer& family) {
  rocksdb::Status dropped = db.DropColumnFamily(family->handle());
  if (!dropped.ok()) return dropped;
  const MutexLock lock(mutex_);
  families_.erase(family->day());
  return dropped;
}

}  // namespace seen
