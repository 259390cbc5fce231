// POST .../unseen without HTTP: reading the question, deciding it, and the rate of wrong decisions.
// `candidate` is the time for one candidate. Argument `dated`: whether candidates say when they were created.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <array>
#include <cstdlib>

#include "model/hashes.h"
#include "query/queries_candidates.h"
#include "serve/unseen_body.h"
#include "similar/port/similar_candidates.h"
#include "users.h"

namespace seen::micro {
namespace {

constexpr size_t kCandidates = 2'000;
constexpr int32_t kDays = 30;
constexpr size_t kItemsADay = 100;
constexpr uint32_t kToday = (kFirstDay + kDays - 1) * kSecondsPerDay;

void CountCandidates(benchmark::State& state) {
  state.counters["candidate"] = benchmark::Counter(
      kCandidates, benchmark::Counter::kIsIterationInvariantRate | benchmark::Counter::kInvert);
}

void ParseQuestion(benchmark::State& state) {
  std::string body = R"({"items":[)";
  for (size_t i = 0; i < kCandidates; ++i) {
    if (i > 0) body += ',';
    const std::string id = "\"n" + std::to_string(10'000'000 + i * 7'919) + '"';
    const std::string ms = std::to_string(kToday * int64_t{1000} + static_cast<int64_t>(i) * 1'003);
    body += state.range(0) != 0 ? R"({"id":)" + id + R"(,"created_at":)" + ms + "}" : id;
  }
  body += "]}";
  for (auto _ : state) {
    const auto question = ParseUnseenQuestion(body);
    if (!question) std::abort();
    benchmark::DoNotOptimize(question->items().data());
  }
  CountCandidates(state);
  state.counters["byte"] =
      benchmark::Counter(static_cast<double>(body.size()),
                         benchmark::Counter::kIsIterationInvariantRate | benchmark::Counter::kInvert);
}
BENCHMARK(ParseQuestion)->ArgName("dated")->Arg(0)->Arg(1);

std::string ItemOf(uint64_t user, int32_t day, size_t number) {
  return "u" + std::to_string(user) + "-" + std::to_string(day) + "-" + std::to_string(number);
}

// The encoded state of a user who has seen the items that ItemOf names.
std::string EncodedShown(uint64_t user) {
  Delta delta;
  delta.user_id = std::to_string(user);
  for (int32_t day = 0; day < kDays; ++day) {
    std::set<Fingerprint> unique;
    for (size_t i = 0; i < kItemsADay; ++i) unique.insert(FingerprintOf(ItemOf(user, day, i)));
    delta.segments.push_back({{kFirstDay + day}, 100, 80'000, {unique.begin(), unique.end()}});
  }
  return Encoded(delta);
}

// From encoded state to the answer. `seen` of a hundred candidates are seen, and were created a day before
// they were shown.
void DecideQuestion(benchmark::State& state) {
  constexpr size_t kUsers = 64;
  std::vector<std::string> stored;
  for (size_t user = 0; user < kUsers; ++user) stored.push_back(EncodedShown(user));
  std::array<std::vector<std::string>, kUsers> ids;
  std::vector<uint32_t> created(state.range(0) != 0 ? kCandidates : 0);
  for (size_t i = 0; i < kCandidates; ++i) {
    const auto day = static_cast<int32_t>(i % kDays);
    const bool is_seen = i * 7 % 100 < static_cast<size_t>(state.range(1));
    for (size_t user = 0; user < kUsers; ++user) {
      ids[user].push_back(ItemOf(user, day, i / kDays + (is_seen ? 0 : kItemsADay)));
    }
    if (!created.empty()) created[i] = static_cast<uint32_t>((kFirstDay + day - 1) * kSecondsPerDay);
  }
  SeenReader reader;
  Candidates candidates;
  std::vector<uint32_t> unseen;
  std::vector<std::string_view> views(kCandidates);
  size_t next = 0;
  for (auto _ : state) {
    const size_t user = next++ % kUsers;
    std::copy(ids[user].begin(), ids[user].end(), views.begin());
    if (!reader.Read(stored[user], {}, {}, {})) std::abort();
    candidates.Unseen({views, created}, {}, reader, unseen);
    benchmark::DoNotOptimize(unseen.data());
  }
  CountCandidates(state);
}
BENCHMARK(DecideQuestion)->ArgNames({"dated", "seen"})->ArgsProduct({{0, 1}, {3, 50}});

// Groups in memory, as cheap as possible.
class GroupsInMemory final : public ItemGroups {
 public:
  explicit GroupsInMemory(const std::vector<ItemGroup>& records) : records_(records) {
    table_.Reset(records_.size());
    for (uint32_t i = 0; i < records_.size(); ++i) {
      const ItemGroup& record = records_[i];
      table_.Insert(FingerprintOf(record.item_id), i);
      auto& like = like_.emplace_back(1, FingerprintOf(record.group_id));
      for (const NearItem& near : record.near) like.push_back(FingerprintOf(near.item_id));
    }
  }
  bool AppendGroupAndNear(Fingerprint item, std::vector<Fingerprint>& out) const override {
    const auto place = table_.Find(item);
    if (place) out.insert(out.end(), like_[*place].begin(), like_[*place].end());
    return place.has_value();
  }
  void AppendSimilar(Fingerprint item, std::vector<Fingerprint>& out) const override {
    const auto place = table_.Find(item);
    if (!place) return;
    out.push_back(GroupFingerprintOf(like_[*place][0]));
    for (size_t i = 1; i < like_[*place].size(); ++i) out.push_back(NearFingerprintOf(like_[*place][i]));
  }
  Result<std::optional<ItemGroup>> Find(std::string_view item_id) const override {
    const auto place = table_.Find(FingerprintOf(item_id));
    if (!place) return std::optional<ItemGroup>();
    return records_[*place];
  }
  Result<std::vector<std::string>> Members(std::string_view, std::string_view, size_t) const override {
    return std::vector<std::string>();
  }

 private:
  std::vector<ItemGroup> records_;
  std::vector<std::vector<Fingerprint>> like_;
  FingerprintTable table_;
};

// The cost of similar candidates beside DecideQuestion. Of 2,000 candidates, 3% were seen and 20% have four
// near items each. Of a hundred candidates, `like_seen` have a seen item among their near items.
void DecideSimilar(benchmark::State& state) {
  const auto rule = static_cast<Similar>(state.range(0));
  const bool one_per_group = state.range(1) != 0;
  const std::string stored = EncodedShown(0);
  std::vector<std::string> ids;
  std::vector<ItemGroup> records;
  for (size_t i = 0; i < kCandidates; ++i) {
    const bool is_seen = i * 7 % 100 < 3;
    ids.push_back(ItemOf(0, static_cast<int32_t>(i % kDays), i / kDays + (is_seen ? 0 : kItemsADay)));
    if (i % 5 != 0) continue;
    const std::string& id = ids.back();
    const bool is_like_seen = i / 5 * 7 % 20 < static_cast<size_t>(state.range(2));
    std::vector<std::string> family = {"first-" + id, id};
    for (int other = 0; other < 3; ++other) family.push_back(std::to_string(other) + "-" + id);
    if (is_like_seen) family.back() = ItemOf(0, static_cast<int32_t>(i % kDays), 99);
    for (const std::string& member : family) {
      ItemGroup& record = records.emplace_back();
      record.item_id = member;
      record.group_id = family[0];
      for (const std::string& near : family) {
        if (near != member) record.near.push_back({near, 0.9, 2, FoundBy::kBoth});
      }
    }
  }
  const GroupsInMemory groups(records);
  const std::vector<std::string_view> views(ids.begin(), ids.end());
  SeenReader reader;
  FingerprintSet shown_alike;
  Candidates candidates;
  SimilarCandidates decided;
  std::vector<uint32_t> unseen;
  std::vector<SimilarCandidate> similar;
  for (auto _ : state) {
    if (!reader.Read(stored, {}, {}, {})) std::abort();
    candidates.Unseen({views, {}}, {}, reader, unseen);
    if (rule != Similar::kOff || one_per_group) {
      const SeenSets sets{reader.seen(), shown_alike, {}};
      if (!decided.Decide({rule, one_per_group}, groups, sets, views, candidates.fingerprints(), unseen,
                          similar)) {
        std::abort();
      }
    }
    benchmark::DoNotOptimize(unseen.data());
    if (shown_alike.size() == 0) {  // as many as the items that the user has seen
      shown_alike.Reset(kDays * kItemsADay);
      for (uint32_t i = 0; i < kDays * kItemsADay; ++i) shown_alike.Insert(NearFingerprintOf({i * 7'919}));
    }
  }
  CountCandidates(state);
  state.counters["similar"] = static_cast<double>(similar.size());
}
BENCHMARK(DecideSimilar)
    ->ArgNames({"rule", "one_per_group", "like_seen"})
    ->Args({0, 0, 0})
    ->Args({1, 0, 0})
    ->Args({1, 0, 1})
    ->Args({2, 0, 4})
    ->Args({0, 1, 0})
    ->Args({1, 1, 1});

// How many items that were never shown are taken for seen. The items were created today. Users have 30 days
// x 100 items.
void FalsePositives(benchmark::State& state) {
  constexpr uint64_t kUsers = 64;
  std::vector<std::string> stored;
  for (uint64_t user = 0; user < kUsers; ++user) stored.push_back(EncodedShown(user));
  std::array<std::array<char, 16>, kCandidates> ids;
  std::array<std::string_view, kCandidates> views;
  const std::vector<uint32_t> created(state.range(0) != 0 ? kCandidates : 0, kToday);
  SeenReader reader;
  Candidates candidates;
  std::vector<uint32_t> unseen;
  uint64_t asked = 0, wrong = 0;
  for (auto _ : state) {
    if (asked / kCandidates % 1'000 == 0) {
      if (!reader.Read(stored[asked / kCandidates / 1'000 % kUsers], {}, {}, {})) std::abort();
    }
    for (size_t i = 0; i < kCandidates; ++i, ++asked) {
      for (size_t digit = 0; digit < 16; ++digit)
        ids[i][digit] = static_cast<char>('a' + (asked >> 4 * digit & 15));
      views[i] = {ids[i].data(), ids[i].size()};
    }
    candidates.Unseen({views, created}, {}, reader, unseen);
    wrong += kCandidates - unseen.size();
  }
  state.counters["asked"] = static_cast<double>(asked);
  state.counters["wrong"] = static_cast<double>(wrong);
  state.counters["rate"] = static_cast<double>(wrong) / static_cast<double>(asked);
}
BENCHMARK(FalsePositives)
    ->ArgName("dated")
    ->Arg(0)
    ->Arg(1)
    ->Iterations(1'000'000)
    ->Unit(benchmark::kMicrosecond);

}  // namespace
}  // namespace seen::micro
