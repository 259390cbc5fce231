#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "decode/event_decoder.h"
#include "tools/history/history_reader.h"
#include "tools/replay/history_source.h"

namespace seen {
namespace {

constexpr int kLinesAtOnce = 256;
constexpr int kSequenceBits = 40;  // the low bits of a ticket; the bits above are the file's index
constexpr int kLinesUntilAnEvent = 1000;

class FileSource final : public HistorySource {
 public:
  FileSource(std::vector<HistoryFile> files, const EventFormat& format) : format_(format) {
    for (HistoryFile& file : files) {
      total_bytes_ += file.size;
      parts_.push_back({std::move(file), LineOutcomes(), {}});
    }
  }

  /// Continues from what an earlier run did.
  Status Resume(const Manifest& manifest) {
    for (Part& part : parts_) {
      for (const ManifestFile& known : manifest.files) {
        if (known.name != part.file.name) continue;
        if (auto same = Recognise(known, part); !same) return same;
      }
    }
    return {};
  }

  Result<bool> Next(const Use& use) override {
    for (int i = 0; i < kLinesAtOnce; ++i) {
      if (!reader_) {
        const auto opened = OpenNext();
        if (!opened) return Fail(opened.error());
        if (!*opened) return false;
      }
      Part& part = parts_[at_];
      HistoryLine line;
      const auto more = reader_->Next(line);
      if (!more && more.error().code != Code::kMalformed) return Fail(more.error());
      if (!more || !*more) {
        part.bytes_not_read = reader_->bytes_not_read();
        if (!more) part.damage = more.error().message;
        part.read_whole = true;
        End();
        continue;
      }
      if (skip_ > 0) {  // done by an earlier run
        --skip_;
        continue;
      }
      const HistoryEntry entry{.ticket = static_cast<uint64_t>(at_) << kSequenceBits | part.lines.Begin(),
                               .text = line.text,
                               .event = line.event,
                               .problem = line.problem};
      if (auto used = use(entry); !used) return Fail(used.error());
    }
    return true;
  }

  void Finish(uint64_t ticket, LineOutcome outcome) override {
    parts_[ticket >> kSequenceBits].lines.Finish(ticket & ((uint64_t{1} << kSequenceBits) - 1), outcome);
  }

  void Describe(Manifest& manifest) const override {
    for (const Part& part : parts_) {
      if (part.is_described) continue;
      ManifestFile now{.name = part.file.name,
                       .size = part.file.size,
                       .first_block_hash = part.file.first_block_hash,
                       .lines = part.lines.counts(),
                       .bytes_not_read = part.bytes_not_read,
                       .damage = part.damage};
      if (part.read_whole && part.lines.outstanding() == 0)
        now.state = part.damage.empty() ? ManifestFile::State::kDone : ManifestFile::State::kDamaged;
      if (now.lines.done() == 0 && !part.read_whole) continue;
      part.is_described = now.state != ManifestFile::State::kPartly;
      if (ManifestFile* known = manifest.FindFile(now.name)) {
        *known = std::move(now);
      } else {
        manifest.files.push_back(std::move(now));
      }
    }
  }

  LinePlace Place() const override {
    return {static_cast<uint32_t>(at_), -1, static_cast<int64_t>(reader_->line_number())};
  }
  std::string WhereOf(const LinePlace& place) const override {
    return nlohmann::ordered_json{{"file", parts_[place.source].file.name}, {"line", place.number}}.dump();
  }

  bool PartEnded() override { return std::exchange(part_ended_, false); }
  uint64_t Position() const override { return bytes_before_ + (reader_ ? reader_->position() : 0); }
  uint64_t Total() const override { return total_bytes_; }
  std::string_view Unit() const override { return "bytes"; }

 private:
  struct Part {
    HistoryFile file;
    LineOutcomes lines;
    std::string damage;
    uint64_t bytes_not_read = 0;
    bool read_whole = false;            // to its end, or up to the damage
    mutable bool is_described = false;  // the manifest has its final entry; there may be thousands of files
  };

  /// `from`: the first byte that was added, counted from 1. The rows of a table need its header.
  std::string SendWhatWasAdded(const HistoryFile& file, uint64_t from) const {
    const auto reader = HistoryReader::Open(file, format_);
    if (!reader || !reader->is_table()) {
      return fmt::format("Send the added part separately: tail -c +{} '{}' | seenctl replay -", from,
                         file.name);
    }
    if (reader->packing() != ByteStream::Packing::kPlain)
      return "Send the added part separately, in a file that begins with the table's header";
    return fmt::format(
        "Send the added part separately: (head -n 1 '{1}'; tail -c +{0} '{1}') | seenctl replay -", from,
        file.name);
  }

