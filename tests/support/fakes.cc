#include "support/fakes.h"

#include "base/result.h"

namespace seen::sim {

class FakeStore::Writer final : public CheckpointWriter {
 public:
  Writer(FakeStore& store, const Position& position, StoreFault fault)
      : store_(store), next_(store.durable_), fault_(fault) {
    next_.position = position;
  }
  Status AddDelta(const UserRef& user, std::string_view encoded) override {
    Check(!last_delta_ || *last_delta_ < user, "deltas must ascend");
    Check(!last_mark_, "deltas come before marks");
    if (!last_delta_ && store_.before_users) store_.before_users();
    last_delta_ = user;
    if (fault_ == StoreFault::kAddFails) return Fail(Code::kUnavailable, "injected");
    auto later = DecodeDelta(encoded);
    Check(later.has_value(), "the flow wrote what can't be decoded");
    std::string& stored = next_.deltas[user];
    Delta composed = stored.empty() ? *later : Compose(*DecodeDelta(stored), *later, {});
    if (const auto horizon = store_.horizons_.find(user.filter); horizon != store_.horizons_.end()) {
      Expire(composed, horizon->second);
    }
    stored.clear();
    EncodeDelta(composed, stored);
    return {};
  }
  Status PutSweep(std::string_view encoded) override {
    Check(!last_delta_ && !last_mark_, "the sweep comes first");
    next_.sweep = encoded;
    return {};
  }
  Status DropPublished(const UserRef& user) override {
    Check(!last_mark_, "what was published comes before marks");
    dropped_.insert(user);
    return {};
  }
  Status DropAllPublished(FilterId filter) override {
    Check(!last_mark_, "what was published comes before marks");
    dropped_filters_.insert(filter);
    return {};
  }
  Status SetMark(const Mark& mark) override {
    Marked(mark.user);
    next_.marks[mark.user] = mark.user_id;
    return {};
  }
  Status ClearMark(const UserRef& user) override { return Marked(user), next_.marks.erase(user), Status{}; }
  Status DropEndings(uint32_t at_s) override {
    Check(!last_ending_, "endings are dropped before others are added");
    last_ending_ = Ending{at_s, {}};
    std::erase_if(next_.endings, [&](const Ending& ending) { return ending.at_s < at_s; });
    return {};
  }
  Status AddEnding(const Ending& ending) override {
    Check(!last_ending_ || *last_ending_ < ending || ending == Ending{last_ending_->at_s, {}},
          "endings must ascend, each once");
    last_ending_ = ending;
    next_.endings.insert(ending);
    return {};
  }
  Status DropServed(uint32_t due_s) override {
    std::erase_if(next_.served, [&](const auto& entry) { return entry.first.due_s < due_s; });
    return {};
  }
  Status DropServedOf(uint32_t due_s, const UserKey& user) override {
    std::erase_if(next_.served,
                  [&](const auto& entry) { return entry.first.due_s == due_s && entry.first.user == user; });
    return {};
  }
  Status AddServed(const ServedRow& row, std::string_view text) override {
    next_.served[row] = text;
    return {};
  }
  Status KeepRowsFrom(Day keep_from, Day whole_from) override {
    Check(!last_delta_ && !last_mark_, "the journal's days come first");
    keep_from_ = keep_from;
    next_.journal_start = whole_from;
    return {};
  }
  Status EraseRows(const UserKey& user, Day through) override {
    Check(!last_row_ || last_row_->first < user, "a user's erasure comes before its rows");
    last_row_ = {user, std::nullopt};
    std::erase_if(next_.journal[user], [&](const auto& row) { return DayOf(row.first.at) <= through; });
    return {};
  }
  Status AddRow(const UserKey& user, const JournalPlace& place, std::string_view row) override {
    Check(!last_row_ || last_row_->first <= user, "users ascend");
    Check(!last_row_ || last_row_->first < user || !last_row_->second || last_row_->second->IsBefore(place),
          "places ascend");
    last_row_ = {user, place};
    next_.journal[user][place] = row;
    return {};
  }
  Status Commit() override {
    for (auto& [user, rows] : next_.journal) {
      std::erase_if(rows, [&](const auto& row) { return keep_from_ && DayOf(row.first.at) < *keep_from_; });
    }
    if (fault_ == StoreFault::kCommitFails) return Fail(Code::kUnavailable, "injected");
    if (fault_ == StoreFault::kNoSpace) return Fail(Code::kNoSpace, "injected");
    // KeepPublished may have added rows since the checkpoint began.
    next_.published = std::move(store_.durable_.published);
    std::erase_if(next_.published, [&](const auto& row) {
      return dropped_.contains(row.first) || dropped_filters_.contains(row.first.filter);
    });
    store_.durable_ = std::move(next_);
    return {};
  }

