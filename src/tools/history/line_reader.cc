#include "tools/history/line_reader.h"

#include <fmt/format.h>

#include <cstring>

namespace seen {
namespace {

constexpr size_t kReadBytes = 256 * 1024;

}  // namespace

Result<LineReader> LineReader::Open(const std::string& path) {
  auto stream = ByteStream::Open(path);
  if (!stream) return Fail(std::move(stream.error()));
  return LineReader(std::move(*stream));
}

std::string_view LineReader::Ahead() {
  if (at_ == end_) static_cast<void>(Fill());  // Next returns the error
  return {buffer_.data() + at_, end_ - at_};
}

Result<bool> LineReader::Fill() {
  if (failure_) return Fail(*failure_);
  if (at_end_) return false;
  if (at_ > 0) {
    std::memmove(buffer_.data(), buffer_.data() + at_, end_ - at_);
    end_ -= at_;
    at_ = 0;
  }
  if (buffer_.size() - end_ < kReadBytes) buffer_.resize(end_ + end_ / 2 + kReadBytes);
  const auto read = stream_.Read(std::span(buffer_).subspan(end_));
  if (!read) {
    failure_ = read.error();
    return Fail(*failure_);
  }
  end_ += *read;
  at_end_ = *read == 0;
  return !at_end_;
}

Status LineReader::SkipRestOfLine() {
  while (true) {
    const void* found = std::memchr(buffer_.data() + at_, '\n', end_ - at_);
    if (found != nullptr) {
      at_ = static_cast<size_t>(static_cast<const char*>(found) - buffer_.data()) + 1;
      return {};
    }
    at_ = end_;
    const auto filled = Fill();
    if (!filled) return Fail(filled.error());
    if (!*filled) return {};
  }
}

Result<bool> LineReader::Next(std::string_view& line) {
  if (!line_ended_ && !at_end_) {
    if (auto skipped = SkipRestOfLine(); !skipped) return Fail(skipped.error());
  }
  size_t searched = 0;
  while (true) {
    const size_t from = at_ + searched;
    const void* found = from < end_ ? std::memchr(buffer_.data() + from, '\n', end_ - from) : nullptr;
    if (found != nullptr) {
      const auto end = static_cast<size_t>(static_cast<const char*>(found) - buffer_.data());
      line = {buffer_.data() + at_, end - at_};
      at_ = end + 1;
      line_ended_ = true;
      break;
    }
    searched = end_ - at_;
    if (searched >= kLineBytesMax) {
      line = {buffer_.data() + at_, kLineBytesMax};
      at_ += kLineBytesMax;
      line_ended_ = false;
      break;
    }
    const auto filled = Fill();
    if (!filled) return Fail(filled.error());
    if (*filled) continue;
    if (at_ == end_) return false;
    line = {buffer_.data() + at_, end_ - at_};
    at_ = end_;
    line_ended_ = false;
    break;
  }
  if (line.ends_with('\r')) line.remove_suffix(1);
  ++line_number_;
  return true;
}

}  // namespace seen