  Status Recognise(const ManifestFile& known, Part& part) const {
    const auto now_hash = FirstBlockHash(part.file.name, known.size);
    const bool begins_alike = part.file.size >= known.size && now_hash && *now_hash == known.first_block_hash;
    const bool is_same = begins_alike && part.file.size == known.size;
    if (known.state == ManifestFile::State::kDamaged && !is_same) return {};  // repaired: read it again
    if (known.state == ManifestFile::State::kPartly && begins_alike) part.file.size = known.size;
    if (!is_same && !(known.state == ManifestFile::State::kPartly && begins_alike)) {
      return Fail(
          Code::kRefused,
          fmt::format("{}: this file changed after an earlier run had {} it: the file had {} bytes and has "
                      "{}{}. {}, or name another file with --progress to send the whole file again",
                      part.file.name, known.state == ManifestFile::State::kDone ? "sent" : "begun",
                      known.size, part.file.size, begins_alike ? "" : ", and begins differently",
                      begins_alike ? SendWhatWasAdded(part.file, known.size - known.bytes_not_read + 1)
                                   : "Put the old file back"));
    }
    part.lines = LineOutcomes(known.lines);
    part.read_whole = known.state != ManifestFile::State::kPartly;
    part.damage = known.damage;
    part.bytes_not_read = known.bytes_not_read;
    return {};
  }

  Result<bool> OpenNext() {
    while (next_ < parts_.size() && parts_[next_].read_whole) bytes_before_ += parts_[next_++].file.size;
    if (next_ == parts_.size()) return false;
    at_ = next_++;
    auto reader = HistoryReader::Open(parts_[at_].file, format_);
    if (!reader) return Fail(reader.error());
    reader_.emplace(std::move(*reader));
    skip_ = parts_[at_].lines.done();
    return true;
  }

  void End() {
    bytes_before_ += parts_[at_].file.size;
    reader_.reset();
    part_ended_ = true;
  }

  EventFormat format_;
  std::vector<Part> parts_;
  size_t at_ = 0;    // the file that is read now
  size_t next_ = 0;  // the file to open next
  std::optional<HistoryReader> reader_;
  uint64_t skip_ = 0;  // lines that an earlier run has done
  uint64_t bytes_before_ = 0;
  uint64_t total_bytes_ = 0;
  bool part_ended_ = false;
};

}  // namespace

Result<std::unique_ptr<HistorySource>> MakeFileSource(std::vector<HistoryFile> files,
                                                      const EventFormat& format, const Manifest& manifest) {
  for (const HistoryFile& file : files) {  // a bad file must fail now, not after an hour
    if (file.name == "-") continue;
    if (const auto reader = HistoryReader::Open(file, format); !reader) return Fail(reader.error());
  }
  auto source = std::make_unique<FileSource>(std::move(files), format);
  if (auto resumed = source->Resume(manifest); !resumed) return Fail(resumed.error());
  return source;
}

Result<std::vector<HistoryFile>> OrderedByTime(std::vector<HistoryFile> files, const EventFormat& format,
                                               uint64_t event_bytes_max) {
  auto plan = EventPlan::Make(format);
  if (!plan) return Fail(Code::kInvalidArgument, plan.error().path + ": " + plan.error().message);
  EventDecoder decoder(event_bytes_max, *plan);
  std::vector<std::pair<int64_t, size_t>> order;
  for (size_t i = 0; i < files.size(); ++i) {
    order.emplace_back(INT64_MAX, i);
    auto reader = HistoryReader::Open(files[i], format);
    if (!reader) return Fail(reader.error());
    HistoryLine line;
    for (int lines = 0; lines < kLinesUntilAnEvent; ++lines) {
      const auto more = reader->Next(line);
      if (!more || !*more) break;
      const auto event = line.problem.empty() ? decoder.Decode(line.event) : tl::unexpected(Rejection{});
      if (!event || event->skip != SkipReason::kNone) continue;
      order.back().first = event->exposed_at.value;
      break;
    }
  }
  std::sort(order.begin(), order.end());
  std::vector<HistoryFile> ordered;
  ordered.reserve(files.size());
  for (const auto& [time, i] : order) ordered.push_back(std::move(files[i]));
  return ordered;
}

}  // namespace seen
