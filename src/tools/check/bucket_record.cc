#include "tools/check/bucket_record.h"

#include <cstring>
#include <vector>

#include "model/hashes.h"

namespace seen {
namespace {

constexpr size_t kHeadBytes = sizeof(uint32_t) + sizeof(uint64_t);
enum class RecordType : uint8_t { kEvent, kSnapshot, kTombstone };

template <typename T>
void PutValue(T value, std::string& out) {
  char bytes[sizeof(T)];
  std::memcpy(bytes, &value, sizeof(T));
  out.append(bytes, sizeof(T));
}

void PutText(std::string_view text, std::string& out) {
  PutValue(static_cast<uint32_t>(text.size()), out);
  out.append(text);
}

/// Takes values from the front. If too few bytes are left, the value is empty and failed() becomes true.
class ValueTaker {
 public:
  explicit ValueTaker(std::string_view bytes) : bytes_(bytes) {}
  template <typename T>
  T Take() {
    T value{};
    if (bytes_.size() < sizeof(T)) {
      failed_ = true;
      return value;
    }
    std::memcpy(&value, bytes_.data(), sizeof(T));
    bytes_.remove_prefix(sizeof(T));
    return value;
  }
  std::string_view TakeText() {
    const auto size = Take<uint32_t>();
    if (failed_ || bytes_.size() < size) {
      failed_ = true;
      return {};
    }
    const std::string_view text = bytes_.substr(0, size);
    bytes_.remove_prefix(size);
    return text;
  }
  bool failed() const { return failed_; }
  bool whole() const { return !failed_ && bytes_.empty(); }

 private:
  std::string_view bytes_;
  bool failed_ = false;
};

// Begins a record. The result must go to EndRecord.
size_t BeginRecord(RecordType type, std::string_view user_id, std::string& out) {
  const size_t at = out.size();
  PutValue(uint32_t{0}, out);
  PutValue(UserKeyOf(user_id).high, out);
  PutValue(type, out);
  PutText(user_id, out);
  return at;
}

void EndRecord(size_t at, std::string& out) {
  const auto size = static_cast<uint32_t>(out.size() - at);
  std::memcpy(out.data() + at, &size, sizeof(size));
}

bool ReadEvent(ValueTaker& taker, ToldEvent& event, std::vector<ToldItem>& items) {
  event.kind = taker.Take<EventKind>();
  event.second = taker.Take<uint32_t>();
  event.source = taker.Take<int16_t>();
  const auto count = taker.Take<uint32_t>();
  items.clear();
  for (uint32_t i = 0; i < count && !taker.failed(); ++i) {
    ToldItem item;
    item.created = taker.Take<Day>();
    item.filters = taker.Take<RuleBits>();
    item.id = taker.TakeText();
    items.push_back(item);
  }
  event.items = items;
  return taker.whole();
}

}  // namespace

void AppendBucketRecord(const ToldEvent& event, std::string& out) {
  const size_t at = BeginRecord(RecordType::kEvent, event.user_id, out);
  PutValue(event.kind, out);
  PutValue(event.second, out);
  PutValue(event.source, out);
  PutValue(static_cast<uint32_t>(event.items.size()), out);
  for (const ToldItem& item : event.items) {
    PutValue(item.created, out);
    PutValue(item.filters, out);
    PutText(item.id, out);
  }
  EndRecord(at, out);
}

void AppendBucketRecord(const ToldSnapshot& snapshot, std::string& out) {
  const size_t at =
      BeginRecord(snapshot.bytes ? RecordType::kSnapshot : RecordType::kTombstone, snapshot.user_id, out);
  PutValue(snapshot.filter, out);
  if (snapshot.bytes) PutText(*snapshot.bytes, out);
  EndRecord(at, out);
}

std::optional<BucketRecordHead> ReadBucketRecordHead(std::string_view bytes) {
  ValueTaker taker(bytes);
  BucketRecordHead head;
  head.bytes = taker.Take<uint32_t>();
  head.route = taker.Take<uint64_t>();
  if (taker.failed() || head.bytes < kHeadBytes || head.bytes > bytes.size()) return std::nullopt;
  return head;
}

Status ReadBucketRecords(std::string_view bytes, const std::function<void(const ToldEvent&)>& on_event,
                         const std::function<void(const ToldSnapshot&)>& on_snapshot) {
  const auto corrupt = [] {
    return Fail(Code::kCorrupt, "verify: a scratch file doesn't hold what verify wrote");
  };
  std::vector<ToldItem> items;
  while (!bytes.empty()) {
    const auto head = ReadBucketRecordHead(bytes);
    if (!head) return corrupt();
    ValueTaker taker(bytes.substr(kHeadBytes, head->bytes - kHeadBytes));
    bytes.remove_prefix(head->bytes);
    const auto type = taker.Take<RecordType>();
    const std::string_view user_id = taker.TakeText();
    if (type == RecordType::kEvent) {
      ToldEvent event;
      event.user_id = user_id;
      if (!ReadEvent(taker, event, items)) return corrupt();
      on_event(event);
    } else if (type == RecordType::kSnapshot || type == RecordType::kTombstone) {
      ToldSnapshot snapshot{.user_id = user_id, .filter = taker.Take<uint8_t>(), .bytes = {}};
      if (type == RecordType::kSnapshot) snapshot.bytes = taker.TakeText();
      if (!taker.whole()) return corrupt();
      on_snapshot(snapshot);
    } else {
      return corrupt();
    }
  }
  return {};
}

}  // namespace seen
