#include "tools/replay/dry_run.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/text.h"
#include "decode/event_decoder.h"
#include "model/delta.h"
#include "tools/common_options.h"
#include "tools/progress.h"

namespace seen {

namespace {

constexpr uint64_t kKeyBytes = 20;  // about the filter and user key of a row

void MakeUnique(std::vector<Fingerprint>& fingerprints) {
  std::sort(fingerprints.begin(), fingerprints.end());
  fingerprints.erase(std::unique(fingerprints.begin(), fingerprints.end()), fingerprints.end());
}

}  // namespace

void StateSample::Add(const UserKey& user, std::string_view user_id, Day day,
                      std::span<const ExposedItem> items) {
  if (!Keeps(user)) return;
  User& kept = users_[user];
  if (kept.id.empty()) kept.id = user_id;
  auto& fingerprints = kept.days[day.since_epoch];
  for (const ExposedItem& item : items) fingerprints.push_back(item.fingerprint);
  fingerprints_ += items.size();
  if (fingerprints_ > fingerprints_max_) Thin();
}

void StateSample::Thin() {
  fingerprints_ = 0;
  for (auto& [key, user] : users_) {
    for (auto& [day, fingerprints] : user.days) {
      MakeUnique(fingerprints);
      fingerprints_ += fingerprints.size();
    }
  }
  while (fingerprints_ > fingerprints_max_ / 2 && thinned_ < 40) {
    ++thinned_;
    std::erase_if(users_, [&](const auto& entry) {
      if (Keeps(entry.first)) return false;
      for (const auto& [day, fingerprints] : entry.second.days) fingerprints_ -= fingerprints.size();
      return true;
    });
  }
}

uint64_t StateSample::EstimatedBytes(std::span<const FilterConfig> filters, Day today) const {
  uint64_t bytes = 0;
  std::string row;
  for (const auto& [key, user] : users_) {
    for (const FilterConfig& filter : filters) {
      Delta delta{.user_id = user.id, .erased = {}, .removals = {}, .segments = {}};
      for (const auto& [day, fingerprints] : user.days) {
        if (day < today.since_epoch - filter.window_days) continue;
        delta.segments.push_back({Day{day}, 0, 86'399, fingerprints});
        MakeUnique(delta.segments.back().fingerprints);
      }
      if (delta.segments.empty()) continue;
      row.clear();
      EncodeDelta(delta, row);
      bytes += row.size() + kKeyBytes;
    }
  }
  return bytes << thinned_;
}

namespace {

/// Counts the events of one pass over the history.
class EventCounts {
 public:
  EventCounts(const Config& config, Day today, DryRunReport& report)
      : config_(config), report_(report), today_(today) {
    for (const FilterConfig& filter : config.filters)
      beyond_.push_back(&report.events_beyond_window[filter.name]);
  }

  void Add(const Event& event) {
    ++report_.lines.sent;
    report_.items += event.items.size();
    const Day day = DayOf(event.exposed_at);
    ++report_.events_by_day[day.since_epoch];
    const UserKey user = UserKeyOf(event.user_id);
    report_.users.Add(user.high);
    for (const ExposedItem& item : event.items) report_.distinct_items.Add(RecordHash({}, item.item_id));
    for (size_t i = 0; i < beyond_.size(); ++i) {
      if (day < today_ - config_.filters[i].window_days) ++*beyond_[i];
    }
    if (event.kind == EventKind::kExposed) sample_.Add(user, event.user_id, day, event.items);
  }
  const StateSample& sample() const { return sample_; }

 private:
  const Config& config_;
  DryRunReport& report_;
  const Day today_;
  StateSample sample_;
  std::vector<uint64_t*> beyond_;
};

std::string Counted(const DistinctCount& count) {
  return (count.is_exact() ? "" : "about ") + WithThousands(count.count());
}

}  // namespace

Result<DryRunReport> DryRun(const DryRunSettings& settings, HistorySource& source, Rejects& rejects) {
  auto judge = EntryJudge::Make(settings.rules, source, rejects);
  if (!judge) return Fail(judge.error());
  DryRunReport report;
  const Config& config = settings.rules.config;
  const Day today = DayOf(judge->now());
  EventCounts counts(config, today, report);
  Progress progress("dry run", source.Total(), source.Unit(), settings.quiet);
  const Instant started = SystemClock().Now();
  const auto take = [&](const HistoryEntry& entry) -> Status {
    const auto event = judge->Judge(entry);
    if (!event) return Fail(event.error());
    if (!*event) return {};
    counts.Add(**event);
    source.Finish(entry.ticket, LineOutcome::kSkipped);  // a dry run stores no progress
    return {};
  };
  while (!Interrupted()) {
    const auto more = source.Next(take);
    if (!more) return Fail(more.error());
    progress.Update(source.Position(), fmt::format("{} events, {} rejected", WithThousands(report.lines.sent),
                                                   WithThousands(rejects.total())));
    if (!*more) break;
  }
  progress.Finish();
  report.whole = !Interrupted();
  report.read_s = std::chrono::duration<double>(SystemClock().Now() - started).count();
  report.lines.skipped = judge->counts().skipped;
  report.lines.rejected = rejects.total();
  report.state_bytes = counts.sample().EstimatedBytes(config.filters, today);
  report.users_sampled = counts.sample().users();
  Manifest manifest;
  source.Describe(manifest);
  for (const ManifestFile& file : manifest.files) {
    report.bytes_not_read += file.bytes_not_read;
    if (!file.damage.empty()) report.damaged.push_back(file.damage);
  }
  return report;
}

double RunSeconds(const DryRunReport& report, double rate) {
  const double by_rate = rate > 0 ? static_cast<double>(report.lines.sent) / rate : 0;
  return std::max(report.read_s, by_rate);
}

std::string DryRunText(const DryRunReport& report, const Rejects& rejects, const TargetTopic* target,
                       const std::vector<TargetProblem>& problems, double rate) {
  std::string text;
  const auto row = [&](std::string_view name, const std::string& value) {
    text += fmt::format("{:<22}{}\n", name, value);
  };
  row("events", WithThousands(report.lines.sent));
  row("users", Counted(report.users));
  row("items",
      fmt::format("{}, shown {} times", Counted(report.distinct_items), WithThousands(report.items)));
  if (!report.events_by_day.empty()) {
    row("days", fmt::format("{} from {} to {}", report.events_by_day.size(),
                            DayText({report.events_by_day.begin()->first}),
                            DayText({report.events_by_day.rbegin()->first})));
  }
  row("skipped", WithThousands(report.lines.skipped));
  row("rejected", WithThousands(report.lines.rejected));
  for (const auto& [reason, of] : rejects.reasons()) {
    row("  " + reason, WithThousands(of.count));
    for (const auto& example : of.examples)
      text += fmt::format("    {} {}\n", example.where, example.message);
  }
  for (const auto& [filter, count] : report.events_beyond_window)
    row("beyond the window", fmt::format("{} events of filter {}", WithThousands(count), filter));
  if (report.bytes_not_read > 0)
    row("not read", fmt::format("{}, added since the start", WithByteUnit(report.bytes_not_read)));
  for (const std::string& damage : report.damaged) row("damaged", damage);
  row("state", fmt::format("about {}, from {} users, uncompressed", WithByteUnit(report.state_bytes),
                           WithThousands(report.users_sampled)));
  row("time", fmt::format("{:.1f} s or more{}", RunSeconds(report, rate),
                          rate > 0 ? " at --rate" : ": reading and decoding took that long"));
  if (target == nullptr) {
    row("target", "not looked at");
    return text;
  }
  const auto limit = [](const std::optional<int64_t>& value) {
    return value ? WithThousands(static_cast<uint64_t>(*value)) : std::string("no limit known");
  };
  row("target", fmt::format("topic {}, {} partitions", target->name, target->partitions));
  row("  retention.ms", limit(target->retention_ms));
  row("  before.max.ms", limit(target->before_max_ms));
  row("  after.max.ms", limit(target->after_max_ms));
  row("  max.message.bytes",
      target->message_bytes_max ? WithThousands(*target->message_bytes_max) : "no limit known");
  row("  timestamp.type", target->stamps_itself ? "LogAppendTime" : "CreateTime");
  row("  may write", !target->may_write ? "not known" : *target->may_write ? "yes" : "no");
  row("  keys in place", fmt::format("{} of the last {}", target->keys_in_place, target->keys_looked_at));
  for (const TargetProblem& problem : problems) row(problem.prevents ? "problem" : "warning", problem.what);
  return text;
}

std::string DryRunJson(const DryRunReport& report, const Rejects& rejects, const TargetTopic* target,
                       const std::vector<TargetProblem>& problems, double rate) {
  OrderedJson json = {{"events", report.lines.sent},
                      {"skipped", report.lines.skipped},
                      {"rejected", report.lines.rejected},
                      {"users", report.users.count()},
                      {"items", report.distinct_items.count()},
                      {"shown", report.items}};
  json["days"] = OrderedJson::object();
  for (const auto& [day, events] : report.events_by_day) json["days"][DayText({day})] = events;
  json["rejects"] = OrderedJson::object();
  for (const auto& [reason, of] : rejects.reasons()) {
    OrderedJson& entry = json["rejects"][reason] = {{"count", of.count}, {"examples", OrderedJson::array()}};
    for (const auto& example : of.examples) {
      OrderedJson one = OrderedJson::parse(example.where);
      one["message"] = example.message;
      one["text"] = example.text;
      entry["examples"].push_back(std::move(one));
    }
  }
  json["beyond_window"] = report.events_beyond_window;
  json["bytes_not_read"] = report.bytes_not_read;
  json["damaged"] = report.damaged;
  json["state_bytes"] = report.state_bytes;
  json["users_sampled"] = report.users_sampled;
  json["seconds"] = RunSeconds(report, rate);
  json["whole"] = report.whole;
  json["target"] = nullptr;
  if (target != nullptr) {
    const auto limit = [](const auto& value) { return value ? OrderedJson(*value) : OrderedJson(); };
    json["target"] = {{"topic", target->name},
                      {"partitions", target->partitions},
                      {"retention_ms", limit(target->retention_ms)},
                      {"before_max_ms", limit(target->before_max_ms)},
                      {"after_max_ms", limit(target->after_max_ms)},
                      {"max_message_bytes", limit(target->message_bytes_max)},
                      {"timestamp_type", target->stamps_itself ? "LogAppendTime" : "CreateTime"},
                      {"may_write", limit(target->may_write)},
                      {"keys_looked_at", target->keys_looked_at},
                      {"keys_in_place", target->keys_in_place},
                      {"problems", OrderedJson::array()}};
    for (const TargetProblem& problem : problems) json["target"]["problems"].push_back(problem.what);
  }
  return JsonText(json, 2);
}

}  // namespace seen
