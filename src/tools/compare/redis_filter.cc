#include "tools/compare/redis_filter.h"

#include <fmt/format.h>
#include <hiredis/hiredis.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cerrno>
#include <charconv>
#include <cstdlib>

#include "base/host_port.h"
#include "tools/compare/key_pattern.h"
#include "tools/whole_file.h"

namespace seen {
namespace {

constexpr std::array<std::string_view, 3> kCommands = {"BF.MEXISTS", "ZMSCORE", "SMISMEMBER"};

struct FreeReply {
  void operator()(redisReply* reply) const { freeReplyObject(reply); }
};
using Reply = std::unique_ptr<redisReply, FreeReply>;

std::string_view TextOf(const redisReply& reply) { return {reply.str, reply.len}; }

timeval TimevalOf(std::chrono::milliseconds time) {
  const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(time);
  return {.tv_sec = seconds.count(),
          .tv_usec = std::chrono::duration_cast<std::chrono::microseconds>(time - seconds).count()};
}

// Reads one element of a reply: whether the old filter drops the item. Errors: as RedisProblem.
Result<bool> ReadElement(const redisReply& element, RedisQuestion question, const RedisOptions& options,
                         TimeMs& since) {
  if (element.type == REDIS_REPLY_ERROR)
    return Fail(RedisProblem(TextOf(element), options.command, options.key));
  if (question != RedisQuestion::kSortedSet) {
    if (element.type == REDIS_REPLY_INTEGER) return element.integer != 0;
  } else if (element.type == REDIS_REPLY_NIL) {
    return false;
  } else if (element.type == REDIS_REPLY_STRING) {
    const std::string text(TextOf(element));
    since = TimeOfScore(std::strtod(text.c_str(), nullptr));
    return !options.score_since || since >= *options.score_since;
  }
  return Fail(Code::kUnavailable, fmt::format("{}: the reply has an unknown form", options.command));
}

// Adds the reply about one key to `answer`.
Status ReadReply(const redisReply& reply, const std::string& key, RedisQuestion question,
                 const RedisOptions& options, OldAnswer& answer) {
  if (reply.type == REDIS_REPLY_ERROR) return Fail(RedisProblem(TextOf(reply), options.command, key));
  if (reply.type != REDIS_REPLY_ARRAY || reply.elements != answer.dropped.size())
    return Fail(Code::kUnavailable,
                fmt::format("{} {}: expected {} results", options.command, key, answer.dropped.size()));
  for (size_t i = 0; i < reply.elements; ++i) {
    TimeMs since{0};
    const auto dropped = ReadElement(*reply.element[i], question, options, since);
    if (!dropped) return Fail(dropped.error());
    if (*dropped) answer.dropped[i] = true;
    if (!answer.since.empty()) answer.since[i] = std::max(answer.since[i], since);
  }
  return {};
}

}  // namespace

Result<RedisQuestion> ParseRedisQuestion(std::string_view command) {
  std::string upper(command);
  std::transform(upper.begin(), upper.end(), upper.begin(),
                 [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
  const auto found = std::find(kCommands.begin(), kCommands.end(), upper);
  if (found == kCommands.end()) {
    return Fail(Code::kInvalidArgument,
                fmt::format("--redis-command: {}: expected BF.MEXISTS, ZMSCORE or SMISMEMBER", command));
  }
  return static_cast<RedisQuestion>(found - kCommands.begin());
}

TimeMs TimeOfScore(double score) {
  constexpr double kSecondsEnd = 1e11;  // as ms March 1973, as s the year 5138
  constexpr double kMsBegin = 1e12;     // September 2001
  constexpr double kMsEnd = 1e15;
  const double ms = score < kSecondsEnd ? score * 1000 : score;
  return TimeMs{ms >= kMsBegin && ms < kMsEnd ? static_cast<int64_t>(ms) : 0};
}

Error RedisProblem(std::string_view words, std::string_view command, std::string_view key) {
  const auto refused = [&](std::string_view remedy) {
    return Error{Code::kRefused, fmt::format("Redis: {}. Remedy: {}", words, remedy)};
  };
  if (words.starts_with("NOAUTH"))
    return refused("write the password into a file and name it with --redis-password-file");
  if (words.starts_with("WRONGPASS") || words.starts_with("ERR invalid password") ||
      words.starts_with("ERR AUTH") || words.starts_with("ERR Client sent AUTH"))
    return refused("check the password in the file of --redis-password-file, and --redis-user");
  if (words.starts_with("NOPERM"))
    return refused(fmt::format("let this user run {} on these keys (ACL SETUSER)", command));
  if (words.starts_with("MOVED") || words.starts_with("ASK ") || words.starts_with("CROSSSLOT")) {
    return refused(
        "name a proxy, because compare doesn't follow the redirections of a Redis Cluster, or write the old "
        "filter's answers to a file (--answers)");
  }
  if (words.find("unknown command") != std::string_view::npos) {
    if (command.starts_with("BF.") || command.starts_with("bf."))
      return refused(
          "load the module RedisBloom (--loadmodule redisbloom.so), or name another --redis-command");
    return refused(fmt::format("use Redis 6.2 or later, which {} needs", command));
  }
  if (words.starts_with("WRONGTYPE")) {
    return {Code::kUnavailable,
            fmt::format("Redis: {}: the key has another type than {} reads. BF.MEXISTS reads Bloom filters, "
                        "ZMSCORE sorted sets, SMISMEMBER sets",
                        key, command)};
  }
  return {Code::kUnavailable, fmt::format("Redis: {}: {}", key, words)};
}

struct RedisFilter::Connection {
  struct FreeContext {
    void operator()(redisContext* context) const { redisFree(context); }
  };
  std::unique_ptr<redisContext, FreeContext> context;

  void Append(const std::vector<std::string_view>& words) const {
    std::vector<const char*> texts;
    std::vector<size_t> sizes;
    texts.reserve(words.size());
    sizes.reserve(words.size());
    for (const std::string_view word : words) {
      texts.push_back(word.data());
      sizes.push_back(word.size());
    }
    redisAppendCommandArgv(context.get(), static_cast<int>(words.size()), texts.data(), sizes.data());
  }

  // nullptr: the connection is broken.
  Reply Read() const {
    void* reply = nullptr;
    return redisGetReply(context.get(), &reply) == REDIS_OK ? Reply(static_cast<redisReply*>(reply))
                                                            : nullptr;
  }

  Error Broken(const RedisOptions& options) const {
    const bool is_late = context->err == REDIS_ERR_IO && errno == EAGAIN;
    return {Code::kUnavailable,
            fmt::format("Redis at {}: {}", options.address,
                        is_late ? fmt::format("no answer within {} ms", options.timeout.count())
                                : std::string(context->errstr))};
  }

  Status Do(const std::vector<std::string_view>& words, const RedisOptions& options) const {
    Append(words);
    const Reply reply = Read();
    if (!reply) return Fail(Broken(options));
    if (reply->type != REDIS_REPLY_ERROR) return {};
    return Fail(Code::kRefused, RedisProblem(TextOf(*reply), words.front(), "").message);
  }
};

RedisFilter::RedisFilter(RedisOptions options, RedisQuestion question, std::string password)
    : options_(std::move(options)), question_(question), password_(std::move(password)) {}

RedisFilter::~RedisFilter() = default;

Result<std::unique_ptr<RedisFilter>> RedisFilter::Make(const RedisOptions& options) {
  const auto question = ParseRedisQuestion(options.command);
  if (!question) return Fail(question.error());
  if (options.key.find("{user}") == std::string::npos)
    return Fail(Code::kInvalidArgument, fmt::format("--redis-key: {}: {{user}} is missing", options.key));
  if (options.item.find("{item}") == std::string::npos)
    return Fail(Code::kInvalidArgument, fmt::format("--redis-item: {}: {{item}} is missing", options.item));
  if (options.days > 1 && !HasDay(options.key))
    return Fail(Code::kInvalidArgument, "--redis-days: --redis-key has no {day} and no {yyyymmdd}");
  if (options.score_since && question != RedisQuestion::kSortedSet)
    return Fail(Code::kInvalidArgument, "--redis-score-since: only ZMSCORE has scores");
  if (!options.user.empty() && options.password_file.empty())
    return Fail(Code::kInvalidArgument, "--redis-user: give --redis-password-file as well");
  std::string password;
  if (!options.password_file.empty()) {
    auto read = ReadWhole(options.password_file);
    if (!read) return Fail(Code::kInvalidArgument, "--redis-password-file: " + read.error().message);
    password = std::move(*read);
    while (password.ends_with('\n') || password.ends_with('\r')) password.pop_back();
  }
  std::unique_ptr<RedisFilter> filter(new RedisFilter(options, *question, std::move(password)));
  if (const Status connected = filter->Connect(); !connected) return Fail(connected.error());
  return filter;
}

Status RedisFilter::Connect() {
  auto connection = std::make_unique<Connection>();
  const timeval timeout = TimevalOf(options_.timeout);
  if (options_.address.starts_with('/')) {
    connection->context.reset(redisConnectUnixWithTimeout(options_.address.c_str(), timeout));
  } else {
    const HostPort place = SplitHostPort(options_.address);
    int port = 6379;
    if (!place.port.empty()) {
      const auto [end, error] =
          std::from_chars(place.port.data(), place.port.data() + place.port.size(), port);
      if (error != std::errc{} || end != place.port.data() + place.port.size() || port < 1 || port > 65'535)
        port = 0;
    }
    if (place.host.empty() || port == 0) {
      return Fail(Code::kInvalidArgument,
                  fmt::format("--redis: {}: expected HOST:PORT or the path of a socket", options_.address));
    }
    connection->context.reset(redisConnectWithTimeout(place.host.c_str(), port, timeout));
  }
  if (!connection->context) return Fail(Code::kUnavailable, "Redis: no memory for a connection");
  if (connection->context->err != 0) return Fail(connection->Broken(options_));
  redisSetTimeout(connection->context.get(), timeout);
  if (!password_.empty()) {
    std::vector<std::string_view> words = {"AUTH", password_};
    if (!options_.user.empty()) words.insert(words.begin() + 1, options_.user);
    if (const Status done = connection->Do(words, options_); !done) return done;
  }
  if (options_.database != 0) {
    const std::string number = std::to_string(options_.database);
    if (const Status done = connection->Do({"SELECT", number}, options_); !done) return done;
  }
  if (const Status done = connection->Do({"PING"}, options_); !done) return done;
  connection_ = std::move(connection);
  return {};
}

Result<std::vector<Result<OldAnswer>>> RedisFilter::Ask(std::span<const CompareRequest> requests) {
  if (connection_) {
    auto answers = AskOnce(requests);
    if (answers || answers.error().code != Code::kUnavailable) return answers;
    connection_.reset();
  }
  if (const Status connected = Connect(); !connected) return Fail(connected.error());
  return AskOnce(requests);
}

Result<std::vector<Result<OldAnswer>>> RedisFilter::AskOnce(std::span<const CompareRequest> requests) {
  const Day today = DayOf(SystemClock().WallNow());
  std::vector<std::vector<std::string>> keys;
  for (const CompareRequest& request : requests) {
    keys.push_back(KeysOf(options_.key, request.user_id, request.filter, today, options_.days));
    std::vector<std::string> items;
    items.reserve(request.items.size());
    for (const std::string& item : request.items)
      items.push_back(ExpandPattern(options_.item, {{"item", item}}));
    for (const std::string& key : keys.back()) {
      std::vector<std::string_view> words = {options_.command, key};
      words.insert(words.end(), items.begin(), items.end());
      connection_->Append(words);
    }
  }
  std::vector<Result<OldAnswer>> answers;
  for (size_t i = 0; i < requests.size(); ++i) {
    OldAnswer answer;
    answer.dropped.assign(requests[i].items.size(), false);
    if (question_ == RedisQuestion::kSortedSet) answer.since.assign(requests[i].items.size(), TimeMs{0});
    Status read;
    for (const std::string& key : keys[i]) {
      const Reply reply = connection_->Read();
      if (!reply) return Fail(connection_->Broken(options_));
      const Status one = ReadReply(*reply, key, question_, options_, answer);
      if (!one && one.error().code == Code::kRefused) {
        connection_.reset();  // unread replies are still under way
        return Fail(one.error());
      }
      if (read && !one) read = one;
    }
    answers.push_back(read ? Result<OldAnswer>(std::move(answer)) : Fail(read.error()));
  }
  return answers;
}

}  // namespace seen
