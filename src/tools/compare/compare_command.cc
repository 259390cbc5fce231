// compare: the old filter against this one on real requests, before the cut-over.

#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>

#include "base/durable_file.h"
#include "tools/ask/calendar.h"
#include "tools/commands.h"
#include "tools/common_options.h"
#include "tools/compare/answers_file.h"
#include "tools/compare/compare_page.h"
#include "tools/compare/compare_report.h"
#include "tools/compare/compare_run.h"
#include "tools/compare/redis_filter.h"
#include "tools/compare/request_file.h"
#include "tools/compare/route_filter.h"

namespace seen {
namespace {

struct CompareOptions {
  AskOptions daemon;
  std::vector<std::string> requests;
  RedisOptions redis;
  std::string score_since;
  std::string answers;
  RouteOptions route;
  std::string route_body = "line";
  int64_t timeout_s = 10;
  ComparePlan plan;
  std::string page;
  bool json = false;
  bool quiet = false;
};

constexpr const char* kFooter = R"(
Requests: a JSON object a line; plain, gzip or zstd; "-" is standard input.
  {"user_id":"u1","items":["n1",7,{"id":"n2","created_at":1763690000000}]}
  optional: "filter" (else --filter), "also_seen" (items that are left out)

The old filter is one of these:
  --redis HOST:PORT   BF.MEXISTS, ZMSCORE or SMISMEMBER with a key for each user
  --answers FILE      a line for each request, in the same order:
                      {"user_id":"u1","dropped":["n1"]}, or "kept" instead of "dropped"
  --route URL         each request is posted; the answer lists what is kept or dropped

Examples:
  seenctl compare requests.jsonl.gz --redis 127.0.0.1:6379 --redis-key 'seen:{user}' --page compare.html
  seenctl compare requests.jsonl --redis /run/redis.sock --redis-command ZMSCORE --redis-score-since 30d
  seenctl compare requests.jsonl --answers answers.jsonl --json > compare.json
  seenctl compare requests.jsonl --route http://recall:9000/filter --route-kept /items

Exit status: 0 every request was compared, whatever the filters say; 1 not all was compared, or something
was out of reach; 2 wrong arguments.)";

// The page is written last. A wrong name must fail before the work.
Status CheckPage(const std::string& page) {
  if (page.empty()) return {};
  const std::filesystem::path parent = std::filesystem::path(page).parent_path();
  const std::string folder = parent.empty() ? "." : parent.string();
  std::error_code ignored;
  if (!std::filesystem::is_directory(folder, ignored) || access(folder.c_str(), W_OK) != 0)
    return Fail(Code::kInvalidArgument,
                fmt::format("--page: {}: no folder where a file can be written", folder));
  if (std::filesystem::is_directory(page, ignored))
    return Fail(Code::kInvalidArgument, fmt::format("--page: {}: it is a folder", page));
  return {};
}

// Sets the plan's fields for the old filter. Returns the old filter's name for a person.
Result<std::string> ChooseOldFilter(CompareOptions& options) {
  const int given = (options.redis.address.empty() ? 0 : 1) + (options.answers.empty() ? 0 : 1) +
                    (options.route.url.empty() ? 0 : 1);
  if (given != 1) {
    return Fail(Code::kInvalidArgument,
                "the old filter: give exactly one of --redis, --answers and --route (--help has examples)");
  }
  const std::chrono::seconds timeout(options.timeout_s);
  if (!options.redis.address.empty()) {
    if (!options.score_since.empty()) {
      const auto since = ParseTime("--redis-score-since", options.score_since, SystemClock().WallNow());
      if (!since) return Fail(since.error());
      options.redis.score_since = *since;
    }
    options.redis.timeout = timeout;
    options.plan.make_old_filter = [redis = options.redis]() -> Result<std::unique_ptr<OldFilter>> {
      auto filter = RedisFilter::Make(redis);
      if (!filter) return Fail(filter.error());
      return std::unique_ptr<OldFilter>(std::move(*filter));
    };
    return fmt::format("Redis at {}, {} {}", options.redis.address, options.redis.command, options.redis.key);
  }
  if (!options.answers.empty()) {
    options.plan.old_filter_in_order = true;
    options.plan.make_old_filter = [path = options.answers]() -> Result<std::unique_ptr<OldFilter>> {
      auto file = AnswersFile::Open(path);
      if (!file) return Fail(file.error());
      return std::unique_ptr<OldFilter>(std::move(*file));
    };
    return "answers in " + options.answers;
  }
  options.route.body = options.route_body == "items" ? RouteBody::kItems : RouteBody::kLine;
  options.route.timeout = timeout;
  options.plan.make_old_filter = [route = options.route]() -> Result<std::unique_ptr<OldFilter>> {
    auto filter = RouteFilter::Make(route);
    if (!filter) return Fail(filter.error());
    return std::unique_ptr<OldFilter>(std::move(*filter));
  };
  return options.route.url;
}

// If the file has more answers than requests, the files don't belong together.
void CheckLeftOver(CompareRun& run, uint64_t lines, CompareReport& report) {
  auto* answers = dynamic_cast<AnswersFile*>(run.old_filter_in_order());
  if (answers == nullptr || !report.stopped.empty()) return;
  const auto more = answers->HasMoreThan(lines);
  if (!more) {
    report.stopped = more.error().message;
  } else if (*more) {
    report.stopped = fmt::format("--answers: the file has more answers than the {} requests", lines);
  }
}

int RunCompareCommand(CompareOptions options) {
  if (const Status checked = CheckPage(options.page); !checked) return ExitWith(checked.error());
  const auto old_filter = ChooseOldFilter(options);
  if (!old_filter) return ExitWith(old_filter.error());
  auto requests = RequestFile::Open(options.requests);
  if (!requests) return ExitWith({Code::kInvalidArgument, requests.error().message});
  options.plan.http = options.daemon.http;
  options.plan.default_filter = options.daemon.filter;
  auto run = CompareRun::Make(options.plan);
  if (!run) return ExitWith(run.error());
  CatchInterrupts();
  Progress progress("compare", 0, "requests", options.quiet ? Progress::Mode::kQuiet : Progress::Mode::kAuto);
  CompareReport report = run->Run(*requests, progress);
  progress.Finish();
  CheckLeftOver(*run, requests->lines(), report);
  report.old_filter = *old_filter;
  report.new_filter = fmt::format("seen at {}, filter {}", options.daemon.http.base, options.daemon.filter);
  for (const std::string& warning : report.warnings) fmt::print(stderr, "seenctl: warning: {}\n", warning);
  fmt::print("{}",
             options.json
                 ? CompareJson(report).dump(2, ' ', false, nlohmann::json::error_handler_t::replace) + "\n"
                 : CompareText(report));
  if (!options.page.empty()) {
    if (const Status written = WriteDurably(options.page, ComparePage(report)); !written)
      return ExitWith(written.error());
    if (!options.quiet) fmt::print(stderr, "the page is in {}\n", options.page);
  }
  if (report.IsComplete()) return kExitOk;
  fmt::print(stderr, "seenctl: not all was compared: {}\n",
             !report.stopped.empty() ? report.stopped
                                     : fmt::format("{} requests and {} reasons had no answer",
                                                   report.not_compared.requests(), report.why_unanswered));
  return kExitFailed;
}

void AddRedisOptions(CLI::App& app, CompareOptions& options) {
  RedisOptions& redis = options.redis;
  const char* group = "The old filter in Redis";
  app.add_option("--redis", redis.address, "HOST:PORT, or the path of a unix socket")
      ->group(group)
      ->type_name("ADDRESS");
  app.add_option("--redis-command", redis.command, "BF.MEXISTS, ZMSCORE (Redis 6.2) or SMISMEMBER (6.2)")
      ->capture_default_str()
      ->group(group)
      ->type_name("NAME");
  app.add_option("--redis-key", redis.key,
                 "a user's key, with placeholders: {user}, {filter}, and {day} (2026-11-21) or {yyyymmdd}")
      ->capture_default_str()
      ->group(group)
      ->type_name("PATTERN");
  app.add_option("--redis-item", redis.item, "how items are written in Redis, with the placeholder {item}")
      ->capture_default_str()
      ->group(group)
      ->type_name("PATTERN");
  app.add_option("--redis-days", redis.days, "with a day in the key: so many days up to today, in UTC")
      ->check(CLI::Range(1, 400))
      ->capture_default_str()
      ->group(group)
      ->type_name("N");
  app.add_option("--redis-score-since", options.score_since,
                 "with ZMSCORE: earlier scores (epoch, s or ms) don't count; a time, or an age like 30d")
      ->group(group)
      ->type_name("TIME");
  app.add_option("--redis-user", redis.user, "the user's name, for an ACL")->group(group)->type_name("NAME");
  app.add_option("--redis-password-file", redis.password_file, "a file with the password")
      ->group(group)
      ->type_name("FILE");
  app.add_option("--redis-db", redis.database, "the database's number")
      ->check(CLI::Range(0, 1'000'000))
      ->capture_default_str()
      ->group(group)
      ->type_name("N");
}

void AddRouteOptions(CLI::App& app, CompareOptions& options) {
  RouteOptions& route = options.route;
  const char* group = "The old filter behind HTTP";
  app.add_option("--route", route.url, "http://HOST:PORT/PATH, with the placeholders {user} and {filter}")
      ->group(group)
      ->type_name("URL");
  app.add_option("--route-kept", route.kept, "where the answer lists what is kept: a JSON pointer")
      ->group(group)
      ->type_name("POINTER");
  app.add_option("--route-dropped", route.dropped, "or where it lists what is dropped")
      ->group(group)
      ->type_name("POINTER");
  app.add_option("--route-body", options.route_body, "post the request's line, or {\"items\":[...]}")
      ->check(CLI::IsMember({"line", "items"}))
      ->capture_default_str()
      ->group(group);
  app.add_option("--route-headers", route.headers_file,
                 "a file with headers, one NAME: VALUE a line, such as a token")
      ->group(group)
      ->type_name("FILE");
}

}  // namespace

