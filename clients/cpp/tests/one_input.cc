#include "one_input.h"

#include <algorithm>
#include <vector>

#include "seen/snapshot.h"
#include "seen/watermarks.h"

namespace seen::client::test {

bool TryOneInput(std::string_view bytes) {
  const std::unique_ptr<char[]> exact(new char[bytes.size()]);
  std::copy(bytes.begin(), bytes.end(), exact.get());
  const std::string_view input(exact.get(), bytes.size());
  (void)Watermark::Parse(input);
  const auto snapshot = Snapshot::Parse(input);
  if (!snapshot) return false;
  std::vector<Fingerprint> asked;
  for (std::uint32_t i = 0; i < 64; ++i) asked.push_back(Fingerprint{i * 0x04104105U});
  for (const Fingerprint end : {Fingerprint{0xffffffff}, FingerprintOf("n1"), FingerprintOf(7)})
    asked.push_back(end);
  std::vector<std::uint8_t> answers(asked.size());
  snapshot->MightContainEach(asked.data(), asked.size(), answers.data());
  for (std::size_t i = 0; i < asked.size(); ++i) {
    if (snapshot->MightContain(asked[i]) != (answers[i] != 0)) __builtin_trap();
    (void)snapshot->Details(asked[i]);
  }
  snapshot->MightContainEach(asked.data(), asked.size(), answers.data(),
                             {snapshot->as_of(), snapshot->horizon()});
  snapshot->MightBeNearEach(asked.data(), asked.size(), answers.data());
  for (std::size_t i = 0; i < asked.size(); ++i) {
    if (snapshot->MightBeNear(asked[i]) != (answers[i] != 0)) __builtin_trap();
    if (snapshot->MightHoldGroup(asked[i]) && !snapshot->has_similar()) __builtin_trap();
  }
  (void)snapshot->RecallSize(100);
  (void)Watermarks().StaleBy(*snapshot, NowMs());
  return true;
}

}  // namespace seen::client::test
