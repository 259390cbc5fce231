#pragma once
// The items' indexes, topic of groups and dead letters, in memory: the contents survive the process. A test
// decides what fails.

#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <random>
#include <set>
#include <string>

#include "flow/log_port.h"
#include "similar/groups/item_index_port.h"
#include "similar/port/group_topic.h"
#include "similar/port/item_group.h"
#include "support/map_index.h"

namespace seen::sim {

/// A checkpoint is a copy. After an error the index takes nothing, as ItemIndex demands.
class FakeItemIndexes final : public ItemIndexes {
 public:
  using Fault = std::function<std::optional<Error>(int32_t partition)>;

  Result<Opened> Open(int32_t partition) override {
    if (open_fails.contains(partition)) return Fail(open_fails.at(partition));
    if (is_open.contains(partition)) return Fail(Code::kUnavailable, "it is open");
    return Opened{std::make_unique<Index>(*this, partition), FeatureOptions{.idf = IdfTable::Bundled()}};
  }
  Status Remove(int32_t partition) override {
    if (is_open.contains(partition)) return Fail(Code::kUnavailable, "it is open");
    disks.erase(partition);
    open_fails.erase(partition);
    ++removed;
    return {};
  }
  std::string PathOf(int32_t partition) const override { return "index-" + std::to_string(partition); }

  std::map<int32_t, test::MapIndex> disks;
  std::map<int32_t, Error> open_fails;
  Fault on_write = [](int32_t) { return std::nullopt; };
  Fault on_checkpoint = [](int32_t) { return std::nullopt; };
  uint64_t bytes_a_write = 0;
  int removed = 0;
  std::set<int32_t> is_open;

 private:
  class Index final : public ItemIndex {
   public:
    Index(FakeItemIndexes& all, int32_t partition)
        : all_(all), partition_(partition), now_(all.disks[partition]) {
      all_.is_open.insert(partition);
    }
    ~Index() override { all_.is_open.erase(partition_); }

    Status Find(std::optional<std::string_view> item_id, std::optional<uint64_t> content_hash,
                int32_t first_bucket, KnownItem& out) const override {
      return now_.Find(item_id, content_hash, first_bucket, out);
    }
    Status Candidates(const CandidateQuery& query, uint32_t entries_max, CandidateLists& out) const override {
      return now_.Candidates(query, entries_max, out);
    }
    Status Items(std::span<const ItemRef> items, std::vector<std::optional<StoredItem>>& out) const override {
      return now_.Items(items, out);
    }
    Status Groups(std::span<const ItemRef> items,
                  std::vector<std::optional<StoredGroup>>& out) const override {
      return now_.Groups(items, out);
    }
    Status Members(ItemRef first, std::vector<ItemRef>& out) const override {
      return now_.Members(first, out);
    }
    Status Write(const IndexChange& change) override {
      if (!Works(all_.on_write)) return Fail(*stopped_);
      unsaved_ += all_.bytes_a_write;
      return now_.Write(change);
    }
    Status Checkpoint(const IndexPosition& position, int32_t first_bucket) override {
      if (!Works(all_.on_checkpoint)) return Fail(*stopped_);
      unsaved_ = 0;
      (void)now_.Checkpoint(position, first_bucket);
      all_.disks[partition_] = now_;
      return {};
    }
    Result<std::optional<IndexPosition>> ReadPosition() const override { return now_.ReadPosition(); }
    uint64_t unsaved_bytes() const override { return unsaved_; }
    uint64_t bytes() const override { return 0; }

   private:
    bool Works(const Fault& fault) {
      if (!stopped_) stopped_ = fault(partition_);
      return !stopped_;
    }
    FakeItemIndexes& all_;
    const int32_t partition_;
    test::MapIndex now_;
    uint64_t unsaved_ = 0;
    std::optional<Error> stopped_;
  };
};

/// `item-groups`, compacted. Queued records arrive in order. When a sink is destroyed, some of its records
/// arrive.
class FakeGroupsTopic {
 public:
  struct Entry {
    std::string item_id;
    std::optional<std::string> value;  // nullopt: a tombstone
    std::string decided_by;
  };
  void Put(Entry entry) {
    const auto group = entry.value ? ReadItemGroup(*entry.value) : Fail(Code::kNotFound, "a tombstone");
    if (group) {
      records.insert_or_assign(entry.item_id, *group);
    } else {
      records.erase(entry.item_id);
    }
    log.push_back(std::move(entry));
  }
  /// The topic's only partition, for the guard.
  OpenGroupTopic Watch() {
    return [this](const std::vector<int64_t>& from) -> Result<std::unique_ptr<GroupTopic>> {
      if (watch_fails) return Fail(*watch_fails);
      return std::make_unique<Watched>(*this, from.empty() ? static_cast<int64_t>(log.size()) : from[0]);
    };
  }
  std::unique_ptr<GroupSink> MakeSink(const std::string& decided_by = "") {
    return std::make_unique<Sink>(*this, decided_by);
  }

