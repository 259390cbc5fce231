#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "base/text.h"
#include "decode/event_decoder.h"
#include "tools/common_options.h"
#include "tools/history/foreign_format.h"
#include "tools/history/history_file.h"
#include "tools/replay/history_source.h"

namespace seen {
namespace {

constexpr int kLinesAtOnce = 256;
constexpr int kLinesUntilAnEvent = 1000;
constexpr size_t kMarkBytesMax = 200;
constexpr std::string_view kMark = R"({"seen-history":)";

/// Reads files, or standard input. There, `seen-history` writes marks between the lines of its tables:
///   file, size, first_block   the next lines are rows of this file
///   row                       the number of the next row
///   problem, text             the next row, which can't become an event, and why
///   end, damage               the file ends, or it is broken after the last row
///   error                     seen-history couldn't read on
class FileSource final : public HistorySource {
 public:
  FileSource(std::vector<HistoryFile> files, const Manifest& manifest, bool keeps_progress)
      : known_(manifest.files), keeps_progress_(keeps_progress) {
    for (HistoryFile& file : files) {
      total_bytes_ += file.size;
      is_input_ = file.name == "-";
      parts_.push_back({.file = std::move(file)});
    }
  }

  /// Continues from what an earlier run did.
  Status Resume() {
    for (Part& part : parts_) {
      if (const ManifestFile* known = KnownFile(part.file.name)) {
        if (auto same = Recognise(*known, part); !same) return same;
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
      std::string_view line;
      const auto more = reader_->Next(line);
      if (!more && more.error().code != Code::kMalformed) return Fail(more.error());
      if (!more || !*more) {
        End(more ? std::string() : more.error().message);
        continue;
      }
      problem_.clear();
      if (is_input_) {
        const auto is_entry = line.starts_with(kMark) ? TakeMark(line) : TakeLine();
        if (!is_entry) return Fail(is_entry.error());
        if (!*is_entry) continue;
        ++row_;
      }
      const auto ticket = parts_[at_].Begin(number_++);
      if (!ticket) continue;  // done by an earlier run
      const std::string_view text = problem_.empty() ? line : text_;
      const HistoryEntry entry{.ticket = static_cast<uint64_t>(at_) << kSequenceBits | *ticket,
                               .text = text,
                               .event = text,
                               .problem = {"not_a_row", problem_}};
      if (auto used = use(entry); !used) return Fail(used.error());
    }
    return true;
  }

  void Finish(uint64_t ticket, LineOutcome outcome) override {
    parts_[ticket >> kSequenceBits].Finish(ticket & ((uint64_t{1} << kSequenceBits) - 1), outcome);
  }

  void Describe(Manifest& manifest) const override {
    for (const Part& part : parts_) {
      if (part.is_described) continue;
      ManifestFile now{.name = Printable(part.file.name),
                       .size = part.file.size,
                       .first_block_hash = part.file.first_block_hash,
                       .lines = part.Counts(),
                       .rejected = part.Rejected(),
                       .bytes_not_read = part.bytes_not_read,
                       .damage = part.damage};
      if (part.read_whole && part.lines.outstanding() + part.retries.outstanding() == 0)
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
    const uint64_t number = parts_[at_].is_table ? row_ : reader_->line_number();
    return {static_cast<uint32_t>(at_), -1, static_cast<int64_t>(number)};
  }
  std::string WhereOf(const LinePlace& place) const override {
    const Part& part = parts_[place.source];
    return JsonText(
        OrderedJson{{"file", Printable(part.file.name)}, {part.is_table ? "row" : "line", place.number}});
  }

  bool Reads(const std::string& path) const override {
    return std::any_of(parts_.begin(), parts_.end(), [&](const Part& part) {
      std::error_code error;  // "-" and rows of tables: no such file
      return std::filesystem::equivalent(part.file.name, path, error) && !error;
    });
  }

  void NoteRejected(const LinePlace& place) override { ++parts_[place.source].rejected; }
  Status CheckReadable() const override {
    for (const Part& part : parts_) {
      if (!part.read_whole || part.entries() == 0 || part.rejected < part.entries()) continue;
      return Fail(Code::kMalformed,
                  fmt::format("{}: nothing in it could be read: {} of {} lines are rejected", part.file.name,
                              part.rejected, part.entries()));
    }
    return {};
  }
  std::vector<std::string> Empty() const override {
    std::vector<std::string> names;
    for (const Part& part : parts_) {
      if (part.read_whole && part.entries() == 0 && part.damage.empty()) names.push_back(part.file.name);
    }
    return names;
  }

  bool PartEnded() override { return std::exchange(part_ended_, false); }
  uint64_t Position() const override { return bytes_before_ + (reader_ ? reader_->position() : 0); }
  uint64_t Total() const override { return total_bytes_; }
  std::string_view Unit() const override { return "bytes"; }

 private:
  struct Part {
    HistoryFile file{};
    LineOutcomes lines{};
    LineCounts before{};     // of `lines`, by earlier runs
    OffsetRanges again{};    // numbers of lines that an earlier run rejected
    LineOutcomes retries{};  // of these, in their order
    uint64_t rejected = 0;   // by this run
    std::string damage{};
    uint64_t bytes_not_read = 0;
    bool is_table = false;              // its rows come from seen-history
    bool read_whole = false;            // to its end, or up to the damage
    mutable bool is_described = false;  // the manifest has its final entry; there may be thousands of files

    static constexpr uint64_t kRetry = uint64_t{1} << (kSequenceBits - 1);  // in a ticket

    void ContinueFrom(const ManifestFile& known) {
      before = known.lines;
      lines = LineOutcomes(before);
      again = known.rejected;
      if (again.empty() && before.rejected > 0)  // a version that kept no numbers
        again.emplace_back(0, static_cast<int64_t>(before.done()) - 1);
    }
    uint64_t entries() const { return lines.begun(); }
    /// nullopt: the line with this number is done.
    std::optional<uint64_t> Begin(uint64_t number) {
      if (number >= before.done()) return lines.Begin();
      if (!HasOffset(again, static_cast<int64_t>(number))) return std::nullopt;
      return retries.Begin() | kRetry;
    }
    void Finish(uint64_t number, LineOutcome outcome) {
      if ((number & kRetry) != 0) {
        retries.Finish(number & ~kRetry, outcome);
      } else {
        lines.Finish(number, outcome);
      }
    }
    LineCounts Counts() const {
      LineCounts counts = lines.counts();
      const uint64_t were_rejected = std::min(retries.done(), before.rejected);
      const uint64_t others = retries.done() - were_rejected;  // between the rejected ones of very many
      const uint64_t were_sent = std::min(counts.sent, others);
      counts.rejected -= were_rejected;
      counts.sent -= were_sent;
      counts.skipped -= std::min(counts.skipped, others - were_sent);
      counts += retries.counts();
      Check(counts.done() == lines.done(), "a line that is tried again counts once");
      return counts;
    }
    OffsetRanges Rejected() const {
      OffsetRanges places = retries.rejected();  // in `again`; those that nobody has tried yet follow
      const auto tried = static_cast<int64_t>(retries.done()), all = static_cast<int64_t>(CountOf(again));
      if (tried < all) AddOffsets(places, tried, all - 1);
      OffsetRanges now;
      int64_t begin = 0;  // the place of the range's first line
      auto at = places.begin();
      for (const auto& [first, last] : again) {
        const int64_t end = begin + last - first + 1;
        for (; at != places.end() && at->first < end; ++at) {
          AddOffsets(now, first + std::max(at->first, begin) - begin,
                     first + std::min(at->second, end - 1) - begin);
          if (at->second >= end) break;
        }
        begin = end;
      }
      now.insert(now.end(), lines.rejected().begin(), lines.rejected().end());
      return now;
    }
  };

  const ManifestFile* KnownFile(std::string_view name) const {
    const auto found =
        std::find_if(known_.begin(), known_.end(),
                     [name = Printable(name)](const auto& known) { return known.name == name; });
    return found == known_.end() ? nullptr : &*found;
  }

  /// False: the mark isn't an entry of the history.
  Result<bool> TakeMark(std::string_view line) {
    const OrderedJson json = OrderedJson::parse(line, nullptr, false);
    const OrderedJson* const mark = json.is_object() ? &json.at("seen-history") : nullptr;
    try {
      if (mark == nullptr || !mark->is_object()) return Fail(BrokenMark(line));
      if (mark->contains("error")) return Fail(Code::kInvalidArgument, mark->at("error").get<std::string>());
      if (mark->contains("file")) return BeginTable(*mark);
      if (mark->contains("row")) row_ = mark->at("row").get<uint64_t>() - 1;
      if (mark->contains("damage")) EndTable(mark->at("damage").get<std::string>());
      if (mark->contains("end")) EndTable({});
      problem_ = mark->value("problem", "");
      text_ = mark->value("text", "");
      return !problem_.empty();
    } catch (const OrderedJson::exception&) {
      return Fail(BrokenMark(line));
    }
  }
  Error BrokenMark(std::string_view line) const {
    return {Code::kMalformed, fmt::format("-: line {}: {}{}: seen-history writes no such mark. Remedy: pass "
                                          "on the lines of seen-history unchanged, or take this line out",
                                          reader_->line_number(), Printable(line.substr(0, kMarkBytesMax)),
                                          line.size() > kMarkBytesMax ? "..." : "")};
  }
  Result<bool> BeginTable(const OrderedJson& mark) {
    const Part& before = parts_[at_];
    if (before.is_table && !before.read_whole) EndTable(CutShort());
    if (before.is_table || before.lines.outstanding() + before.lines.done() > 0) {
      parts_[at_].read_whole = true;
      parts_.emplace_back();
      at_ = parts_.size() - 1;
      next_ = parts_.size();
    }
    Part& part = parts_[at_] = Part();
    part.is_table = true;
    part.file = {.name = mark.at("file").get<std::string>(), .size = mark.at("size").get<uint64_t>()};
    const auto hash = mark.at("first_block").get<std::string>();
    std::from_chars(hash.data(), hash.data() + hash.size(), part.file.first_block_hash, 16);
    number_ = 0;
    row_ = 0;
    const ManifestFile* const known = KnownFile(part.file.name);
    if (known == nullptr) return false;
    if (known->size == part.file.size && known->first_block_hash == part.file.first_block_hash) {
      part.ContinueFrom(*known);
    } else if (known->state != ManifestFile::State::kDamaged) {
      return Fail(Code::kRefused,
                  fmt::format("{}: this file changed after an earlier run. Remedy: name another file with "
                              "--progress to send the whole file again",
                              part.file.name));
    }
    return false;
  }
  void EndTable(std::string damage) {
    parts_[at_].damage = std::move(damage);
    parts_[at_].read_whole = true;
    part_ended_ = true;
  }
  std::string CutShort() const {
    return fmt::format("{}: standard input ended within this file: seen-history didn't finish",
                       parts_[at_].file.name);
  }
  /// A line of standard input that isn't a mark.
  Result<bool> TakeLine() {
    if (parts_[at_].is_table && parts_[at_].read_whole) {  // lines of another program follow
      parts_.push_back({.file = {.name = "-"}});
      at_ = parts_.size() - 1;
      next_ = parts_.size();
    }
    if (!parts_[at_].is_table && keeps_progress_) {
      return Fail(Code::kInvalidArgument,
                  "--progress: standard input can't be read again; give a file, or lines of seen-history");
    }
    return true;
  }

  /// `from`: the first byte that was added, counted from 1.
  static std::string SendWhatWasAdded(const HistoryFile& file, uint64_t from) {
    return fmt::format("Send the added part separately: tail -c +{} {} | seenctl replay -", from,
                       ShellQuoted(file.name));
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
    part.ContinueFrom(known);
    part.read_whole = known.state != ManifestFile::State::kPartly && part.again.empty();
    part.damage = known.damage;
    part.bytes_not_read = known.bytes_not_read;
    return {};
  }

  Result<bool> OpenNext() {
    while (next_ < parts_.size() && parts_[next_].read_whole) bytes_before_ += parts_[next_++].file.size;
    if (next_ == parts_.size()) return false;
    at_ = next_++;
    auto reader = HistoryReader::Open(parts_[at_].file);
    if (!reader) return Fail(reader.error());
    reader_.emplace(std::move(*reader));
    number_ = 0;
    return true;
  }

  void End(std::string damage) {
    Part& part = parts_[at_];
    if (part.is_table && !part.read_whole) damage = CutShort();
    if (!damage.empty()) part.damage = std::move(damage);
    part.bytes_not_read = reader_->bytes_not_read();
    part.read_whole = true;
    bytes_before_ += part.file.size;
    reader_.reset();
    part_ended_ = true;
  }

  const std::vector<ManifestFile> known_;  // of an earlier run
  const bool keeps_progress_;
  bool is_input_ = false;  // standard input
  std::vector<Part> parts_;
  size_t at_ = 0;    // the file that is read now
  size_t next_ = 0;  // the file to open next
  std::optional<HistoryReader> reader_;
  uint64_t row_ = 0;     // of a table, the row last read
  std::string problem_;  // of that row
  std::string text_;
  uint64_t number_ = 0;  // of the next line
  uint64_t bytes_before_ = 0;
  uint64_t total_bytes_ = 0;
  bool part_ended_ = false;
};

}  // namespace

Result<std::unique_ptr<HistorySource>> MakeFileSource(std::vector<HistoryFile> files,
                                                      const Manifest& manifest, bool keeps_progress) {
  for (const HistoryFile& file : files) {  // a bad file must fail now, not after an hour
    if (file.name == "-") continue;
    if (const auto reader = HistoryReader::Open(file); !reader) return Fail(reader.error());
  }
  auto source = std::make_unique<FileSource>(std::move(files), manifest, keeps_progress);
  if (auto resumed = source->Resume(); !resumed) return Fail(resumed.error());
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
    auto reader = HistoryReader::Open(files[i]);
    if (!reader) return Fail(reader.error());
    std::string_view line;
    for (int lines = 0; lines < kLinesUntilAnEvent; ++lines) {
      const auto more = reader->Next(line);
      if (!more || !*more) break;
      const auto event = decoder.Decode(line);
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
