// How fresh is recall? A C++ reader follows snapshots and updates, as the example of clients/cpp does. Beside
// it, this program reads some of the events, and asks for each one until the reader answers "seen".
//
//   bench_recall brokers=HOST:PORT input=TOPIC snapshots=TOPIC updates=TOPIC watermarks=TOPIC partition=0
//
// Each line of standard input asks for a line of JSON about the time since the line before. The end of
// standard input ends the program.

#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <deque>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "common/arguments.h"
#include "examples/kafka_topics.h"
#include "examples/update_tail.h"

namespace {

using seen::bench::Arguments;
using seen::bench::Die;
using seen::client::NowMs;
using seen::client::examples::Question;
using seen::client::examples::UpdateTail;

constexpr int64_t kGivenUpMs = 60'000;  // an event that is unseen for so long
constexpr int64_t kClaimMs = 1'000;     // longer than an event takes from its timestamp into the log
constexpr int64_t kFreshMs = 1'000;     // a reader of this age has caught up
constexpr int64_t kAgeEveryMs = 10;

int64_t Now() { return NowMs().time_since_epoch().count(); }

struct Shown {
  Question question;
  int64_t at_ms;
};

double At(std::vector<double>& values, double share) {
  if (values.empty()) return -1;
  const auto place =
      std::min(values.size() - 1, static_cast<size_t>(share * static_cast<double>(values.size())));
  std::nth_element(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(place), values.end());
  return values[place];
}

class Recall {
 public:
  explicit Recall(const UpdateTail& tail) : tail_(tail) {}

  void Add(Shown shown) { waiting_.push_back(std::move(shown)); }

  /// Asks for what waits, at most once a millisecond.
  void Ask() {
    const int64_t now = Now();
    if (now == asked_at_) return;
    asked_at_ = now;
    if (now >= aged_at_ + kAgeEveryMs) Age(now);
    std::erase_if(waiting_, [&](const Shown& shown) { return IsDone(shown); });
  }

  /// What was found since the last call.
  std::string Line() {
    const nlohmann::json line = {{"events", fresh_ms_.size()},
                                 {"fresh_p50_ms", At(fresh_ms_, 0.5)},
                                 {"fresh_p99_ms", At(fresh_ms_, 0.99)},
                                 {"fresh_max_ms", At(fresh_ms_, 1)},
                                 {"age_p50_ms", At(ages_ms_, 0.5)},
                                 {"age_p99_ms", At(ages_ms_, 0.99)},
                                 {"age_max_ms", At(ages_ms_, 1)},
                                 {"stale_ms", stale_ms_},
                                 {"first_fresh_ms", first_fresh_ms_.value_or(-1)},
                                 {"false_claims", false_claims_},
                                 {"given_up", given_up_},
                                 {"waiting", waiting_.size()}};
    fresh_ms_.clear();
    ages_ms_.clear();
    stale_ms_ = false_claims_ = given_up_ = 0;
    return line.dump();
  }

 private:
  void Age(int64_t now) {
    aged_at_ = now;
    const auto as_of = tail_.Ask({}).as_of;
    if (!as_of) {
      stale_ms_ += kAgeEveryMs;
      return;
    }
    const int64_t age = now - as_of->time_since_epoch().count();
    ages_ms_.push_back(static_cast<double>(age));
    if (!first_fresh_ms_ && age <= kFreshMs) first_fresh_ms_ = now - begun_;
  }

  bool IsDone(const Shown& shown) {
    const UpdateTail::Found found = tail_.Ask(shown.question);
    const int64_t now = Now();
    if (found.unseen.empty()) {
      fresh_ms_.push_back(static_cast<double>(now - shown.at_ms));
      return true;
    }
    if (found.as_of && found.as_of->time_since_epoch().count() > shown.at_ms + kClaimMs) {
      ++false_claims_;
      return true;
    }
    if (now - shown.at_ms < kGivenUpMs) return false;
    ++given_up_;
    return true;
  }

  const UpdateTail& tail_;
  const int64_t begun_ = Now();
  std::deque<Shown> waiting_;
  std::vector<double> fresh_ms_, ages_ms_;
  std::optional<int64_t> first_fresh_ms_;
  int64_t asked_at_ = 0, aged_at_ = 0, stale_ms_ = 0, false_claims_ = 0, given_up_ = 0;
};

/// One in `every` live events, each of one item. What is replayed has a header, and is in no update.
void Take(RdKafka::Message& message, int64_t every, Recall& recall) {
  if (message.err() != RdKafka::ERR_NO_ERROR || message.offset() % every != 0) return;
  if (message.headers() != nullptr) return;
  const auto event = nlohmann::json::parse(seen::client::examples::ValueOf(message));
  recall.Add({{event.at("user_id"), {event.at("item_id")}, {}}, message.timestamp().timestamp});
}

enum class Asked { kNothing, kLine, kEnd };

Asked ReadStandardInput() {
  pollfd input = {STDIN_FILENO, POLLIN, 0};
  if (::poll(&input, 1, 0) <= 0) return Asked::kNothing;
  char byte = 0;
  return ::read(STDIN_FILENO, &byte, 1) == 1 ? Asked::kLine : Asked::kEnd;
}

}  // namespace

int main(int count, char** values) {
  const Arguments arguments(count, values);
  std::string problem;
  const auto tail =
      UpdateTail::Start({arguments.Text("brokers"), arguments.Text("snapshots"), arguments.Text("watermarks"),
                         arguments.Text("updates")},
                        arguments.Text("filter", "default"),
                        static_cast<size_t>(arguments.Number("additions_max", 300'000'000)), problem);
  if (tail == nullptr) Die(problem);
  const auto consumer = seen::client::examples::Connect(
      {{"bootstrap.servers", arguments.Text("brokers")}, {"fetch.wait.max.ms", "5"}}, problem);
  if (consumer == nullptr) Die(problem);
  const std::unique_ptr<RdKafka::TopicPartition> partition(RdKafka::TopicPartition::create(
      arguments.Text("input"), static_cast<int>(arguments.Number("partition", 0)),
      RdKafka::Topic::OFFSET_END));
  if (consumer->assign({partition.get()}) != RdKafka::ERR_NO_ERROR) Die("the input can't be read");

  Recall recall(*tail);
  const int64_t every = arguments.Number("every", 8);
  for (Asked asked = Asked::kNothing; asked != Asked::kEnd; asked = ReadStandardInput()) {
    if (asked == Asked::kLine) {
      std::puts(recall.Line().c_str());
      std::fflush(stdout);
    }
    for (int64_t until = Now() + 1; Now() < until;) {
      const std::unique_ptr<RdKafka::Message> message(consumer->consume(1));
      Take(*message, every, recall);
    }
    recall.Ask();
  }
  consumer->close();
  return 0;
}
