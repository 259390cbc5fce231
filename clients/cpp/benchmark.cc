// How long a request's look-ups take: 2,000 candidates, ids of 16 bytes, hashed and tested against a snapshot
// of 3,000 items of kind 1, all in cache. And what updates cost: 2,000 additions a round, a million users, 16
// partitions. Usage: benchmark [ROUNDS]

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "seen/filter_reader.h"
#include "seen/snapshot.h"
#include "tests/encoders.h"
#include "tests/updates.h"

namespace seen::client {
namespace {

constexpr int kItems = 3000;
constexpr int kCandidates = 2000;
constexpr std::uint32_t kBlocks = 124;  // of 3,000 items at 1%

std::string Id(int number) {
  char text[17];
  std::snprintf(text, sizeof(text), "article-%08d", number);
  return text;
}

/// Calls `run` `rounds` times and prints the median and the least time of a round.
template <typename Run>
void Measure(const char* name, int rounds, Run run) {
  std::vector<double> micros;
  for (int i = 0; i < rounds; ++i) {
    const auto start = std::chrono::steady_clock::now();
    run();
    micros.push_back(
        std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now() - start).count());
  }
  std::sort(micros.begin(), micros.end());
  std::printf("%-44s median %6.2f us, min %6.2f us\n", name, micros[micros.size() / 2], micros.front());
}

constexpr std::uint32_t kUsers = 1'000'000;
constexpr std::int32_t kPartitions = 16;
constexpr int kAdditionsOfRecord = 80;  // of 100,000 events/s in 1,200 records

std::string UserOf(std::uint32_t number) { return "user-" + std::to_string(number); }

/// Updates of users at random, `items` additions each, partition by partition; the n-th of a partition has
/// the offsets [n, n + 1).
std::vector<std::string> Updates(std::size_t count, int items) {
  std::vector<std::string> updates;
  std::uint64_t random = 1;
  for (std::size_t i = 0; i < count; ++i) {
    const auto partition = static_cast<std::uint32_t>(i % kPartitions);
    const auto offset = static_cast<std::int64_t>(i / kPartitions);
    test::UpdateParts parts = {
        static_cast<std::int32_t>(partition), 1, offset, offset + 1, 1, {"default"}, {{}}};
    for (int left = kAdditionsOfRecord; left > 0; left -= items) {
      random = random * 6364136223846793005U + 1442695040888963407U;
      const auto user =
          static_cast<std::uint32_t>(random >> 33) % (kUsers / kPartitions) * kPartitions + partition;
      test::Entry entry{UpdateUserOf(UserOf(user)), {}};
      for (int item = 0; item < items; ++item) entry.items.push_back(FingerprintOf(Id(left + item)));
      parts.sections[0].entries.push_back(std::move(entry));
    }
    updates.push_back(test::Encoded(parts));
  }
  return updates;
}

double SecondsSince(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

/// Whether nothing was refused.
bool MeasureUpdates(std::size_t additions, int items, int rounds) {
  const std::vector<std::string> updates =
      Updates(std::max<std::size_t>(additions / kAdditionsOfRecord, 1), items);
  FilterReader reader("default");
  bool ok = true;
  auto start = std::chrono::steady_clock::now();
  for (const std::string& update : updates) ok = !reader.TakeUpdate(update) && ok;
  const double seconds = SecondsSince(start);
  const auto held = static_cast<double>(reader.additions());
  const auto bytes = static_cast<double>(reader.additions_bytes());
  std::printf(
      "%d a user: %.0f additions, %.1f million/s, %.3f us and %.1f bytes each with the index of users\n",
      items, held, held / seconds / 1e6, seconds * 1e6 / held, bytes / held);
  std::vector<std::string> candidates;
  for (int i = 0; i < 500; ++i) candidates.push_back(Id(i));
  std::uint32_t user = 0;
  std::size_t unseen = 0;
  Measure("Unseen: 500 candidates, users at random", rounds,
          [&] { unseen += reader.Unseen(UserOf(user = (user + 7919) % kUsers), candidates).size(); });
  start = std::chrono::steady_clock::now();
  for (std::int32_t partition = 0; partition < kPartitions; ++partition) {
    reader.SnapshotsEnd(partition, 0);
    const std::string beat =
        test::Encoded(test::BeatParts{partition, 1, static_cast<std::int64_t>(updates.size()), 0});
    ok = !reader.TakeBeat(std::to_string(partition), beat) && ok;
  }
  std::printf("dropped: %.3f us each, %zu left; %zu unseen\n", SecondsSince(start) * 1e6 / held,
              reader.additions(), unseen);
  return ok && reader.additions() == 0;
}

int Main(int rounds) {
  std::vector<Fingerprint> items;
  for (int i = 0; i < kItems; ++i) items.push_back(FingerprintOf(Id(i)));
  test::Header header;
  header.item_count = kItems;
  const std::string bytes =
      test::Envelope(Format::kSplitBlockBloom, test::SplitBlockBloomPayload(items, kBlocks), header);
  const auto snapshot = Snapshot::Parse(bytes);
  if (!snapshot) {
    std::fprintf(stderr, "%s\n", snapshot.error().message.c_str());
    return 1;
  }
  std::vector<std::string> candidates;  // a third of them seen
  for (int i = 0; i < kCandidates; ++i) candidates.push_back(Id(i * 4 + i % 3));
  const std::vector<std::string_view> ids(candidates.begin(), candidates.end());
  std::vector<Fingerprint> fingerprints;
  for (const std::string_view id : ids) fingerprints.push_back(FingerprintOf(id));
  std::vector<std::uint8_t> answers(ids.size());
  std::size_t unseen = 0;

  std::printf("%d candidates of %zu bytes, a snapshot of %d items, %zu bytes; %d rounds\n", kCandidates,
              ids[0].size(), kItems, bytes.size(), rounds);
  Measure("hash and test", rounds,
          [&] { snapshot->MightContainEach(ids.data(), ids.size(), answers.data()); });
  Measure("test, given the fingerprints", rounds,
          [&] { snapshot->MightContainEach(fingerprints.data(), fingerprints.size(), answers.data()); });
  Measure("hash and test, one by one", rounds, [&] {
    for (std::size_t i = 0; i < ids.size(); ++i) answers[i] = snapshot->MightContain(ids[i]);
  });
  Measure("Unseen: each once, copied into a vector", rounds, [&] { unseen = snapshot->Unseen(ids).size(); });
  Measure("Parse", rounds, [&] { unseen += Snapshot::Parse(bytes) ? 0U : 1U; });
  std::printf("%zu of them unseen\n\nhash and test, by kind:\n", unseen);
  for (int number = 1; number <= test::kFormats; ++number) {
    const Format format = test::FormatOf(number);
    const auto of_kind = Snapshot::ParseCopy(test::SnapshotOf(format, items));
    if (!of_kind) return 1;
    const std::string name =
        std::string(NameOf(format)) + ", " + std::to_string(of_kind->bytes().size()) + " bytes";
    Measure(name.c_str(), rounds, [&] { of_kind->MightContainEach(ids.data(), ids.size(), answers.data()); });
  }
  std::printf("\nupdates:\n");
  const std::size_t additions = std::size_t{2000} * static_cast<std::size_t>(rounds);
  return MeasureUpdates(additions, 1, rounds) && MeasureUpdates(additions, 10, rounds) ? 0 : 1;
}

}  // namespace
}  // namespace seen::client

int main(int argc, char** argv) {
  const int rounds = argc > 1 ? std::atoi(argv[1]) : 5000;
  return seen::client::Main(std::clamp(rounds, 1, 1000000));
}
