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
  std::string address;  // HOST:PORT, or the path of a unix socket that begins with "/"
  std::string command = "BF.MEXISTS";
  std::string key = "seen:{user}";  // may also contain {filter}, and {day} or {yyyymmdd}
  std::string item = "{item}";      // the form of an item in Redis
  int days = 1;                     // if the key has a day: number of days up to today
  std::optional<TimeMs> score_since = {};
  std::string user = {};  // an ACL user
  std::string password_file = {};
  int database = 0;
  std::chrono::milliseconds timeout{10'000};
};

/// "BF.MEXISTS", "ZMSCORE" or "SMISMEMBER", in upper or lower case. kInvalidArgument names them.
Result<RedisQuestion> ParseRedisQuestion(std::string_view command);

/// A score as a time: seconds since the epoch if it is below 10^11, otherwise ms. 0: the score is no time
/// (before September 2001).
TimeMs TimeOfScore(double score);

/// Turns an error message of Redis into an error with a remedy. kRefused: the error applies to all requests.
/// kUnavailable: the error applies to this request only.
Error RedisProblem(std::string_view words, std::string_view command, std::string_view key);

/// Sends a batch of requests as one pipeline. Reopens a broken connection at most once per batch.
class RedisFilter final : public OldFilter {
 public:
  /// Connects. kInvalidArgument: wrong options. kUnavailable: no server answers. kRefused: the password, the
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
