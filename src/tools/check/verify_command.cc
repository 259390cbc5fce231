// verify: compares the daemon's answers with its input topic, which serves as an oracle.

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstdint>
#include <memory>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <thread>
#include <unordered_map>
#include <vector>

#include "base/mutex.h"
#include "base/text.h"
#include "tools/check/user_check.h"
#include "tools/check/verify_input.h"
#include "tools/commands.h"
#include "tools/common_options.h"
#include "tools/progress.h"

namespace seen {

/// One thread. Starts threads of its own.
class BucketChecker {
 public:
  /// The references must outlive this object. `daemons`: one for each thread.
  BucketChecker(const VerifyOptions& options, const VerifyPlan& plan, const UserSample& sample,
                const VerifiedTopic& read, std::vector<DaemonClient> daemons)
      : options_(options),
        plan_(plan),
        sample_(sample),
        read_(read),
        later_(plan.rules, read.rest),
        daemons_(std::move(daemons)),
        outcomes_(plan.filters.size()),
        progress_("check", 0, "users", options.quiet) {}

  /// Adds to outcomes(). kUnavailable: the daemon gives no answer, or the run was interrupted.
  Status Check(std::string_view records);
  /// In the order of the plan's filters.
  const std::vector<CheckOutcome>& outcomes() const { return outcomes_; }
  uint64_t users() const { return users_; }
  /// Users who weren't judged, because events came after those that were read.
  uint64_t users_set_aside() const { return users_set_aside_; }

 private:
  using Published = std::vector<std::unordered_map<std::string, std::string>>;  // by the filter's place
  std::vector<UserChecker> CheckersOf(const Oracle& oracle, DaemonClient& daemon) const;
  Status Load(std::string_view records, Oracle& oracle, Published& published) const;
  Status CheckUsers(const Oracle& oracle, const Published& published,
                    std::span<const std::string_view> users);

