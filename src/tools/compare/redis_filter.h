#pragma once
// An old filter in Redis: a Bloom filter (RedisBloom), a sorted set or a set for each user.

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/clock.h"
#include "base/result.h"
#include "tools/compare/old_filter.h"

namespace seen {

enum class RedisQuestion : uint8_t { kBloom, kSortedSet, kSet };

struct RedisOptions {
  std::string address;  // HOST:PORT, or the path of a unix socket, which begins with "/"
  std::string command = "BF.MEXISTS";
  std::string key = "seen:{user}";  // also {filter}, and {day} or {yyyymmdd}
  std::string item = "{item}";      // how items stand in Redis
  int days = 1;                     // a key with a day: how many days up to today
  std::optional<TimeMs> score_since = {};
  std::string user = {};  // of an ACL
  std::string password_file = {};
  int database = 0;
  std::chrono::milliseconds timeout{10'000};
};

/// "BF.MEXISTS", "ZMSCORE" or "SMISMEMBER", in any case. kInvalidArgument names them.
Result<RedisQuestion> ParseRedisQuestion(std::string_view command);

/// A score as a time: ms since the epoch, or s where it is below 10^11. 0: it is no time (before September
/// 2001).
TimeMs TimeOfScore(double score);

/// What Redis says went wrong, with the remedy. kRefused: it holds for all requests. kUnavailable: for this
/// request alone.
Error RedisProblem(std::string_view words, std::string_view command, std::string_view key);

/// Sends a batch of requests as one pipeline. A connection that breaks is opened again once a batch.
class RedisFilter final : public OldFilter {
 public:
  /// Connects. kInvalidArgument: wrong options. kUnavailable: no server there. kRefused: the password, the
  /// user or the database is wrong.
  static Result<std::unique_ptr<RedisFilter>> Make(const RedisOptions& options);
  ~RedisFilter() override;

  Result<std::vector<Result<OldAnswer>>> Ask(std::span<const CompareRequest> requests) override;

 private:
  struct Connection;
  RedisFilter(RedisOptions options, RedisQuestion question, std::string password);
  Status Connect();
  Result<std::vector<Result<OldAnswer>>> AskOnce(std::span<const CompareRequest> requests);

  const RedisOptions options_;
  const RedisQuestion question_;
  const std::string password_;
  std::unique_ptr<Connection> connection_;
};

}  // namespace seen
