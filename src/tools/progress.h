#pragma once
// The progress of a long task: a bar that redraws itself on a terminal, elsewhere a line every few seconds.
// Written to standard error: standard output is for results.

#include <cstdint>
#include <string>
#include <string_view>

#include "base/clock.h"

namespace seen {

/// "12,345,678"
std::string WithThousands(uint64_t value);
/// "1.4 KiB", "27.0 MiB"
std::string WithByteUnit(uint64_t bytes);

/// One thread.
class Progress {
 public:
  enum class Mode { kAuto, kTerminal, kLines, kQuiet };

  /// `total` 0: unknown, no bar and no remaining time. `unit` e.g. "events".
  Progress(std::string_view label, uint64_t total, std::string_view unit, Mode mode = Mode::kAuto);
  Progress(std::string_view label, uint64_t total, std::string_view unit, bool quiet)
      : Progress(label, total, unit, quiet ? Mode::kQuiet : Mode::kAuto) {}
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  /// Cheap enough to call per event. `note` stands at the end of the line.
  void Update(uint64_t done, std::string_view note = {});
  /// Draws once more and ends the line. Later calls do nothing.
  void Finish(std::string_view note = {});

  /// The line to draw, without control codes. `elapsed_s` must be greater than 0. Where `columns` are too
  /// few, the bar is left out, and then the end of the line.
  static std::string Line(std::string_view label, uint64_t done, uint64_t total, std::string_view unit,
                          double elapsed_s, std::string_view note, bool bar, size_t columns = SIZE_MAX);

 private:
  void Draw(std::string_view note, bool last);

  std::string label_;
  std::string unit_;
  uint64_t total_;
  uint64_t done_ = 0;
  Mode mode_;
  Instant start_;
  Instant next_;
  uint32_t skipped_ = 0;  // calls since the last look at the clock
  bool drawn_ = false;
  bool finished_ = false;
};

}  // namespace seen
