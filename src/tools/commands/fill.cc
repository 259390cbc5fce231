// fill: has all daemons read their partitions again for one filter, and watches this fill.

#include <fmt/format.h>

#include <chrono>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <thread>

#include "base/text.h"
#include "model/day.h"
#include "tools/commands/daemon_command.h"
#include "tools/progress.h"

namespace seen {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds kLooksEvery{500};
constexpr milliseconds kAsksEvery{5'000};  // also finds new daemons and partitions that moved

/// All daemons that keep state: the named one, and those in its routes.
class FillDaemons {
 public:
  explicit FillDaemons(const AskArguments& given) : given_(given) {}

  /// kUnavailable: the named daemon doesn't answer, or another one has no address. Then the daemons that were
  /// found before stay.
  Status Find() {
    auto named = DaemonClient::Make(given_.http);
    if (!named) return Fail(named.error());
    const auto routes = named->AskJson("GET", "/v1/routes");
    if (!routes) return Fail(routes.error());
    const auto status = named->Status();
    if (!status) return Fail(status.error());
    partitions_ = status->partitions_total;
    std::map<std::string, DaemonClient> found;
    found.emplace(given_.http.base, std::move(*named));
    for (const SortedJson& route : routes->value("routes", SortedJson::array())) {
      if (route.value("here", false)) continue;
      const SortedJson address = route.value("address", SortedJson(nullptr));
      if (!address.is_string()) {
        return Fail(Code::kUnavailable,
                    fmt::format("daemon {} has no address in /v1/routes. Remedy: set cluster.address there",
                                route.value("instance", "")));
      }
      DaemonAddress there = given_.http;
      there.base = OtherBase(address.get<std::string>(), routes->value("routes", SortedJson::array()));
      auto other = DaemonClient::Make(there);
      if (!other) return Fail(other.error());
      found.emplace(there.base, std::move(*other));
    }
    daemons_ = std::move(found);
    return {};
  }

  int32_t partitions() const { return partitions_; }
  std::map<std::string, DaemonClient>& all() { return daemons_; }

 private:
  /// The base address of another daemon. Routes name http.listen. If the named daemon's address has another
  /// port, that of admin.listen, the other daemons are asked at that port, too.
  std::string OtherBase(const std::string& address, const SortedJson& routes) const {
    const std::string& named = given_.http.base;
    const size_t place = named.find("://") + 3;
    std::string asked = named.substr(place);
    if (asked.ends_with('/')) asked.pop_back();
    std::string port = SplitHostPort(address).port;
    for (const SortedJson& route : routes) {
      const SortedJson own = route.value("address", SortedJson(nullptr));
      if (!route.value("here", false) || !own.is_string()) continue;
      if (SplitHostPort(own.get<std::string>()).port != SplitHostPort(asked).port)
        port = SplitHostPort(asked).port;
    }
    return fmt::format("{}{}:{}", named.substr(0, place), address.substr(0, address.rfind(':')), port);
  }

  const AskArguments& given_;
  int32_t partitions_ = 0;
  std::map<std::string, DaemonClient> daemons_;  // by address
};

/// The reports of all daemons about the fill.
struct FillView {
  std::set<int32_t> done, known;
  uint64_t records = 0, records_total = 0, users = 0;
  bool all_done = true;  // of the partitions that the daemons name
  std::string problem;
  SortedJson daemons = SortedJson::array();

  bool IsDone(int32_t partitions) const { return all_done && done.size() >= static_cast<size_t>(partitions); }

  void Add(const std::string& address, const SortedJson& fill) {
    for (const SortedJson& partition : fill.value("partitions", SortedJson::array())) {
      const auto number = partition.value("partition", int32_t{-1});
      known.insert(number);
      const bool is_done = partition.value("state", "") == "done";
      if (is_done) done.insert(number);
      all_done = all_done && is_done;
      users += partition.value("users_written", uint64_t{0});
      const SortedJson from = partition.value("from_offset", SortedJson(nullptr));
      if (from.is_number_integer()) {
        records += static_cast<uint64_t>(partition.at("next_offset").get<int64_t>() - from.get<int64_t>());
        records_total +=
            static_cast<uint64_t>(partition.at("to_offset").get<int64_t>() - from.get<int64_t>());
      }
      const SortedJson trouble = partition.value("problem", SortedJson(nullptr));
      if (trouble.is_string()) problem = fmt::format("partition {}: {}", number, trouble.get<std::string>());
    }
    daemons.push_back({{"address", address}, {"fill", fill}});
  }
};

SortedJson FillOf(const SortedJson& fills, const std::string& filter) {
  for (const SortedJson& fill : fills.value("fills", SortedJson::array())) {
    if (fill.value("filter", "") == filter) return fill;
  }
  return nullptr;
}

/// A daemon that doesn't answer appears as the view's problem.
FillView LookAtFill(const AskArguments& given, const std::string& id, FillDaemons& daemons) {
  FillView view;
  for (auto& [address, daemon] : daemons.all()) {
    const auto fills = daemon.AskJson("GET", "/v1/fills");
    if (!fills) {
      view.all_done = false;
      view.problem = fills.error().message;
      continue;
    }
    // A daemon without partitions has no fill. The command doesn't wait for it.
    const SortedJson fill = FillOf(*fills, given.filter);
    if (fill.is_null() || (!id.empty() && fill.value("id", "") != id)) continue;
    view.Add(address, fill);
  }
  return view;
}

void PrintView(const AskArguments& given, const FillView& view, int32_t partitions) {
  if (given.json) {
    const SortedJson json = {{"filter", given.filter},         {"done", view.IsDone(partitions)},
                             {"partitions_total", partitions}, {"partitions_done", view.done.size()},
                             {"records", view.records},        {"users_written", view.users},
                             {"daemons", view.daemons}};
    fmt::print("{}\n", JsonText(json, 2));
    return;
  }
  for (const SortedJson& daemon : view.daemons) {
    for (const SortedJson& partition : daemon.at("fill").value("partitions", SortedJson::array())) {
      const SortedJson since = partition.value("complete_since_ms", SortedJson(nullptr));
      fmt::print("partition {:>4}  {:<8} {:>14} records  {:>12} users{}  ({})\n",
                 partition.value("partition", -1), partition.value("state", ""),
                 partition.at("from_offset").is_number()
                     ? WithThousands(static_cast<uint64_t>(partition.at("next_offset").get<int64_t>() -
                                                           partition.at("from_offset").get<int64_t>()))
                     : "0",
                 WithThousands(partition.value("users_written", uint64_t{0})),
                 !since.is_number()          ? ""
                 : since.get<int64_t>() == 0 ? ", whole from the beginning"
                                             : ", whole since " + TimeText({since.get<int64_t>()}),
                 daemon.value("address", ""));
      if (const SortedJson problem = partition.value("problem", SortedJson(nullptr)); problem.is_string())
        fmt::print("    {}\n", problem.get<std::string>());
    }
  }
  fmt::print("{} of {} partitions of filter {} are filled: {} records read again, {} users written\n",
             view.done.size(), partitions, given.filter, WithThousands(view.records),
             WithThousands(view.users));
}

int StopFill(const AskArguments& given, FillDaemons& daemons) {
  int stopped = 0;
  for (auto& [address, daemon] : daemons.all()) {
    const auto answer = daemon.Ask("DELETE", "/v1/fills/" + PercentEncode(given.filter));
    if (!answer && answer.error().code == Code::kNotFound) continue;
    if (!answer) return ExitWith(answer.error());
    ++stopped;
  }
  if (stopped == 0) return ExitWith({Code::kNotFound, "--filter: no daemon has a fill of " + given.filter});
  fmt::print("stopped in {} daemons; what was written stays\n", stopped);
  return kExitOk;
}

int ShowFill(const AskArguments& given, FillDaemons& daemons) {
  const FillView view = LookAtFill(given, given.fill_id, daemons);
  if (view.known.empty() && !view.problem.empty()) return ExitWith({Code::kUnavailable, view.problem});
  if (view.known.empty())
    return ExitWith({Code::kNotFound, "--filter: no daemon has a fill of " + given.filter});
  PrintView(given, view, daemons.partitions());
  return view.IsDone(daemons.partitions()) ? kExitOk : kExitFailed;
}

// Asks every daemon, each time with the same id: partitions that moved join the fill. An unavailable daemon
// (no partitions, or just dead) doesn't keep the others from the fill.
Status AskAll(const AskArguments& given, const std::string& id, FillDaemons& daemons) {
  if (Status found = daemons.Find(); !found) return found;
  Status trouble;
  bool some_took_it = false;
  for (auto& [address, daemon] : daemons.all()) {
    const auto asked =
        daemon.Ask("POST", "/v1/filters/" + PercentEncode(given.filter) + "/fill", {{"id", id}});
    if (asked) {
      some_took_it = true;
    } else if (asked.error().code != Code::kUnavailable) {
      return Fail(asked.error());
    } else {
      trouble = Fail(asked.error());
    }
  }
  return some_took_it ? Status() : trouble;
}

}  // namespace

std::optional<int> RunFill(const AskArguments& given) {
  FillDaemons daemons(given);
  if (given.fill_stop || given.fill_status) {
    if (Status found = daemons.Find(); !found) return ExitWith(found.error());
    return given.fill_stop ? StopFill(given, daemons) : ShowFill(given, daemons);
  }
  const std::string id =
      given.fill_id.empty() ? fmt::format("fill-{}", SystemClock().WallNow().value) : given.fill_id;
  if (Status asked = AskAll(given, id, daemons); !asked) return ExitWith(asked.error());
  if (given.no_wait) {
    fmt::print("fill {} of filter {} begins in {} daemons\n", id, given.filter, daemons.all().size());
    return kExitOk;
  }
  CatchInterrupts();
  Progress progress("fill " + given.filter, 0, "records", given.quiet);
  const auto begun = std::chrono::steady_clock::now();
  auto asked_at = begun;
  Status trouble;
  while (!Interrupted() && std::chrono::steady_clock::now() - begun < std::chrono::seconds(given.timeout_s)) {
    if (std::chrono::steady_clock::now() - asked_at >= kAsksEvery) {
      asked_at = std::chrono::steady_clock::now();
      trouble = AskAll(given, id, daemons);
    }
    const FillView view = LookAtFill(given, id, daemons);
    if (view.IsDone(daemons.partitions())) {
      progress.Finish();
      PrintView(given, view, daemons.partitions());
      return kExitOk;
    }
    const std::string problem = !view.problem.empty() ? view.problem : trouble ? "" : trouble.error().message;
    progress.Update(view.records, fmt::format("of {}, {} of {} partitions{}",
                                              WithThousands(view.records_total), view.done.size(),
                                              daemons.partitions(), problem.empty() ? "" : ", " + problem));
    std::this_thread::sleep_for(kLooksEvery);
  }
  progress.Finish();
  return ExitWith(
      {Code::kUnavailable,
       fmt::format("not done yet; the daemons continue. To watch the fill: seenctl fill --filter {} --id {}",
                   given.filter, id)});
}

}  // namespace seen
