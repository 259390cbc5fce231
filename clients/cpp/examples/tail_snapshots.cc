// Keeps the snapshots of the users met last, read from Kafka, and answers each line of standard input from
// them. What isn't there, or is too old, is asked over HTTP; where that fails, the request's own list has to
// do.
//
//   tail_snapshots --brokers 127.0.0.1:9092 --http http://127.0.0.1:8080 --users-max 1000000 --stale-ms-max
//   5000

#include <curl/curl.h>

#include <algorithm>
#include <cstdio>
#include <iostream>

#include "http_unseen.h"
#include "questions.h"
#include "snapshot_tail.h"

namespace seen::client::examples {
namespace {

using Outcome = SnapshotCache::Outcome;

Answer AnswerTo(const Question& question, SnapshotCache& cache, const SnapshotTail& tail, HttpUnseen& http,
                TimeMs::duration stale_max) {
  const SnapshotCache::Found found = cache.Find(question.user);
  std::optional<TimeMs> as_of;
  if (found.outcome == Outcome::kFound) as_of = tail.AsOf(found.snapshot);
  if (found.outcome == Outcome::kNothingSeen) as_of = tail.AsOfNothingSeen();
  const auto by_snapshot = [&] {
    auto unseen = found.snapshot.Unseen(question.items, AlsoSeen(question.also_seen));
    std::stable_partition(unseen.begin(), unseen.end(),  // what is like something seen goes last
                          [&](const auto& id) { return !found.snapshot.MightBeNear(id); });
    return unseen;
  };
  if (as_of && StaleBy(*as_of, NowMs()) <= stale_max) return {by_snapshot(), "cache"};
  if (auto unseen = http.Ask(question)) return {*std::move(unseen), "http", http.by()};
  std::fprintf(stderr, "%s\n", http.problem().c_str());
  return {by_snapshot(), "request"};  // what a stale snapshot holds was seen, too; without one it is empty
}

int Main(int argc, char** argv) {
  std::map<std::string, std::string> flags = {{"brokers", "127.0.0.1:9092"},
                                              {"snapshots-topic", "seen-filters"},
                                              {"watermarks-topic", "seen-watermarks"},
                                              {"http", "http://127.0.0.1:8080"},
                                              {"filter", "default"},
                                              {"timeout-ms", "50"},
                                              {"users-max", "1000000"},
                                              {"bytes-max", "1073741824"},
                                              {"stale-ms-max", "5000"}};
  if (!ReadFlags(argc, argv, flags)) return 2;
  SnapshotCache cache(static_cast<std::size_t>(NumberOf(flags, "users-max")),
                      static_cast<std::size_t>(NumberOf(flags, "bytes-max")));
  const TimeMs::duration stale_max(NumberOf(flags, "stale-ms-max"));
  Owners owners(AddressesOf(flags["http"]), FetchRoutes);
  HttpUnseen http(owners, flags["filter"], std::chrono::milliseconds(NumberOf(flags, "timeout-ms")));
  std::string problem;
  const auto tail = SnapshotTail::Start(
      {flags["brokers"], flags["snapshots-topic"], flags["watermarks-topic"]}, cache, problem);
  if (tail == nullptr) {
    std::fprintf(stderr, "%s\n", problem.c_str());
    return 1;
  }
  for (std::string line; std::getline(std::cin, line);) {
    const auto question = ParseQuestion(line);
    if (question) std::cout << ToLine(AnswerTo(*question, cache, *tail, http, stale_max)) << std::endl;
  }
  return 0;
}

}  // namespace
}  // namespace seen::client::examples

int main(int argc, char** argv) {
  curl_global_init(CURL_GLOBAL_DEFAULT);
  const int status = seen::client::examples::Main(argc, argv);
  curl_global_cleanup();
  return status;
}
