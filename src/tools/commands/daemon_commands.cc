// The commands that ask a daemon, as rows of one table. A command sends one request, may wait until the
// daemon has done what it asked, and prints the answer. --json prints the daemon's answer as it is.

#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <fstream>
#include <iostream>
#include <nlohmann/json.hpp>
#include <optional>

#include "base/text.h"
#include "model/day.h"
#include "tools/ask/answer_text.h"
#include "tools/commands/daemon_command.h"
#include "tools/common_options.h"
#include "tools/progress.h"
#include "tools/reach_brokers.h"
#include "tools/read_files.h"

namespace seen {
namespace {

// --- printers

int PrintUnseen(const AskArguments&, const std::string& body, DaemonClient&) {
  const SortedJson answer = SortedJson::parse(body);
  fmt::print("{}", PrintableLines(UnseenText(answer)));
  fmt::print(stderr, "{}", PrintableLines(SimilarText(answer)));  // scripts read only standard output
  return kExitOk;
}

std::string RepublishText(const SortedJson& answer) {
  return fmt::format("re-rendering all users' snapshots in {} partitions of this daemon\n",
                     answer.at("partitions").get<int>());
}

std::string ReloadText(const SortedJson& answer) {
  std::string text;
  for (const auto& [list, words] :
       {std::pair("applied", "applied"), std::pair("waits_for_restart", "waits for a restart")}) {
    for (const SortedJson& key : answer.value(list, SortedJson::array()))
      text += fmt::format("{:20} {}\n", words, key.get<std::string>());
  }
  return answer.value("applied", SortedJson::array()).empty() ? text + "nothing to apply\n" : text;
}

int PrintChange(const AskArguments& given, const std::string& body, DaemonClient&) {
  const SortedJson place = SortedJson::parse(body);
  fmt::print("{}: written to the topic (partition {}, offset {}); takes effect once the daemon has read it\n",
             given.user, place.at("partition").get<int32_t>(), place.at("offset").get<int64_t>());
  return kExitOk;
}

int PrintLost(const AskArguments& given, const std::string& body, DaemonClient& daemon) {
  const SortedJson answer = SortedJson::parse(body);
  SortedJson lost = SortedJson::array();
  for (const SortedJson& partition : answer.at("partitions")) {
    for (SortedJson range : partition.value("lost_ranges", SortedJson::array())) {
      range["partition"] = partition.at("partition");
      lost.push_back(std::move(range));
    }
  }
  if (given.acknowledge && !lost.empty()) {
    if (const auto done = daemon.Ask("POST", "/v1/lost-ranges/acknowledge"); !done)
      return ExitWith(done.error());
  }
  const int status = lost.empty() || given.acknowledge ? kExitOk : kExitFailed;
  if (given.json) {
    fmt::print("{}\n", JsonText(SortedJson{{"lost_ranges", lost}, {"acknowledged", given.acknowledge}}));
    return status;
  }
  for (const SortedJson& range : lost) {
    fmt::print("partition {}: {} messages, offsets {} to below {}, noticed {}\n",
               range.at("partition").get<int32_t>(), WithThousands(range.at("messages").get<uint64_t>()),
               range.at("from_offset").get<int64_t>(), range.at("to_offset").get<int64_t>(),
               TimeText({range.at("noticed_at_ms").get<int64_t>()}));
  }
  fmt::print("{}\n", lost.empty()        ? "no lost messages to acknowledge in this daemon's partitions"
                     : given.acknowledge ? "acknowledged; durable with the next checkpoint"
                                         : "these exposures are in no filter. Replay them from their source, "
                                           "then: seenctl status --lost --acknowledge");
  return status;
}

/// Redraws in place at a terminal. Otherwise prints one screen after another.
int PrintStatus(const AskArguments& given, const std::string& body, DaemonClient& daemon) {
  if (given.lost) return PrintLost(given, body, daemon);
  const StatusScreen screen = MakeStatusScreen(SortedJson::parse(body), SystemClock().WallNow());
  if (given.json) {
    fmt::print("{}", body);
  } else {
    fmt::print("{}  {}\n{}", Painted(screen.is_well ? Paint::kGood : Paint::kBad, screen.verdict, stdout),
               Printable(given.http.base), PrintableLines(screen.text));
  }
  std::fflush(stdout);
  return screen.is_well ? kExitOk : kExitFailed;
}

int DescribeBytes(const AskArguments& given, const std::string& body) {
  if (!given.save.empty()) {
    std::ofstream file(given.save, std::ios::binary | std::ios::trunc);
    file.write(body.data(), static_cast<std::streamsize>(body.size()));
    file.flush();
    if (!file) return ExitWith({Code::kUnavailable, fmt::format("--save: {}: can't be written", given.save)});
  }
  const auto about = DescribeSnapshot(body, given.test_ids);
  if (!about) {
    const std::string source = given.file.empty() ? "snapshot of " + given.user : given.file;
    return ExitWith({about.error().code, source + ": " + about.error().message});
  }
  fmt::print("{}", given.json ? JsonText(*about, 2) + "\n" : PrintableLines(SnapshotText(*about)));
  return kExitOk;
}

int PrintSnapshot(const AskArguments& given, const std::string& body, DaemonClient&) {
  return DescribeBytes(given, body);
}

// --- questions

Result<SortedJson> UnseenQuestionOf(const AskArguments& given) {
  SortedJson question = {{"items", given.items}};
  if (!given.created_at.empty()) {
    const auto time = ParseTime("--created-at", given.created_at, SystemClock().WallNow());
    if (!time) return Fail(time.error());
    for (SortedJson& item : question["items"]) item = {{"id", item}, {"created_at", time->value}};
  }
  if (!given.also_seen.empty()) question["also_seen"] = given.also_seen;
  if (given.one_per_group) question["one_per_group"] = true;
  return question;
}

Result<SortedJson> RemovedItems(const AskArguments& given) { return SortedJson{{"items", given.items}}; }

Result<SortedJson> SimilarQuestionOf(const AskArguments& given) {
  SortedJson question = {{"limit", given.limit}};
  std::string text = given.text;
  if (!given.file.empty()) {
    auto whole = ReadWhole(given.file);
    if (!whole) return Fail(whole.error());
    text = std::move(*whole);
  }
  const auto add = [&](const char* key, const std::string& words) {
    if (!words.empty()) question[key] = words;
  };
  add("title", given.title);
  add("text", text);
  add("lang", given.lang);
  add("item_id", given.item);
  return question;
}

// --- answers without a request

/// The group of an item, as the daemon has it.
int ShowGroup(const AskArguments& given) {
  auto daemon = DaemonClient::Make(given.http);
  if (!daemon) return ExitWith(daemon.error());
  const std::string page = given.after.empty() ? "" : "?after=" + PercentEncode(given.after);
  const auto answer = daemon->Ask("GET", "/v1/groups/" + PercentEncode(given.pair.pair.front()) + page);
  if (!answer) return ExitWith(answer.error());
  try {
    fmt::print("{}",
               given.json ? answer->body + "\n" : PrintableLines(GroupText(SortedJson::parse(answer->body))));
  } catch (const nlohmann::json::exception& error) {
    return ExitWith({Code::kMalformed, fmt::format("the daemon's answer can't be read: {}", error.what())});
  }
  return kExitOk;
}

/// Two items of `similar` are compared here: the daemon has no texts. One item has a group at the daemon.
std::optional<int> AnswerAboutItems(const AskArguments& given) {
  const bool asks = !given.title.empty() || !given.text.empty() || !given.file.empty();
  const size_t items = given.pair.pair.size();
  if (asks ? items > 0 : items == 0) {
    return ExitWith({Code::kInvalidArgument,
                     "similar: give an item, two items (ids or @FILE), or the words of one item: --title, "
                     "--text or --file"});
  }
  if (asks) return std::nullopt;
  if (items == 1) return ShowGroup(given);
  return RunPairQuestion(given.pair, given.json, given.quiet);
}

Result<std::string> SnapshotFromTopic(const AskArguments& given) {
  const auto settings = given.kafka.Settings();
  if (!settings) return Fail(settings.error());
  std::optional<std::string> last;
  const auto read = ReadShrinkingTopic({given.kafka.brokers, *settings, given.kafka.topic},
                                       [&](int32_t, const Record& record) -> Status {
                                         if (record.key != given.user) return {};
                                         last.reset();
                                         if (!record.value_is_null) last.emplace(record.value);
                                         return {};
                                       });
  if (!read) return Fail(read.error());
  if (last) return std::move(*last);
  return Fail(Code::kNotFound, fmt::format("{}: no snapshot in topic {}", given.user, given.kafka.topic));
}

std::optional<int> DescribeOtherSnapshot(const AskArguments& given) {
  if (given.file.empty() == given.user.empty()) {
    return ExitWith(
        {Code::kInvalidArgument, "snapshot: give either a FILE (- for standard input) or --user"});
  }
  if (given.file.empty() && !given.from_topic) return std::nullopt;
  const auto bytes = given.file.empty() ? SnapshotFromTopic(given) : ReadWhole(given.file);
  return bytes ? DescribeBytes(given, *bytes) : ExitWith(bytes.error());
}

/// Asks the person at the terminal. Without a terminal, as in a script, the answer is yes.
std::optional<int> UnlessConfirmed(const AskArguments& given) {
  if (given.yes || isatty(STDIN_FILENO) == 0 || isatty(STDERR_FILENO) == 0) return std::nullopt;
  fmt::print(stderr, "erase everything about user {}, in every filter? You can't undo this. [y/N] ",
             given.user);
  std::string answer;
  std::getline(std::cin, answer);
  if (answer == "y" || answer == "Y" || answer == "yes") return std::nullopt;
  return ExitWith({Code::kRefused, "nothing is erased"});
}

// --- waits

// Live users always have marks. A round of PublishFlow::PublishedTo that leads beyond the sweep's end began
// after the sweep, so it waited for all users that the sweep made due.
bool IsRepublished(const DaemonSummary& now, SweepEnds& ends) {
  bool is_over = true;
  for (const auto& [partition, publishing] : now.publishing) {
    if (publishing.sweeping) {
      is_over = false;
      continue;
    }
    int64_t& end = ends.emplace(partition, publishing.next_offset).first->second;
    if (publishing.marks_outstanding == 0 || publishing.published_to > end) end = -1;
    is_over &= end == -1;
  }
  return is_over;
}

constexpr DaemonWait kAllRepublished = {
    .is_over = IsRepublished,
    .result =
        [](const DaemonSummary& before, const DaemonSummary& now) {
          return fmt::format("{} snapshots re-rendered, all acknowledged",
                             now.users_swept - before.users_swept);
        },
    .not_over = "not done yet; the daemon continues: see republish in /v1/status"};

constexpr DaemonWait kPromoted = {
    .is_over = [](const DaemonSummary& now, SweepEnds&) { return !now.is_replica; },
    .result =
        [](const DaemonSummary& before, const DaemonSummary& now) {
          if (!before.is_replica)  // the topic may have lost the last promotion
            return fmt::format("group {} is the owner as before; its promotion is written again",
                               now.group_that_owns);
          return fmt::format(
              "group {} is the owner now, instead of group {}. To reverse this: seenctl promote "
              "--http ADDRESS-OF-ONE-OF-{}",
              now.group_that_owns, before.group_that_owns, before.group_that_owns);
        },
    .not_over = "the promotion is written, but the daemon hasn't read it yet: see role in /v1/status"};

// --- arguments

void AddWaitSeconds(CLI::App& app, AskArguments& given, int64_t seconds, int64_t seconds_max,
                    const char* help) {
  given.timeout_s = seconds;
  app.add_option("--timeout", given.timeout_s, help)
      ->check(CLI::Range(int64_t{1}, seconds_max))
      ->capture_default_str();
}

void AddNoWait(CLI::App& app, AskArguments& given) {
  app.add_flag("--no-wait", given.no_wait, "return at once");
}

void AddUnseenArguments(CLI::App& app, AskArguments& given) {
  app.add_option("items", given.items, "item ids, in order of preference")->required();
  app.add_option("--also-seen", given.also_seen, "count this item as seen too; may be repeated")
      ->allow_extra_args(false);
  app.add_option("--created-at", given.created_at,
                 "when these items were created: the daemon doesn't check days that ended before");
  app.add_flag("--one-per-group", given.one_per_group, "no two items that are alike");
}

void AddSnapshotArguments(CLI::App& app, AskArguments& given) {
  given.kafka.topic = "seen-filters";
  AddKafkaOptions(app, given.kafka);
  app.get_option("--topic")->description("the snapshot topic, with --from-topic");
  auto* const file = app.add_option("file", given.file, "file with a snapshot's bytes; - is standard input");
  auto* const user = app.add_option("--user", given.user, "ask the daemon for this user's snapshot");
  user->excludes(file);
  app.add_flag("--from-topic", given.from_topic,
               "with --user: the last published snapshot, not the daemon's answer")
      ->needs(user);
  app.add_option("--test", given.test_ids, "item ids to test")->expected(1, -1);
  app.add_option("--save", given.save, "write the bytes to this file");
}

void AddSimilarArguments(CLI::App& app, AskArguments& given) {
  given.pair.items.AddTo(app);
  app.add_option("items", given.pair.pair,
                 "an item id: its group; two ids, or @FILE with an item as JSON: why they are alike")
      ->expected(0, 2);
  app.add_option("--after", given.after, "of one item: the next page, of members after this item id");
  app.add_option("--tokens", given.pair.tokens, "show so many of the heaviest tokens")->capture_default_str();
  app.add_option("--title", given.title, "ask the daemon for stored items that are like this title");
  auto* const text = app.add_option("--text", given.text, "and this text");
  app.add_option("--file", given.file, "the text from a file; - is standard input")->excludes(text);
  app.add_option("--lang", given.lang, "and of this language, such as zh");
  app.add_option("--item", given.item, "leave this id out of the answer, such as the item's own");
  app.add_option("--limit", given.limit, "answer with so many items at most")
      ->check(CLI::Range(1, 100))
      ->capture_default_str();
  app.add_flag("--quiet", given.quiet, "no progress");
}

void AddFillArguments(CLI::App& app, AskArguments& given) {
  app.get_option("--http")->description("one of the daemons; it names the others");
  app.get_option("--filter")->required()->description("the filter to fill");
  app.add_option("--id", given.fill_id, "continue the fill with this id; default: begin a new fill");
  AddWaitSeconds(app, given, 86'400, 30 * 86'400, "seconds to wait at most");
  auto* const status = app.add_flag("--status", given.fill_status, "print the progress, and start nothing");
  app.add_flag("--stop", given.fill_stop, "stop the fill; what was written stays")->excludes(status);
  AddNoWait(app, given);
  app.add_flag("--quiet", given.quiet, "no progress");
}

void AddStatusArguments(CLI::App& app, AskArguments& given) {
  app.add_option("--watch", given.watch_s,
                 "draw the screen again every so many seconds, until Ctrl-C; default: 2")
      ->expected(0, 1)
      ->default_str("2")
      ->check(NumberIn(0.1, 3600.0), "NUMBER");
  auto* const lost = app.add_flag(
      "--lost", given.lost, "instead, list messages that retention deleted before the daemon read them");
  app.add_flag("--acknowledge", given.acknowledge,
               "with --lost: take these messages out of the status and the alert")
      ->needs(lost);
}

void AddRemoveArguments(CLI::App& app, AskArguments& given) {
  app.add_option("items", given.items, "item ids, at most 1,000")->required();
}

void AddEraseArguments(CLI::App& app, AskArguments& given) {
  app.add_flag("--yes", given.yes, "don't ask on a terminal");
}

void AddPublishArguments(CLI::App& app, AskArguments& given) {
  app.add_flag("--all", given.all, "of all users and filters; this is the default");
  AddNoWait(app, given);
  AddWaitSeconds(app, given, 3'600, 86'400, "seconds to wait at most");
}

void AddPromoteArguments(CLI::App& app, AskArguments& given) {
  app.get_option("--http")->description("the address of a daemon in the group that becomes the owner");
  AddWaitSeconds(app, given, 30, 3'600, "seconds to wait at most until the daemon's group is the owner");
}

// --- the table

constexpr const char* kAskHeading = "Ask a daemon";
constexpr const char* kChange = "Change what a daemon keeps";

constexpr DaemonCommand kDaemonCommands[] = {
    {.heading = kAskHeading,
     .name = "status",
     .help = "a daemon on one screen: whether it is well, and if not, why",
     .method = "GET",
     .path = "/v1/status",
     .print = PrintStatus,
     .arguments = AddStatusArguments,
     .prints_json = true},
    {.heading = kAskHeading,
     .name = "unseen",
     .help = "which of these items the user has not seen",
     .method = "POST",
     .path = "/v1/filters/{filter}/users/{user}/unseen",
     .print = PrintUnseen,
     .arguments = AddUnseenArguments,
     .question = UnseenQuestionOf},
    {.heading = kAskHeading,
     .name = "show",
     .help = "what is kept about a user: segments and their sizes",
     .method = "GET",
     .path = "/v1/filters/{filter}/users/{user}/segments?limit=1000",
     .text = SegmentsText,
     .pages = "segments"},
    {.heading = kAskHeading,
     .name = "why",
     .help = "whether an item would be dropped for a user, and why",
     .method = "GET",
     .path = "/v1/filters/{filter}/users/{user}/why?item={item}",
     .text = WhyText},
    {.heading = kAskHeading,
     .name = "snapshot",
     .help = "describe a snapshot and test item ids against it",
     .method = "GET",
     .path = "/v1/filters/{filter}/users/{of_user}",
     .print = PrintSnapshot,
     .arguments = AddSnapshotArguments,
     .instead = DescribeOtherSnapshot,
     .prints_json = true},
    {.heading = kAskHeading,
     .name = "similar",
     .help = "which items are copies of an item, why two items are alike, or what is like a text",
     .method = "POST",
     .path = "/v1/similar",
     .text = SimilarItemsText,
     .arguments = AddSimilarArguments,
     .question = SimilarQuestionOf,
     .instead = AnswerAboutItems},
    {.heading = kChange,
     .name = "remove",
     .help = "take items back from a user, in every filter",
     .method = "POST",
     .path = "/v1/users/{user}/removed",
     .print = PrintChange,
     .arguments = AddRemoveArguments,
     .question = RemovedItems},
    {.heading = kChange,
     .name = "erase",
     .help = "erase a user, in every filter",
     .method = "DELETE",
     .path = "/v1/users/{user}",
     .print = PrintChange,
     .arguments = AddEraseArguments,
     .instead = UnlessConfirmed},
    {.heading = kChange,
     .name = "publish",
     .help = "re-render all users' snapshots, and wait until they are acknowledged",
     .method = "POST",
     .path = "/v1/publish",
     .text = RepublishText,
     .arguments = AddPublishArguments,
     .wait = &kAllRepublished},
    {.heading = kChange,
     .name = "fill",
     .help = "have the daemons read their partitions again for a new filter or a longer window",
     .method = "POST",
     .path = "/v1/filters/{filter}/fill",
     .arguments = AddFillArguments,
     .instead = RunFill},
    {.heading = kChange,
     .name = "promote",
     .help = "make a replica's group the owner, which publishes; the former owner becomes a replica",
     .method = "POST",
     .path = "/v1/promote",
     .arguments = AddPromoteArguments,
     .wait = &kPromoted},
    {.heading = kChange,
     .name = "config reload",
     .help = "have the daemon read its configuration again; see \"config explain KEY\"",
     .method = "POST",
     .path = "/v1/reload",
     .text = ReloadText},
};

}  // namespace

std::vector<Subcommand> AddDaemonCommands(CLI::App& root) {
  std::vector<Subcommand> added;
  for (const DaemonCommand& command : kDaemonCommands) added.push_back(AddDaemonCommand(root, command));
  return added;
}

}  // namespace seen
