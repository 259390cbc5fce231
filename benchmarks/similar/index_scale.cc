// The cost of the index of items at a given size: bytes an item, items indexed a second, and the times of a
// decision, a start and a look-up. Look-ups are for items without similar items, and for the worst case: all
// lists of a text are full.
//
//   bench_index_scale [--items N] [--cache-mib N] [--lookups N] [--directory D] [--method M] [--undecided]
//                     [--keep] [--smoke]
//
// --keep: the index stays in the directory as seen-index. An index that is already there is used as it is.
// --undecided: puts the items into the index with the groups that they would get, without a search. This
// serves look-ups among ten million items, in half the time.
//
// Features are made from numbers: uniform SimHashes and bands, 80 shingles a text as for 500 characters. One
// item of ten is similar to an earlier one. Items spread over the window, so that all buckets of the window
// exist. The worst case comes from one text. Each item differs from it in only one shingle, until its lists
// are at their limit.
#include <time.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <random>
#include <string>
#include <vector>

#include "similar/groups/group_flow.h"
#include "similar/groups/group_rules.h"
#include "similar/store/rocks_item_indexes.h"

namespace seen::bench {
namespace {

using std::chrono::steady_clock;
constexpr int32_t kWindowDays = 30;
constexpr size_t kShingles = 80;
constexpr int64_t kFirstMs = 20'000 * int64_t{86'400'000};

struct Arguments {
  uint64_t items = 10'000'000;
  uint64_t cache_mib = 1024;
  std::string directory = std::filesystem::temp_directory_path().string();
  size_t lookups = 20'000;
  bool undecided = false;
  bool keep = false;
  SimilarMethod method = kDefaultMethod;
};

// The CPU time of this thread. Other work on the machine doesn't count.
double CpuSeconds() {
  timespec now{};
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

double Seconds(steady_clock::duration time) { return std::chrono::duration<double>(time).count(); }

class NoSink final : public GroupSink {
 public:
  bool TrySend(std::string_view, const ItemGroup*) override { return true; }
  Status AwaitAll(std::chrono::milliseconds) override { return {}; }
};

uint64_t Mix(uint64_t value) {
  value = (value ^ value >> 30) * 0xbf58476d1ce4e5b9u;
  value = (value ^ value >> 27) * 0x94d049bb133111ebu;
  return value ^ value >> 31;
}

// The features of item `number`. Every tenth item is a near copy of the item before it.
void MakeFeatures(uint64_t number, ItemFeatures& out) {
  const bool is_near_copy = number % 10 == 9;
  const uint64_t of = is_near_copy ? number - 1 : number;
  out.content_hash = Mix(number * 3 + 1);
  out.simhash = Mix(of * 5 + 2) ^ (is_near_copy ? 0b101 : 0);
  for (size_t band = 0; band < kBands; ++band) {
    out.bands[band] = Mix((is_near_copy && band % 2 != 0 ? number : of) * 16 + band);
  }
  out.length = LengthClass::kLong;
  out.words = kShingles + 2;
  auto& values = out.sketch.values;
  values.resize(kShingles);
  for (size_t i = 0; i < kShingles; ++i) values[i] = static_cast<uint16_t>(Mix(of * 128 + i));
  if (is_near_copy) values[0] = static_cast<uint16_t>(Mix(number));
  std::sort(values.begin(), values.end());
  values.erase(std::unique(values.begin(), values.end()), values.end());
}

// The same text again and again, with small differences.
void MakeSpam(uint64_t number, ItemFeatures& out) {
  MakeFeatures(0, out);
  out.content_hash = Mix(number * 3 + 7778);
  out.simhash ^= uint64_t{1} << number % 3;
  out.sketch.values.back() = static_cast<uint16_t>(0xfffe - number % 50);
  std::sort(out.sketch.values.begin(), out.sketch.values.end());
}

void Require(const Status& status) {
  if (status) return;
  std::fprintf(stderr, "%s\n", status.error().message.c_str());
  std::exit(1);
}

class Scale {
 public:
  explicit Scale(const Arguments& arguments) : arguments_(arguments) {
    std::string path = arguments.directory + (arguments.keep ? "/seen-index" : "/seen-index-XXXXXX");
    if (arguments.keep) {
      std::filesystem::create_directories(path);
    } else if (::mkdtemp(path.data()) == nullptr) {
      Require(Fail(Code::kUnavailable, "can't make " + path));
    }
    path_ = path;
    OpenIndex();
    OpenFlow();
  }
  ~Scale() {
    flow_.reset();
    index_.reset();
    if (!arguments_.keep) std::filesystem::remove_all(path_);
  }
  bool empty() const { return flow_->Figures().items == 0; }

  /// Takes `items` items from `make`. Their times spread over `span_ms`.
  template <typename Make>
  void Take(const char* what, uint64_t items, int64_t from_ms, int64_t span_ms, Make make) {
    constexpr size_t kBatch = 256;
    std::vector<ItemFeatures> features(kBatch);
    std::vector<std::string> ids(kBatch);
    std::vector<PreparedItem> batch;
    steady_clock::duration applying{};
    steady_clock::duration slowest{};
    double cpu = 0;
    for (uint64_t done = 0; done < items; done += kBatch) {
      batch.clear();
      for (size_t i = 0; i < std::min<uint64_t>(kBatch, items - done); ++i) {
        make(done + i, features[i]);
        ids[i] = std::string(what) + std::to_string(done + i);
        const TimeMs at{from_ms +
                        static_cast<int64_t>(static_cast<double>(span_ms) * static_cast<double>(done + i) /
                                             static_cast<double>(items))};
        batch.push_back({offset_++, at, ids[i], at, false, &features[i]});
      }
      const auto begin = steady_clock::now();
      const double cpu_begin = CpuSeconds();
      Require(flow_->Apply(batch));
      if (flow_->MuchIsUnsaved()) Require(flow_->Checkpoint());
      cpu += CpuSeconds() - cpu_begin;
      const auto took = steady_clock::now() - begin;
      applying += took;
      slowest = std::max(slowest, took);
    }
    const auto begin = steady_clock::now();
    Require(flow_->Checkpoint());
    applying += steady_clock::now() - begin;
    std::printf(
        "%-8s %10llu items, %8.0f items/s (checkpoints included), %8.0f a second of this thread, slowest "
        "256: "
        "%.1f ms\n",
        what, static_cast<unsigned long long>(items), static_cast<double>(items) / Seconds(applying),
        static_cast<double>(items) / cpu, 1000 * Seconds(slowest));
    std::fflush(stdout);
  }

  /// Puts the same items into the index, in the groups that they would get.
  void PutUndecided(uint64_t items, int64_t from_ms, int64_t span_ms) {
    constexpr uint64_t kUnsavedBytes = 64 << 20;
    flow_.reset();
    const GroupRules rules{GroupOptions()};
    IndexPosition position;
    const auto save = [&] { Require(index_->Checkpoint(position, rules.FirstBucket(position.index_time))); };
    const auto begin = steady_clock::now();
    ItemRef before;
    for (uint64_t number = 0; number < items; ++number) {
      const TimeMs at{from_ms +
                      static_cast<int64_t>(static_cast<double>(span_ms) * static_cast<double>(number) /
                                           static_cast<double>(items))};
      const ItemRef item{rules.BucketOf(at), number};
      StoredItem stored{"item" + std::to_string(number), at, {}};
      MakeFeatures(number, stored.features);
      IndexChange change;
      change.listed.push_back({item, stored.features});
      if (number % 10 == 9) {
        const std::string first = "item" + std::to_string(number - 1);
        const auto near = [](ItemRef ref, std::string id) {
          return StoredNear{ref, {std::move(id), 0.97, 2, FoundBy::kBoth}};
        };
        change.groups.push_back(
            {item, StoredGroup{before, first, FoundBy::kBoth, 0.97, 2, {near(before, first)}, {}}});
        change.groups.push_back(
            {before, StoredGroup{before, first, FoundBy::kFirst, 1.0, 0, {near(item, stored.item_id)}, {}}});
        change.memberships.push_back({before, item, true});
      }
      change.added.push_back({item, std::move(stored), true});
      Require(index_->Write(change));
      before = item;
      ++position.items[item.bucket];
      position.next_number = number + 1;
      position.next_offset = static_cast<int64_t>(number + 1);
      position.index_time = at;
      if (index_->unsaved_bytes() > kUnsavedBytes) save();
    }
    save();
    offset_ = position.next_offset;
    std::printf("%-8s %10llu items, %8.0f items/s put in, undecided\n", "item",
                static_cast<unsigned long long>(items),
                static_cast<double>(items) / Seconds(steady_clock::now() - begin));
    std::fflush(stdout);
    OpenFlow();
  }

  /// Decides `items` new items, and times each alone. Checkpoints come between items.
  void Decide(const char* what, size_t items, int64_t at_ms) {
    std::vector<double> times, cpu_times;
    ItemFeatures features;
    double checkpoints = 0;
    for (size_t i = 0; i < items; ++i) {
      MakeFeatures(arguments_.items + i, features);
      const std::string id = "later" + std::to_string(i);
      const PreparedItem item{offset_++, TimeMs{at_ms}, id, TimeMs{at_ms}, false, &features};
      const auto begin = steady_clock::now();
      const double cpu_begin = CpuSeconds();
      Require(flow_->Apply({&item, 1}));
      cpu_times.push_back(1e6 * (CpuSeconds() - cpu_begin));
      times.push_back(1e6 * Seconds(steady_clock::now() - begin));
      if (!flow_->MuchIsUnsaved()) continue;
      const double checkpoint_begin = CpuSeconds();
      Require(flow_->Checkpoint());
      checkpoints += CpuSeconds() - checkpoint_begin;
    }
    double cpu = checkpoints;
    for (const double time : cpu_times) cpu += 1e-6 * time;
    PrintTimes("decision", what, "wall", times);
    PrintTimes("decision", what, "cpu", cpu_times);
    std::printf("         %.0f items/s of this thread, checkpoints included\n",
                static_cast<double>(items) / cpu);
    std::fflush(stdout);
  }

  /// Closes and opens the index again. The page cache keeps its pages of the files.
  void Reopen() {
    Require(flow_->Checkpoint());
    flow_.reset();
    index_.reset();
    const auto begin = steady_clock::now();
    OpenIndex();
    OpenFlow();
    std::printf("start    %.2f s\n", Seconds(steady_clock::now() - begin));
    std::fflush(stdout);
    PrintSize();
  }

  template <typename Make>
  void LookUp(const char* what, size_t lookups, Make make) {
    std::vector<double> times, cpu_times;
    std::vector<ItemFeatures> features(1024);
    std::mt19937_64 random(1);
    size_t found = 0;
    while (times.size() < lookups) {
      for (ItemFeatures& one : features) make(random(), one);
      for (const ItemFeatures& one : features) {
        const auto begin = steady_clock::now();
        const double cpu_begin = CpuSeconds();
        const auto similar = flow_->Similar(one, kNearItemsMax);
        cpu_times.push_back(1e6 * (CpuSeconds() - cpu_begin));
        times.push_back(1e6 * Seconds(steady_clock::now() - begin));
        if (!similar) Require(Fail(similar.error()));
        found += similar->size();
      }
    }
    PrintTimes("look-up", what, "wall", times);
    PrintTimes("look-up", what, "cpu", cpu_times);
    std::printf("         %.2f found\n", static_cast<double>(found) / static_cast<double>(times.size()));
    std::fflush(stdout);
  }

  static void PrintTimes(const char* kind, const char* what, const char* of, std::vector<double>& times) {
    std::sort(times.begin(), times.end());
    const auto at = [&](double part) {
      return times[static_cast<size_t>(part * static_cast<double>(times.size() - 1))];
    };
    std::printf("%-8s %-28s %-4s p50 %6.1f us, p99 %6.1f us, p99.9 %7.1f us, max %8.1f us\n", kind, what, of,
                at(0.5), at(0.99), at(0.999), at(1));
  }

  void PrintSize() {
    const GroupFigures figures = flow_->Figures();
    const auto items = static_cast<double>(figures.items);
    std::printf("size     %.1f bytes an item on disk, %.1f in memory for its keys\n",
                static_cast<double>(figures.bytes) / items,
                static_cast<double>(index_->presence_bytes()) / items);
    if (figures.items_total == 0) return;
    std::printf(
        "decided  a SimHash was compared with %.1f others, 4 x items / 65,536 is %.1f at the end; %.2f "
        "candidates verified an item\n",
        static_cast<double>(figures.compared_total) / static_cast<double>(figures.items_total),
        4.0 * static_cast<double>(figures.items) / 65'536,
        static_cast<double>(figures.candidates_total) / static_cast<double>(figures.items_total));
  }
  void Compact() { Require(index_->CompactAll()); }

 private:
  void OpenIndex() {
    IndexGeneration generation;
    generation.method = arguments_.method;
    auto index = RocksItemIndex::Open({.directory = path_,
                                       .generation = generation,
                                       .idf = IdfTable::Bundled(),
                                       .idf_text = std::string(IdfTable::BundledText()),
                                       .resources = StoreResources(arguments_.cache_mib << 20, 1),
                                       .presence_bytes_max = uint64_t{1} << 30});
    if (!index) Require(Fail(index.error()));
    index_ = std::move(*index);
    const auto position = index_->ReadPosition();
    if (!position) Require(Fail(position.error()));
    if (*position) offset_ = (*position)->next_offset;
  }
  void OpenFlow() {
    auto flow = GroupFlow::Open({.method = arguments_.method}, *index_, sink_);
    if (!flow) Require(Fail(flow.error()));
    flow_ = std::move(*flow);
  }

  const Arguments arguments_;
  std::string path_;
  NoSink sink_;
  std::unique_ptr<RocksItemIndex> index_;
  std::unique_ptr<GroupFlow> flow_;
  int64_t offset_ = 0;
};

void Run(const Arguments& arguments) {
  Scale scale(arguments);
  const uint64_t items = arguments.items;
  const int64_t window_ms = kWindowDays * int64_t{86'400'000};
  if (!scale.empty()) {
    std::printf("taken as it is\n");
  } else if (arguments.undecided) {
    scale.PutUndecided(items, kFirstMs, window_ms - 1);
  } else {
    scale.Take("item", items, kFirstMs, window_ms - 1, MakeFeatures);
  }
  scale.PrintSize();
  const auto of_new = [&](uint64_t random, ItemFeatures& out) {
    MakeFeatures((random | uint64_t{1} << 62) / 10 * 10, out);
  };
  const auto of_known = [&](uint64_t random, ItemFeatures& out) {
    MakeFeatures(random % items / 10 * 10 + 8, out);
    out.content_hash ^= 1;
  };
  scale.LookUp("like nothing", arguments.lookups, of_new);
  scale.LookUp("like one or two", arguments.lookups, of_known);
  scale.Decide("at that size", arguments.lookups * 10, kFirstMs + window_ms);
  scale.Reopen();
  scale.Compact();
  scale.PrintSize();
  scale.LookUp("like nothing, compacted", arguments.lookups, of_new);
  scale.LookUp("like one or two, compacted", arguments.lookups, of_known);
  const uint64_t spam = std::min<uint64_t>(10'000, items);
  scale.Take("spam", spam, kFirstMs + window_ms, 1000, MakeSpam);
  const auto of_spam = [](uint64_t random, ItemFeatures& out) { MakeSpam(100'000 + random % 100'000, out); };
  scale.LookUp("worst case: lists full", arguments.lookups / 4, of_spam);
  // The same in every bucket.
  for (int bucket = 0; bucket < 4; ++bucket) {
    const int64_t at = kFirstMs + (bucket * window_ms) / 4 + 86'400'000 * 2;
    scale.Take(("spam" + std::to_string(bucket)).c_str(), std::min<uint64_t>(2'000, items), at, 1000,
               [&](uint64_t number, ItemFeatures& out) {
                 MakeSpam(number + 1'000'000 * static_cast<uint64_t>(bucket + 1), out);
               });
  }
  scale.LookUp("worst case: in all buckets", arguments.lookups / 4, of_spam);
}

}  // namespace
}  // namespace seen::bench

int main(int argc, char** argv) {
  seen::bench::Arguments arguments;
  for (int i = 1; i < argc; ++i) {
    const std::string name = argv[i];
    if (name == "--smoke") {
      arguments.items = 2'000;
      arguments.lookups = 200;
    } else if (name == "--undecided") {
      arguments.undecided = true;
    } else if (name == "--keep") {
      arguments.keep = true;
    } else if (i + 1 < argc && name == "--items") {
      arguments.items = std::strtoull(argv[++i], nullptr, 10);
    } else if (i + 1 < argc && name == "--cache-mib") {
      arguments.cache_mib = std::strtoull(argv[++i], nullptr, 10);
    } else if (i + 1 < argc && name == "--lookups") {
      arguments.lookups = std::strtoull(argv[++i], nullptr, 10);
    } else if (i + 1 < argc && name == "--method" && seen::SimilarMethodNamed(argv[i + 1])) {
      arguments.method = *seen::SimilarMethodNamed(argv[++i]);
    } else if (i + 1 < argc && name == "--directory") {
      arguments.directory = argv[++i];
    } else {
      std::fprintf(
          stderr,
          "usage: %s [--items N] [--cache-mib N] [--lookups N] [--directory D] [--method M] [--undecided] "
          "[--keep] [--smoke]\n",
          argv[0]);
      return 2;
    }
  }
  if (arguments.items == 0) return 2;
  seen::bench::Run(arguments);
  return 0;
}