  static constexpr size_t kOutcomesAtOnce = 1 << 16;  // some 13 MB
  const VerifyOptions& options_;
  const VerifyPlan& plan_;
  const UserSample& sample_;
  const VerifiedTopic& read_;
  LaterUsers later_;
  std::vector<DaemonClient> daemons_;
  std::vector<CheckOutcome> outcomes_;
  uint64_t users_ = 0;
  uint64_t users_set_aside_ = 0;
  Progress progress_;
};

// Asks the sample again: a user may have been in it when the event was read, and dropped out later.
Status BucketChecker::Load(std::string_view records, Oracle& oracle, Published& published) const {
  return ReadBucketRecords(
      records,
      [&](const JudgedEvent& event) {
        if (sample_.Holds(event.user_id)) oracle.Add(event);
      },
      [&](const SnapshotRecord& snapshot) {
        const auto& filters = plan_.filters;
        const auto place =
            static_cast<size_t>(std::find(filters.begin(), filters.end(), snapshot.filter) - filters.begin());
        if (snapshot.bytes) {
          published[place][std::string(snapshot.user_id)] = *snapshot.bytes;
        } else {
          published[place].erase(std::string(snapshot.user_id));
        }
      });
}

Status BucketChecker::Check(std::string_view records) {
  Oracle oracle(plan_.rules);
  Published published(plan_.filters.size());
  if (Status loaded = Load(records, oracle, published); !loaded) return loaded;
  const std::vector<std::string_view> users = oracle.Users();
  const size_t at_once = kOutcomesAtOnce / std::max<size_t>(1, plan_.filters.size());
  for (size_t begin = 0; begin < users.size(); begin += at_once) {
    const auto some = std::span(users).subspan(begin, std::min(at_once, users.size() - begin));
    if (Status checked = CheckUsers(oracle, published, some); !checked) return checked;
  }
  return {};
}

std::vector<UserChecker> BucketChecker::CheckersOf(const Oracle& oracle, DaemonClient& daemon) const {
  std::vector<UserChecker> checkers;
  checkers.reserve(plan_.filters.size());
  for (const size_t filter : plan_.filters) {
    const FilterRules& rules = plan_.rules.filters[filter];
    checkers.emplace_back(oracle, daemon,
                          CheckOptions{.filter = rules.name,
                                       .filter_number = filter,
                                       .names_filter = plan_.filters.size() > 1,
                                       .negatives_per_user = options_.negatives,
                                       .published = options_.snapshots && !rules.snapshot_topic.empty(),
                                       .published_at = read_.snapshots_at,
                                       .history_complete = read_.from_the_start});
  }
  return checkers;
}

// The daemon's answers hold no event that came after them. So once the rest of the log is read behind the
// answers, it names every user about whom the daemon may have known more than the oracle.
Status BucketChecker::CheckUsers(const Oracle& oracle, const Published& published,
                                 std::span<const std::string_view> users) {
  const size_t filters = plan_.filters.size();
  std::vector<CheckOutcome> outcomes(users.size() * filters);  // each is written by one thread
  std::atomic<size_t> next = 0;
  std::atomic<bool> stop = false;
  struct {
    Mutex mutex;
    Status failure GUARDED_BY(mutex);
  } found;
  const auto work = [&](unsigned connection, bool draws) {
    std::vector<UserChecker> checkers = CheckersOf(oracle, daemons_[connection]);
    while (!stop && !Interrupted()) {
      const size_t index = next++;
      if (index >= users.size()) break;
      const std::string user(users[index]);
      for (size_t place = 0; place < checkers.size() && !stop; ++place) {
        const auto snapshot = published[place].find(user);
        auto status =
            checkers[place].Check(user, snapshot == published[place].end() ? nullptr : &snapshot->second);
        outcomes[index * filters + place] = checkers[place].TakeOutcome();
        if (status) continue;
        const MutexLock lock(found.mutex);
        found.failure = std::move(status);
        stop = true;
      }
      if (draws) progress_.Update(users_ + users_set_aside_ + std::min(next.load(), users.size()));
    }
  };
  {
    std::vector<std::jthread> others;
    const auto threads =
        static_cast<unsigned>(std::min<size_t>(daemons_.size(), std::max<size_t>(1, users.size())));
    for (unsigned i = 1; i < threads; ++i) others.emplace_back(work, i, false);
    work(0, true);
  }
  {
    const MutexLock lock(found.mutex);
    if (!found.failure) return Fail(found.failure.error());
  }
  if (Interrupted()) return Fail(Code::kUnavailable, "interrupted");
  if (Status read = later_.ReadOn(); !read) return read;
  for (size_t index = 0; index < users.size(); ++index) {
    const bool is_later = later_.Has(users[index]);
    ++(is_later ? users_set_aside_ : users_);
    for (size_t place = 0; place < filters && !is_later; ++place)
      outcomes_[place].Add(outcomes[index * filters + place]);
  }
  progress_.Update(users_ + users_set_aside_);
  return {};
}

namespace {

struct VerifiedFilter {
  std::string name;
  uint64_t too_old = 0;  // (user, item) pairs of the whole topic that were too old on arrival
  CheckOutcome outcome;
};

struct VerifyReport {
  std::string topic;
  OracleCounts counts;
  std::string first_malformed;
  bool from_the_start = true;
  bool published = false;
  uint64_t users = 0;
  uint64_t users_set_aside = 0;
  uint64_t spilled_bytes = 0;
  std::vector<VerifiedFilter> filters;