  std::vector<Entry> log;
  std::map<std::string, ItemGroup> records;  // the newest readable record of each item
  std::optional<Error> watch_fails;          // if set, the guard can't open or read the topic
  bool acknowledges = true;
  bool gives_up = false;     // the next sink that awaits records has lost one
  size_t queue_max = 1'000;  // records
  std::function<size_t(size_t)> arrived = [](size_t) { return size_t{0}; };  // from a destroyed sink's queue

 private:
  class Watched final : public GroupTopic {
   public:
    Watched(FakeGroupsTopic& topic, int64_t from) : topic_(topic), next_{from} {}
    Status Read(const OnWritten& on_written) override {
      if (topic_.watch_fails) return Fail(*topic_.watch_fails);
      for (; !AtEnd(0); ++next_[0]) {
        const Entry& entry = topic_.log[static_cast<size_t>(next_[0])];
        on_written({0, next_[0], entry.item_id, entry.value ? std::string_view(*entry.value) : "",
                    !entry.value, entry.decided_by});
      }
      return {};
    }
    const std::vector<int64_t>& next_offsets() const override { return next_; }
    bool AtEnd(int32_t) const override { return next_[0] == std::ssize(topic_.log); }

   private:
    FakeGroupsTopic& topic_;
    std::vector<int64_t> next_;
  };
  class Sink final : public GroupSink {
   public:
    Sink(FakeGroupsTopic& topic, std::string decided_by)
        : topic_(topic), decided_by_(std::move(decided_by)) {}
    ~Sink() override { Deliver(std::min(queue_.size(), topic_.arrived(queue_.size()))); }
    bool TrySend(std::string_view item_id, const ItemGroup* group) override {
      if (queue_.size() >= topic_.queue_max) return false;
      queue_.emplace_back(item_id, group ? std::optional(*group) : std::nullopt);
      return true;
    }
    Status AwaitAll(std::chrono::milliseconds) override {
      is_broken_ |= std::exchange(topic_.gives_up, false);
      if (is_broken_) return Fail(Code::kCorrupt, "a record was given up on");
      if (!topic_.acknowledges) return Fail(Code::kUnavailable, "no acknowledgement");
      Deliver(queue_.size());
      return {};
    }

   private:
    void Deliver(size_t count) {
      for (; count > 0; --count, queue_.pop_front()) {
        Entry entry{queue_.front().first, std::nullopt, decided_by_};
        if (queue_.front().second) WriteItemGroup(*queue_.front().second, entry.value.emplace());
        topic_.Put(std::move(entry));
      }
    }
    FakeGroupsTopic& topic_;
    const std::string decided_by_;
    std::deque<std::pair<std::string, std::optional<ItemGroup>>> queue_;
    bool is_broken_ = false;
  };
};

/// Dead letters of several partitions. Sent letters arrive when a test calls Deliver.
class FakeItemLetters final : public DeadLetterSink {
 public:
  bool TrySend(const DeadLetter& letter) override {
    if (under_way_[letter.partition].size() >= queue_max) return false;
    under_way_[letter.partition].insert(letter.record->offset);
    ++sent;
    return true;
  }
  int64_t OldestUnacknowledged(int32_t partition) const override {
    const auto found = under_way_.find(partition);
    return found == under_way_.end() || found->second.empty() ? -1 : *found->second.begin();
  }
  void Forget(int32_t partition) override { under_way_.erase(partition); }
  void Deliver() {
    for (auto& [partition, offsets] : under_way_) {
      arrived[partition].insert(offsets.begin(), offsets.end());
      offsets.clear();
    }
  }
  std::map<int32_t, std::set<int64_t>> arrived;
  size_t queue_max = 10;  // for each partition
  uint64_t sent = 0;

 private:
  std::map<int32_t, std::set<int64_t>> under_way_;
};

}  // namespace seen::sim
