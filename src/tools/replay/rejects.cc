#include "tools/replay/rejects.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <iterator>
#include <nlohmann/json.hpp>
#include <utility>

#include "base/text.h"
#include "flow/event_rules.h"
#include "tools/common_options.h"
#include "tools/history/line_reader.h"
#include "tools/progress.h"

namespace seen {
namespace {

constexpr size_t kTextBytesMax = 4096;

int32_t LongestWindowOf(const Config& config) {  // in days
  int32_t longest = 0;
  for (const FilterConfig& filter : config.filters) {
    longest = std::max(longest, filter.window_days);
    for (const KindConfig& kind : filter.kinds) longest = std::max(longest, kind.window_days);
  }
  return longest;
}

constexpr size_t kExampleBytesMax = 200;

constexpr std::string_view kRemedyOfFields =
    "correct input.fields of --config or the lines; the next run tries them again";
constexpr std::pair<std::string_view, std::string_view> kRemedies[] = {
    {"older_than_retention",
     "raise the topic's retention.ms, or leave these lines out with --since; the next run tries them again"},
    {"older_than_the_topic_takes",
     "raise the topic's message.timestamp.before.max.ms, or leave these lines out with --since; the next run "
     "tries them again"},
    {"too_far_ahead",
     "correct the unit of exposed_at in --config, or the clock; the next run tries them again"},
    {"too_large",
     "raise the topic's max.message.bytes and input.event_bytes_max; the next run tries these lines again"},
    {"invalid_utf8",
     "convert the file from its encoding to UTF-8: iconv -f ENCODING -t UTF-8 FILE | seenctl replay -"},
    {"not_json", "convert the lines to JSON, or leave the file out"},
    {"not_a_row", "correct these rows of the table"},
};

}  // namespace

Rejects::~Rejects() {
  if (file_ >= 0) close(file_);
}

Status Rejects::OpenFile(const std::string& path) {
  path_ = path;
  file_ = open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
  if (file_ < 0) return Fail(Broken());
  return {};
}

Status Rejects::Add(std::string_view reason, std::string_view message, const std::string& where,
                    std::string_view text) {
  ++total_;
  auto found = reasons_.find(reason);
  if (found == reasons_.end()) found = reasons_.emplace(reason, Reason{}).first;
  ++found->second.count;
  if (found->second.examples.size() < kExamplesMax) {
    found->second.examples.push_back(
        {where, std::string(message), std::string(text.substr(0, kExampleBytesMax))});
  }
  if (file_ < 0) return {};
  auto line = OrderedJson::parse(where);
  line["reason"] = reason;
  line["message"] = message;
  line["text"] = text.substr(0, kTextBytesMax);
  const std::string bytes = JsonText(line) + "\n";
  // A full disk may take a part first. Only the next call has the reason.
  for (std::string_view left = bytes; !left.empty();) {
    const ssize_t written = write(file_, left.data(), left.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return Fail(Broken());
    left.remove_prefix(static_cast<size_t>(written));
  }
  return {};
}

Status Rejects::CheckNotReadBy(const HistorySource& source) const {
  if (file_ < 0 || !source.Reads(path_)) return {};
  return Fail(Code::kInvalidArgument,
              fmt::format("--rejects: {}: replay reads this file. Remedy: name another file", path_));
}

Status Rejects::Sync() {
  if (file_ >= 0 && fsync(file_) != 0) return Fail(Broken());
  return {};
}

Error Rejects::Broken() const {
  return {Code::kUnavailable, fmt::format("--rejects: {}: {}", path_, std::strerror(errno))};
}

/// The most frequent reason, with an example and its remedy.
std::string Rejects::MostText() const {
  const auto commonest = std::max_element(reasons_.begin(), reasons_.end(), [](const auto& a, const auto& b) {
    return a.second.count < b.second.count;
  });
  if (commonest == reasons_.end()) return {};
  const Example& first = commonest->second.examples.front();
  const auto known = std::find_if(std::begin(kRemedies), std::end(kRemedies),
                                  [&](const auto& each) { return each.first == commonest->first; });
  return fmt::format(" Most: {}, such as {}: {}. Remedy: {}", commonest->first, first.where, first.message,
                     known == std::end(kRemedies) ? kRemedyOfFields : known->second);
}

Status Rejects::CheckShare(uint64_t rejected, uint64_t lines, const HistorySource& source) const {
  if (Status readable = source.CheckReadable(); !readable)
    return Fail(readable.error().code, readable.error().message + "." + MostText());
  if (static_cast<double>(rejected) <= share_max_ * static_cast<double>(lines)) return {};
  return Fail(Code::kMalformed, fmt::format("--rejects-max: {} of {} lines can't be sent, over {:g}%.{}",
                                            rejected, lines, share_max_ * 100, MostText()));
}

EntryJudge::EntryJudge(const Rules& rules, const std::shared_ptr<const EventPlan>& plan,
                       HistorySource& source, Rejects& rejects)
    : rules_(rules),
      source_(source),
      rejects_(rejects),
      decoder_(rules.config.input.event_bytes_max, plan),
      now_(SystemClock().WallNow()),
      window_days_(LongestWindowOf(rules.config)) {}

Result<EntryJudge> EntryJudge::Make(const Rules& rules, HistorySource& source, Rejects& rejects) {
  if (Status other = rejects.CheckNotReadBy(source); !other) return Fail(other.error());
  const auto plan = EventPlan::Make(rules.config.input.format);
  if (!plan) return Fail(Code::kInvalidArgument, plan.error().path + ": " + plan.error().message);
  return EntryJudge(rules, *plan, source, rejects);
}

Result<std::optional<Event>> EntryJudge::Judge(const HistoryEntry& entry) {
  const auto reject = [&](std::string_view reason,
                          const std::string& message) -> Result<std::optional<Event>> {
    if (Status added = Reject(entry, reason, message); !added) return Fail(added.error());
    return std::nullopt;
  };
  if (const auto& [reason, message] = entry.problem; !message.empty())
    return reject(reason, std::string(message));
  auto event = decoder_.Decode(entry.event);
  if (!event) {
    const auto& [reason, message] = std::pair(event.error().reason, event.error().message);
    if (reason == RejectReason::kSchemaPending) return Fail(Code::kUnavailable, message);
    const bool is_cut = reason == RejectReason::kTooLarge && entry.event.size() >= LineReader::kLineBytesMax;
    return reject(RejectReasonName(reason), is_cut ? "more than " + message : message);
  }
  const TimeMs at = event->exposed_at;
  if (event->skip != SkipReason::kNone || event->filters == 0 || !rules_.times.Has(at)) {
    ++counts_.skipped;
    source_.Finish(entry.ticket, LineOutcome::kSkipped);
    return std::nullopt;
  }
  if (std::chrono::milliseconds(at.value - now_.value) > rules_.config.input.future_skew_max) {
    return reject(RejectReasonName(RejectReason::kTooFarAhead),
                  fmt::format("exposed_at: {}: ahead of this machine's clock", TimeText(at)));
  }
  const TargetTopic* const target = rules_.target;
  if (target != nullptr && rules_.stamps_exposure) {
    if (const auto why = target->WhyNotKept(at, now_); !why.empty()) {
      return reject(why, fmt::format("exposed_at: {}: topic {} doesn't keep records of that time",
                                     TimeText(at), target->name));
    }
  }
  if (target != nullptr && !target->HasSpaceFor(entry.event.size(), event->user_id.size())) {
    return reject(RejectReasonName(RejectReason::kTooLarge),
                  fmt::format("{} bytes, but max.message.bytes of topic {} is {}", entry.event.size(),
                              target->name, *target->message_bytes_max));
  }
  ++counts_.events;
  if (event->kind != EventKind::kErased && DayOf(at) < DayOf(now_) - window_days_) {
    ++counts_.beyond_windows;
    counts_.before_1971 += at < kBegin1971 ? 1u : 0u;
  }
  return std::optional(std::move(*event));
}

std::string BeyondWindowsText(const BuildCounts& counts) {
  if (counts.beyond_windows == 0) return {};
  const bool are_of_1970 = counts.before_1971 * 2 > counts.beyond_windows;
  return fmt::format("{} of {} events are older than every window, so the state lacks them{}",
                     WithThousands(counts.beyond_windows), WithThousands(counts.events),
                     are_of_1970 ? fmt::format(": {} are before 1971: is the unit of exposed_at right?",
                                               WithThousands(counts.before_1971))
                                 : "");
}

Status EntryJudge::Reject(const HistoryEntry& entry, std::string_view reason, std::string_view message) {
  Status added = rejects_.Add(reason, message, source_.WhereOf(source_.Place()), entry.text);
  source_.NoteRejected(source_.Place());
  source_.Finish(entry.ticket, LineOutcome::kRejected);
  return added;
}

Result<double> ParseShare(std::string_view option, std::string_view text) {
  double percent = -1;
  if (text.ends_with('%')) {
    const auto read = std::from_chars(text.data(), text.data() + text.size() - 1, percent);
    if (read.ec == std::errc() && read.ptr == text.data() + text.size() - 1 && percent >= 0 && percent <= 100)
      return percent / 100;
  }
  return Fail(Code::kInvalidArgument,
              fmt::format("{}: {}: expected a share from 0% to 100%, such as 1%", option, text));
}

}  // namespace seen