  CheckOutcome Sum() const {
    CheckOutcome sum;
    for (const VerifiedFilter& filter : filters) sum.Add(filter.outcome);
    return sum;
  }
};

/// Why no item could be compared, by what happened to the events.
std::string WhyNothing(const VerifyReport& report) {
  const OracleCounts& counts = report.counts;
  if (counts.records == 0) {
    return fmt::format(
        "topic {} holds no records to compare with. History that replay --into-state loaded isn't in the "
        "topic; seenctl digest compares such a state",
        report.topic);
  }
  std::vector<std::string> reasons;
  const auto add = [&](uint64_t count, std::string_view what) {
    if (count > 0) reasons.push_back(fmt::format("{} {}", WithThousands(count), what));
  };
  add(counts.malformed, fmt::format("records are rejected (the first at {}). seenctl dead-letters shows them",
                                    report.first_malformed));
  add(counts.skipped, "records are skipped by conditions and kinds");
  add(counts.uncovered, "items are covered by no filter");
  add(counts.too_old, "items were too old on arrival. Is the unit of exposed_at right?");
  add(report.users_set_aside,
      "users have events after those that were read. Remedy: check fewer users by --sample");
  if (reasons.empty()) return "for no item of the topic only one answer is right. Remedy: give --config";
  return fmt::format("of {} records in topic {}: {}", WithThousands(counts.records), report.topic,
                     fmt::join(reasons, "; "));
}

/// What makes the whole comparison worthless, for people. Empty: nothing.
std::string ProblemOf(const VerifyReport& report) {
  const OracleCounts& counts = report.counts;
  if (!report.Sum().counts.ComparedAny()) return "nothing was checked: " + WhyNothing(report);
  if (counts.malformed * 2 <= counts.records) return {};
  return fmt::format("{} of {} records are rejected (the first at {}). seenctl dead-letters shows them",
                     WithThousands(counts.malformed), WithThousands(counts.records), report.first_malformed);
}

void AddFigures(const CheckCounts& counts, bool published, OrderedJson& json) {
  json["ok"] = counts.Failures() == 0;
  for (const auto& [name, figure] : kCheckFigures) {
    if (published || !std::string_view(name).starts_with("published_")) json[name] = counts.*figure;
  }
  json["false_negatives"] = counts.FalseNegatives();
  json["extra_items"] = counts.unseen_false_positives;
  json["extra_items_unexplained"] = counts.unexplained + counts.strangers;
  json["snapshot_false_positive_rate"] = counts.SnapshotFalsePositiveRate();
  json["false_positive_rate_asked"] = std::round(counts.RateAsked() * 1e9) / 1e9;
}

std::string DroppedText(const VerifiedFilter& filter) {
  const CheckCounts& counts = filter.outcome.counts;
  return fmt::format(
      "filter {}: {} items seen; dropped: {} too old on arrival, {} left the window since, {} taken back, {} "
      "shown too few times\n",
      filter.name, WithThousands(counts.items), WithThousands(filter.too_old),
      WithThousands(counts.left_window), WithThousands(counts.taken_back),
      WithThousands(counts.too_few_exposures));
}

std::string IncompleteText(const VerifiedFilter& filter) {
  if (!filter.outcome.complete_since) return {};
  return fmt::format(
      "filter {} is incomplete: it may lack events before {}. Remedy: seenctl fill --filter {}\n",
      filter.name, TimeText(*filter.outcome.complete_since), filter.name);
}

std::string VerifyJson(const VerifyReport& report) {
  CheckOutcome outcome = report.Sum();
  const std::string problem = ProblemOf(report);
  if (!problem.empty()) outcome.failures.insert(outcome.failures.begin(), problem);
  OrderedJson json = {{"records", report.counts.records},
                      {"exposures", report.counts.exposures},
                      {"too_old", report.counts.too_old},
                      {"malformed", report.counts.malformed},
                      {"skipped", report.counts.skipped},
                      {"uncovered", report.counts.uncovered},
                      {"topic_from_the_start", report.from_the_start}};
  AddFigures(outcome.counts, report.published, json);
  json["ok"] = problem.empty() && outcome.counts.Failures() == 0;
  json["users"] = report.users;  // the figure counts a user once for each filter
  json["users_set_aside"] = report.users_set_aside;
  json["filters"] = OrderedJson::array();
  for (const VerifiedFilter& filter : report.filters) {
    OrderedJson& one = json["filters"].emplace_back(OrderedJson{{"filter", filter.name}});
    AddFigures(filter.outcome.counts, report.published, one);
    one["complete_since"] = nullptr;
    if (filter.outcome.complete_since) one["complete_since"] = filter.outcome.complete_since->value;
    one["dropped"] = {{"too_old", filter.too_old}};
    for (const char* why : {"left_window", "taken_back", "too_few_exposures"}) one["dropped"][why] = one[why];
  }
  json["spilled_bytes"] = report.spilled_bytes;
  json["failures"] = outcome.failures;
  return JsonText(json, 2) + "\n";
}

std::string VerifyText(const VerifyReport& report) {
  const std::string problem = ProblemOf(report);
  const CheckOutcome outcome = report.Sum();
  const CheckCounts& counts = outcome.counts;
  std::string text;
  for (const std::string& failure : outcome.failures) text += failure + "\n";
  text += fmt::format(
      "read      {} records: {} exposures that count, {} too old, {} malformed, {} skipped{}\n",
      WithThousands(report.counts.records), WithThousands(report.counts.exposures),
      WithThousands(report.counts.too_old), WithThousands(report.counts.malformed),
      WithThousands(report.counts.skipped), report.from_the_start ? "" : " (the topic's start is gone)");
  if (report.spilled_bytes > 0) {
    text += fmt::format("kept      {} in a scratch file\n", WithByteUnit(report.spilled_bytes));
  }
  text +=
      fmt::format("checked   {} users, {} items that must be seen, {} that must not\n",
                  WithThousands(report.users), WithThousands(counts.items), WithThousands(counts.negatives));
  if (report.users_set_aside > 0) {
    text += fmt::format("set aside {} users with events after those that were read\n",
                        WithThousands(report.users_set_aside));
  }
  for (const VerifiedFilter& filter : report.filters) text += DroppedText(filter) + IncompleteText(filter);
  text += fmt::format(
      "false negatives   {} in snapshots, {} in unseen{}\n", counts.snapshot_false_negatives,
      counts.unseen_false_negatives,
      report.published ? fmt::format(", {} in published snapshots", counts.published_false_negatives) : "");
  text +=
      fmt::format("false positives   {:.3f} % in snapshots ({:.3f} % asked), {} in unseen ({} unexplained)\n",
                  counts.SnapshotFalsePositiveRate() * 100, counts.RateAsked() * 100,
                  counts.unseen_false_positives, counts.unexplained);
  text +=
      fmt::format("extra items       {} by a shared fingerprint, {} unexplained\n",
                  counts.unseen_false_positives - counts.unexplained, counts.unexplained + counts.strangers);
  text += fmt::format("mismatches        {} in item counts, {} in horizons{}\n", counts.count_mismatches,
                      counts.horizon_mismatches,
                      report.published ? fmt::format(", {} published snapshots differ, {} are missing",
                                                     counts.published_differing, counts.published_missing)
                                       : "");
  if (!problem.empty()) text += fmt::format("FAILED: {}\n", problem);
  if (problem.empty()) text += counts.Failures() == 0 ? "all is well\n" : "FAILED\n";
  return text;
}

Result<VerifyReport> CheckAll(const VerifyOptions& options, const VerifyPlan& plan) {
  std::vector<DaemonClient> daemons;
  for (unsigned i = 0; i < options.connections; ++i) {
    auto daemon = DaemonClient::Make(options.daemon.http);
    if (!daemon) return Fail(daemon.error());
    daemons.push_back(std::move(*daemon));
  }
  UserBuckets buckets({.scratch = options.scratch, .memory_bytes = options.memory_mib << 20});
  UserSample sample(options.sample, options.seed);
  EventJudge judge(plan.rules);
  const auto read = ReadVerifyInput(options, plan, daemons.front(), {buckets, sample, judge});
  if (!read) return Fail(read.error());
  BucketChecker checker(options, plan, sample, *read, std::move(daemons));
  const Status checked = buckets.ForEach([&](std::string_view records) { return checker.Check(records); });
  if (!checked) return Fail(checked.error());
  VerifyReport report{.topic = plan.topic,
                      .counts = judge.counts(),
                      .first_malformed = judge.first_malformed(),
                      .from_the_start = read->from_the_start,
                      .published = options.snapshots,
                      .users = checker.users(),
                      .users_set_aside = checker.users_set_aside(),
                      .spilled_bytes = buckets.spilled_bytes(),
                      .filters = {}};
  for (size_t place = 0; place < plan.filters.size(); ++place) {
    const size_t filter = plan.filters[place];
    report.filters.push_back(
        {plan.rules.filters[filter].name, judge.too_old()[filter], checker.outcomes()[place]});
  }
  return report;
}

int RunVerify(const VerifyOptions& options, const CLI::App& app) {
  const auto plan = PlanOf(options, app);
  if (!plan) return ExitWith(plan.error());
  CatchInterrupts();
  const auto report = CheckAll(options, *plan);
  if (!report) return ExitWith(report.error());
  fmt::print("{}", options.json ? VerifyJson(*report) : PrintableLines(VerifyText(*report)));
  const bool is_good = ProblemOf(*report).empty() && report->Sum().counts.Failures() == 0;
  return is_good ? kExitOk : kExitFailed;
}

}  // namespace

Subcommand AddVerify(CLI::App& root) {
  auto options = std::make_shared<VerifyOptions>();
  CLI::App* app =
      root.add_subcommand("verify", "check the daemon against its input topic: false negatives, rates");
  AddVerifyOptions(*app, *options);
  return {app, [options, app] { return RunVerify(*options, *app); }};
}

}  // namespace seen
