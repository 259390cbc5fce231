#include "app/space_wait.h"

#include <chrono>
#include <string_view>

#include "base/log.h"

namespace seen {
namespace {
constexpr std::chrono::milliseconds kTryEvery{500};
constexpr std::string_view kRemedy =
    "free space on this disk (df -h; df -i for its inodes), or enlarge it. The daemon goes on by itself";
}  // namespace

bool SpaceWait::Wait(const Error& error) {
  reporter_.NoSpaceAtOpening();
  status_.SetProblem("waiting for space: " + error.message + ". Remedy: " + std::string(kRemedy));
  if (!since_) {
    since_ = std::chrono::steady_clock::now();
    log::Error("waiting for space", {{"reason", error.message}, {"remedy", kRemedy}});
  }
  return !stop_.WaitFor(kTryEvery);
}

void SpaceWait::Ended() {
  if (!since_) return;
  const auto waited = std::chrono::steady_clock::now() - *since_;
  since_.reset();
  status_.SetProblem("starting");
  log::Info("there is space again; the start goes on",
            {{"waited_s", std::chrono::duration_cast<std::chrono::seconds>(waited).count()}});
}

}  // namespace seen
