#pragma once
// Asks seend over HTTP which items are unseen, on kept connections; of several daemons the one that owns the
// user's partition.

#include <chrono>
#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "owners.h"
#include "questions.h"

namespace seen::client::examples {

/// "http://a:8080, http://b:8080" as its parts.
std::vector<std::string> AddressesOf(const std::string& list);

/// The body of GET {address}/v1/routes; nullopt: no answer within a second.
std::optional<std::string> FetchRoutes(const std::string& address);

/// One thread at a time: a service keeps one for each of its threads, and one Owners for all.
/// curl_global_init must have been called.
class HttpUnseen {
 public:
  /// `timeout`: of a whole question. `owners` must outlive this.
  HttpUnseen(Owners& owners, const std::string& filter, std::chrono::milliseconds timeout);
  ~HttpUnseen();

  /// nullopt: there is no answer in time, or none to go by; `problem()` says why.
  std::optional<std::vector<std::string>> Ask(const Question& question);
  const std::string& problem() const { return problem_; }
  /// The name of the daemon that gave the last answer; empty: it didn't give one.
  const std::string& by() const { return by_; }
  /// How many connections were opened so far: one a daemon as long as they are kept.
  long connections() const { return connections_; }

 private:
  struct Curl;
  /// What one daemon answers. Status 0: nothing, and the text says why.
  struct Reply {
    long status = 0;
    std::string text;
    std::string by;
  };
  Reply AskOne(const std::string& address, const std::string& body, std::chrono::milliseconds timeout);
  std::optional<std::vector<std::string>> Fail(std::string problem);
  std::optional<std::vector<std::string>> Read(const std::string& answer);

  std::unique_ptr<Curl> curl_;
  Owners& owners_;
  std::string filter_path_;
  std::chrono::milliseconds timeout_;
  std::string problem_;
  std::string by_;
  long connections_ = 0;
};

}  // namespace seen::client::examples
