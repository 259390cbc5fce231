// Keeps the snapshots of the users met last, read from Kafka, and answers each line of standard input from
// them. What isn't there, or is too old, is asked over HTTP; where that fails, the request's own list has to
// do.
//
//   tail_snapshots --brokers 127.0.0.1:9092 --http http://127.0.0.1:8080 --users-max 1000000 --stale-ms-max
//   5000
//
// With --updates seen-updates, of a daemon that writes them, it follows the updates too. It then holds the
// snapshots of all users, and at most --additions-max additions.

#include <curl/curl.h>

#include <algorithm>
#include <cstdio>
#include <functional>
#include <iostream>
#include <memory>
#include <utility>

#include "http_unseen.h"
#include "questions.h"
#include "snapshot_tail.h"
#include "update_tail.h"

namespace seen::client::examples {
namespace {

using Outcome = SnapshotCache::Outcome;

/// The question's answer from what the example holds, and how fresh it is.
using AskHere = std::function<UpdateTail::Found(const Question&)>;

UpdateTail::Found AskCache(const Question& question, SnapshotCache& cache, const SnapshotTail& tail) {
  const SnapshotCache::Found found = cache.Find(question.user);
  std::optional<TimeMs> as_of;
  if (found.outcome == Outcome::kFound) as_of = tail.AsOf(found.snapshot);
  if (found.outcome == Outcome::kNothingSeen) as_of = tail.AsOfNothingSeen();
  auto unseen = found.snapshot.Unseen(question.items, AlsoSeen(question.also_seen));
  std::stable_partition(unseen.begin(), unseen.end(),  // what is like something seen goes last
                        [&](const auto& id) { return !found.snapshot.MightBeNear(id); });
  return {std::move(unseen), as_of};
}

Answer AnswerTo(const Question& question, const AskHere& ask_here, HttpUnseen& http,
                TimeMs::duration stale_max) {
  UpdateTail::Found here = ask_here(question);
  if (here.as_of && StaleBy(*here.as_of, NowMs()) <= stale_max) return {std::move(here.unseen), "cache"};
  if (auto unseen = http.Ask(question)) return {*std::move(unseen), "http", http.by()};
  std::fprintf(stderr, "%s\n", http.problem().c_str());
  return {std::move(here.unseen), "request"};  // what a stale snapshot holds was seen, too
}

int Main(int argc, char** argv) {
  std::map<std::string, std::string> flags = {{"brokers", "127.0.0.1:9092"},
                                              {"snapshots-topic", "seen-filters"},
                                              {"watermarks-topic", "seen-watermarks"},
                                              {"updates", ""},
                                              {"additions-max", "100000000"},
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
  std::unique_ptr<SnapshotTail> tail;
  std::unique_ptr<UpdateTail> update_tail;
  AskHere ask_here;
  if (flags["updates"].empty()) {
    tail = SnapshotTail::Start({flags["brokers"], flags["snapshots-topic"], flags["watermarks-topic"]}, cache,
                               problem);
    ask_here = [&](const Question& question) { return AskCache(question, cache, *tail); };
  } else {
    update_tail = UpdateTail::Start(
        {flags["brokers"], flags["snapshots-topic"], flags["watermarks-topic"], flags["updates"]},
        flags["filter"], static_cast<std::size_t>(NumberOf(flags, "additions-max")), problem);
    ask_here = [&](const Question& question) { return update_tail->Ask(question); };
  }
  if (tail == nullptr && update_tail == nullptr) {
    std::fprintf(stderr, "%s\n", problem.c_str());
    return 1;
  }
  for (std::string line; std::getline(std::cin, line);) {
    const auto question = ParseQuestion(line);
    if (question) std::cout << ToLine(AnswerTo(*question, ask_here, http, stale_max)) << std::endl;
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
