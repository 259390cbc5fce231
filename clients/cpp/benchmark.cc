// How long a request's look-ups take: 2,000 candidates, ids of 16 bytes, hashed and tested against a snapshot
// of 3,000 items of kind 1, all in cache. Usage: benchmark [ROUNDS]

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "seen/snapshot.h"
#include "tests/encoders.h"

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
  return 0;
}

}  // namespace
}  // namespace seen::client

int main(int argc, char** argv) {
  const int rounds = argc > 1 ? std::atoi(argv[1]) : 5000;
  return seen::client::Main(std::clamp(rounds, 1, 1000000));
}
