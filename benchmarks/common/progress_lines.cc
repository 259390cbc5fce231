#include "common/progress_lines.h"

#include <chrono>
#include <cstdio>
#include <string>

namespace seen::bench {

ProgressLines::ProgressLines(const TopicReader& reader) : reader_(reader) {
  thread_ = std::thread([this] {
    while (!stopping_) {
      Print();
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
    }
  });
}

ProgressLines::~ProgressLines() { Finish(); }

void ProgressLines::Finish() {
  if (stopping_.exchange(true)) return;
  thread_.join();
  Print();
  std::printf("done %llu\n", static_cast<unsigned long long>(reader_.events()));
  std::fflush(stdout);
}

void ProgressLines::Print() const {
  std::string offsets;
  for (const int64_t offset : reader_.next_offsets()) {
    offsets += (offsets.empty() ? "" : ",") + std::to_string(offset);
  }
  std::printf("progress %llu %s\n", static_cast<unsigned long long>(reader_.events()), offsets.c_str());
  std::fflush(stdout);
}

}  // namespace seen::bench