 private:
  void Marked(const UserRef& user) {
    Check(!last_ending_, "marks come before endings");
    Check(!last_mark_ || *last_mark_ < user, "marks must ascend, each user once");
    last_mark_ = user;
  }
  FakeStore& store_;
  DurableState next_;
  StoreFault fault_;
  std::set<UserRef> dropped_;
  std::set<FilterId> dropped_filters_;
  std::optional<UserRef> last_delta_;
  std::optional<UserRef> last_mark_;
  std::optional<Ending> last_ending_;
  std::optional<Day> keep_from_;
  std::optional<std::pair<UserKey, std::optional<JournalPlace>>> last_row_;
};

Status FakeStore::KeepPublished(std::span<const PublishedRow> rows) {
  for (const PublishedRow& row : rows) {
    if (row.snapshot.empty()) {
      durable_.published.erase(row.user);
    } else {
      durable_.published[row.user] = row;
    }
  }
  return {};
}

Status FakeStore::ReadPublished(std::span<const UserRef> users, std::span<PublishedRow> out) const {
  for (size_t i = 0; i < users.size(); ++i) {
    const auto found = durable_.published.find(users[i]);
    out[i] = found == durable_.published.end() ? PublishedRow{users[i], {}, {}} : found->second;
  }
  return {};
}

Result<std::vector<PublishedRow>> FakeStore::ScanPublished(const std::optional<UserRef>& after,
                                                           size_t limit) const {
  std::vector<PublishedRow> page;
  auto at = after ? durable_.published.upper_bound(*after) : durable_.published.begin();
  for (; at != durable_.published.end() && page.size() < limit; ++at)
    page.push_back({at->first, at->second.user_id, {}});
  return page;
}

Status FakeStore::ReadRows(const UserKey& user, Day from, const std::optional<JournalPlace>& after,
                           const VisitJournalRow& visit) const {
  const auto found = durable_.journal.find(user);
  if (found == durable_.journal.end()) return {};
  for (const auto& [place, row] : found->second) {
    if (DayOf(place.at) < from || (after && !after->IsBefore(place))) continue;
    if (!visit(place, row)) break;
  }
  return {};
}

std::vector<JournalDay> FakeStore::JournalDays() const {
  std::map<Day, uint64_t> days;
  for (const auto& [user, rows] : durable_.journal) {
    for (const auto& [place, row] : rows) ++days[DayOf(place.at)];
  }
  std::vector<JournalDay> all;
  for (const auto& [day, bytes] : days) all.push_back({day, bytes});
  return all;
}

Result<std::unique_ptr<CheckpointWriter>> FakeStore::BeginCheckpoint(const Position& position) {
  const StoreFault fault = std::exchange(fault_, StoreFault::kNone);
  if (fault == StoreFault::kBeginFails) return Fail(Code::kUnavailable, "injected");
  return std::make_unique<Writer>(*this, position, fault);
}

// As in a compacted topic, an empty value is a tombstone.
void FakeSnapshotTopic::Arrive(const Delivery& delivery) {
  if (!delivery.retired_topic.empty()) {
    Check(delivery.snapshot.empty(), "a retired topic gets tombstones alone");
    erased[delivery.retired_topic].insert(delivery.user_id);
  } else if (delivery.snapshot.starts_with(R"({"version":)")) {
    watermarks[delivery.user_id] = delivery.snapshot;
  } else if (delivery.snapshot.starts_with('{')) {
    ++told[delivery.snapshot];
  } else if (delivery.snapshot.empty()) {
    topic.erase({delivery.filter, delivery.user_id});
    ++tombstones;
  } else {
    topic[{delivery.filter, delivery.user_id}] = delivery.snapshot;
  }
}

void FakeSnapshotTopic::PollAcknowledgements(const Acknowledge& acknowledge) {
  if (before_call) before_call();
  std::deque<Delivery> late;
  std::set<std::string> waiting;  // a user's snapshots stay in order
  std::deque<Delivery> now;
  now.swap(in_flight_);
  for (Delivery& delivery : now) {
    const std::string user = std::to_string(delivery.filter) + "/" + delivery.user_id;
    if (!deliver_all && (waiting.contains(user) || static_cast<int>(random_() % 100) < late_percent)) {
      waiting.insert(user);
      late.push_back(std::move(delivery));
      continue;
    }
    const bool delivered = deliver_all || static_cast<int>(random_() % 100) >= fail_percent;
    if (delivered) Arrive(delivery);
    acknowledge(delivery.ticket, delivered ? seen::Delivery::kAcknowledged : seen::Delivery::kFailed);
  }
  in_flight_.insert(in_flight_.begin(), std::make_move_iterator(late.begin()),
                    std::make_move_iterator(late.end()));
}

void FakeSnapshotTopic::Crash() {
  for (Delivery& delivery : in_flight_) {
    if (random_() % 2 == 0) Arrive(delivery);
  }
  in_flight_.clear();
}

}  // namespace seen::sim
