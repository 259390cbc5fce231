#pragma once
// Asks seend over HTTP which items are unseen, on one kept connection.

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "questions.h"

namespace seen::client::examples {

/// One thread at a time: a service keeps one for each of its threads. curl_global_init must have been called.
class HttpUnseen {
 public:
  /// `address`: http://host:port. `timeout`: of a whole question.
  HttpUnseen(std::string address, const std::string& filter, std::chrono::milliseconds timeout);
  ~HttpUnseen();

  /// nullopt: there is no answer in time, or none to go by; `problem()` says why.
  std::optional<std::vector<std::string>> Ask(const Question& question);
  const std::string& problem() const { return problem_; }
  /// How many connections were opened so far: 1 as long as they are kept.
  long connections() const { return connections_; }

 private:
  struct Curl;
  std::optional<std::vector<std::string>> Fail(std::string problem);

  std::unique_ptr<Curl> curl_;
  std::string filter_address_;
  std::chrono::milliseconds timeout_;
  std::string problem_;
  long connections_ = 0;
};

}  // namespace seen::client::examples
