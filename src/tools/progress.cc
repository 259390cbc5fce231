#include "tools/progress.h"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>

namespace seen {
namespace {

constexpr auto kRedraw = std::chrono::milliseconds(200);
constexpr auto kLineEvery = std::chrono::seconds(5);
constexpr size_t kBarCells = 24;

std::string Duration(double seconds) {
  const auto whole = static_cast<uint64_t>(std::llround(std::max(0.0, seconds)));
  if (whole >= 3600) return fmt::format("{}h{:02}m", whole / 3600, whole / 60 % 60);
  return whole >= 60 ? fmt::format("{}m{:02}s", whole / 60, whole % 60) : fmt::format("{}s", whole);
}

/// Of a terminal; 80 where it doesn't say.
size_t ColumnsOf(int terminal) {
  winsize size{};
  return ioctl(terminal, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : 80;
}

}  // namespace

std::string WithThousands(uint64_t value) {
  std::string digits = std::to_string(value);
  for (size_t at = digits.size(); at > 3; at -= 3) digits.insert(at - 3, 1, ',');
  return digits;
}

std::string WithByteUnit(uint64_t bytes) {
  constexpr const char* kUnits[] = {"KiB", "MiB", "GiB", "TiB"};
  if (bytes < 1024) return fmt::format("{} B", bytes);
  double value = static_cast<double>(bytes) / 1024;
  size_t unit = 0;
  for (; value >= 1024 && unit < 3; ++unit) value /= 1024;
  return fmt::format("{:.1f} {}", value, kUnits[unit]);
}

Progress::Progress(std::string_view label, uint64_t total, std::string_view unit, Mode mode)
    : label_(label), unit_(unit), total_(total), mode_(mode), start_(SystemClock().Now()) {
  if (mode_ == Mode::kAuto) mode_ = isatty(STDERR_FILENO) != 0 ? Mode::kTerminal : Mode::kLines;
  next_ = start_ + (mode_ == Mode::kTerminal ? std::chrono::nanoseconds(kRedraw) : kLineEvery);
}

Progress::~Progress() { Finish(); }

void Progress::Update(uint64_t done, std::string_view note) {
  done_ = done;
  if (mode_ == Mode::kQuiet || finished_ || (++skipped_ < 64 && note.empty())) return;
  skipped_ = 0;
  const Instant now = SystemClock().Now();
  if (now < next_) return;
  next_ = now + (mode_ == Mode::kTerminal ? std::chrono::nanoseconds(kRedraw) : kLineEvery);
  Draw(note, false);
}

void Progress::Finish(std::string_view note) {
  if (finished_) return;
  finished_ = true;
  const bool quick = SystemClock().Now() - start_ < kRedraw && !drawn_;
  if (mode_ != Mode::kQuiet && !quick) Draw(note, true);
}

std::string Progress::Line(std::string_view label, uint64_t done, uint64_t total, std::string_view unit,
                           double elapsed_s, std::string_view note, bool bar, size_t columns) {
  const double rate = static_cast<double>(done) / std::max(elapsed_s, 1e-9);
  const auto with = [&](bool with_bar, bool with_amounts) {
    std::string line(label);
    if (total > 0) {
      const double part = std::min(1.0, static_cast<double>(done) / static_cast<double>(total));
      if (with_bar) {
        const auto cells = static_cast<size_t>(part * static_cast<double>(kBarCells));
        line += " [" + std::string(cells, '#') + std::string(kBarCells - cells, '.') + "]";
      }
      line += fmt::format(" {:3.0f}%", part * 100);
      if (with_amounts) line += fmt::format(" {} of {} {}", WithThousands(done), WithThousands(total), unit);
      if (done > 0 && done < total)
        line += ", " + Duration(static_cast<double>(total - done) / rate) + " left";
    } else {
      line += fmt::format(" {} {}", WithThousands(done), unit);
    }
    if (with_amounts) line += fmt::format(", {}/s", WithThousands(static_cast<uint64_t>(rate)));
    if (!note.empty()) line.append(", ").append(note);
    return line;
  };
  std::string line = with(bar, true);
  if (line.size() > columns && bar) line = with(false, true);
  if (line.size() > columns && !note.empty()) line = with(false, false);
  if (line.size() <= columns) return line;
  constexpr std::string_view kCut = "...";
  return columns < kCut.size() ? std::string() : line.substr(0, columns - kCut.size()).append(kCut);
}

void Progress::Draw(std::string_view note, bool last) {
  drawn_ = true;
  const double elapsed_s = std::chrono::duration<double>(SystemClock().Now() - start_).count();
  const bool terminal = mode_ == Mode::kTerminal;
  // A line that the terminal wraps isn't overwritten by the next one. The last line stays as it is.
  const size_t columns = terminal && !last ? ColumnsOf(STDERR_FILENO) - 1 : SIZE_MAX;
  const std::string line = Line(label_, done_, total_, unit_, elapsed_s, note, terminal, columns);
  std::fprintf(stderr, "%s%s%s", terminal ? "\r\x1b[K" : "", line.c_str(), terminal && !last ? "" : "\n");
  std::fflush(stderr);
}

}  // namespace seen