Subcommand AddCompare(CLI::App& root) {
  auto options = std::make_shared<CompareOptions>();
  CLI::App* app = root.add_subcommand("compare", "compare the old filter with this one, on real requests");
  app->footer(kFooter);
  app->add_option("requests", options->requests, "files of real requests")->required()->type_name("FILE");
  AddAskOptions(*app, options->daemon);
  AddRedisOptions(*app, *options);
  app->add_option("--answers", options->answers, "the old filter's answers, a line for each request")
      ->group("The old filter's answers in a file")
      ->type_name("FILE");
  AddRouteOptions(*app, *options);
  app->add_option("--why-max", options->plan.why_max,
                  "ask for the reasons of at most so many differences of each side, drawn at random")
      ->check(CLI::Range(0, 1'000'000))
      ->capture_default_str()
      ->type_name("N");
  app->add_option("--examples", options->plan.examples_max, "examples of each reason in JSON and page")
      ->check(CLI::Range(0, 1'000))
      ->capture_default_str()
      ->type_name("N");
  app->add_option("--connections", options->plan.connections,
                  "connections to the daemon, and as many to the old filter")
      ->check(CLI::Range(1, 64))
      ->capture_default_str()
      ->type_name("N");
  app->add_option("--timeout", options->timeout_s, "seconds to wait for an answer of the old filter")
      ->check(CLI::Range(1, 3'600))
      ->capture_default_str()
      ->type_name("SECONDS");
  app->add_option("--page", options->page, "write a page with three charts to this file (HTML)")
      ->type_name("FILE");
  app->add_flag("--json", options->json, "result as JSON");
  app->add_flag("--quiet", options->quiet, "no progress");
  return {app, [options] { return RunCompareCommand(*options); }};
}

}  // namespace seen
