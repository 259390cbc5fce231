#include <chrono>
#include <filesystem>
#include <unordered_map>

#include "common/arguments.h"
#include "similar/near.h"
#include "similar/store/rocks_item_indexes.h"
#include "similar/text/idf_table.h"

namespace seen::bench {
namespace {

constexpr TimeMs kNow{1'763'690'000'000};
constexpr size_t kBatch = 256;
constexpr uint64_t kCacheBytes = 256 << 20;

using Clock = std::chrono::steady_clock;

double SecondsSince(Clock::time_point begin) {
  return std::chrono::duration<double>(Clock::now() - begin).count();
}

/// Stands for the topic: keeps the last record of each item.
class LastRecords : public GroupSink {
 public:
  bool TrySend(std::string_view item_id, const ItemGroup* group) override {
    if (group == nullptr) Die("a tombstone of " + std::string(item_id) + ", which nothing has deleted");
    records_[std::string(item_id)] = *group;
    return true;
  }
  Status AwaitAll(std::chrono::milliseconds) override { return {}; }
  const ItemGroup& Of(const std::string& item_id) const { return records_.at(item_id); }

 private:
  std::unordered_map<std::string, ItemGroup> records_;
};

template <typename T>
T Want(Result<T> result) {
  if (!result) Die(result.error().message);
  if constexpr (!std::is_void_v<T>) return std::move(*result);
}

void ApplyAll(const Texts& texts, GroupFlow& flow) {
  std::vector<PreparedItem> batch;
  for (size_t begin = 0; begin < texts.features.size(); begin += kBatch) {
    batch.clear();
    for (size_t i = begin; i < std::min(begin + kBatch, texts.features.size()); ++i) {
      batch.push_back({.offset = static_cast<int64_t>(i),
                       .record_timestamp = kNow,
                       .item_id = texts.item_ids[i],
                       .created_at = kNow,
                       .features = &texts.features[i]});
    }
    Want(flow.Apply(batch));
    if (flow.MuchIsUnsaved()) Want(flow.Checkpoint());
  }
  Want(flow.Checkpoint());
}

std::unique_ptr<RocksItemIndex> OpenIndex(const GroupOptions& options, const std::string& folder) {
  std::filesystem::remove_all(folder);
  std::filesystem::create_directories(folder);
  IndexGeneration generation;
  generation.method = options.method;
  generation.verify = options.verify ? "sketch" : "off";
  generation.distance_max = options.distance_max;
  generation.similarity_min = options.similarity_min;
  generation.containment_min = options.containment_min;
  return Want(RocksItemIndex::Open({.directory = folder,
                                    .generation = generation,
                                    .idf = IdfTable::Bundled(),
                                    .idf_text = std::string(IdfTable::BundledText()),
                                    .resources = StoreResources(kCacheBytes, 1)}));
}

/// Maps ids back to positions.
class Positions {
 public:
  explicit Positions(const Texts& texts) {
    for (uint32_t i = 0; i < texts.item_ids.size(); ++i) {
      if (!positions_.emplace(texts.item_ids[i], i).second)
        Die("items: " + texts.item_ids[i] + " comes twice");
    }
  }
  uint32_t Of(const std::string& item_id) const { return positions_.at(item_id); }
  std::vector<Alike> Of(const std::vector<NearItem>& near) const {
    std::vector<Alike> alike;
    for (const NearItem& one : near) alike.push_back({.item = Of(one.item_id), .near = one});
    return alike;
  }

 private:
  std::unordered_map<std::string, uint32_t> positions_;
};

}  // namespace

Found RunFlow(const Texts& texts, const GroupOptions& options, const std::string& folder) {
  const auto index = OpenIndex(options, folder);
  LastRecords records;
  const auto flow = Want(GroupFlow::Open(options, *index, records));
  const Positions positions(texts);

  Found out;
  auto begin = Clock::now();
  ApplyAll(texts, *flow);
  out.apply_s = SecondsSince(begin);
  begin = Clock::now();
  for (size_t i = 0; i < texts.features.size(); ++i) {
    out.similar.push_back(
        positions.Of(Want(flow->Similar(texts.features[i], texts.features.size(), texts.item_ids[i]))));
  }
  out.similar_s = SecondsSince(begin);
  for (const std::string& item_id : texts.item_ids) {
    const ItemGroup& record = records.Of(item_id);
    out.near.push_back(positions.Of(record.near));
    out.group.push_back(positions.Of(record.group_id));
  }
  out.figures = flow->Figures();
  return out;
}

}  // namespace seen::bench
