#include "app/fills.h"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>

#include "base/durable_file.h"
#include "base/log.h"
#include "base/text.h"

namespace seen {
namespace {

using Json = nlohmann::ordered_json;
using std::chrono::milliseconds;

constexpr milliseconds kFillLooksEvery{200};

}  // namespace

Fills::Fills(FillRun::Options options, const OpenPartitions& partitions, Hooks hooks, const Clock& clock)
    : options_(std::move(options)),
      partitions_(partitions),
      hooks_(std::move(hooks)),
      clock_(clock),
      queue_(
          Known(),
          [path = Path()](const std::vector<FillRequest>& requests) {
            return WriteFillRequests(path, requests);
          },
          clock) {
  thread_.Start("fills", kFillLooksEvery, [this] {
    YieldToOtherThreads();
    return Step();
  });
}

std::string Fills::Path() const { return options_.directory + "/fills.json"; }

std::vector<FillRequest> Fills::Known() const {
  auto known = ReadFillRequests(Path());
  if (!known) {
    log::Error("the list of fills can't be read, and is dropped; ask for them again",
               {{"reason", known.error().message}});
    return {};
  }
  std::erase_if(*known, [this](const FillRequest& request) {
    const bool is_known = IndexOf(request.filter).has_value();
    if (!is_known && !request.partitions.empty())
      log::Warning("a fill is dropped: its filter isn't configured any more", {{"filter", request.filter}});
    return !is_known;
  });
  for (const FillRequest& request : *known) {
    if (request.partitions.empty()) continue;
    log::Info("a fill goes on, from the beginning of each of its partitions",
              {{"filter", request.filter}, {"fill", request.id}, {"partitions", request.partitions.size()}});
  }
  return std::move(*known);
}

std::optional<size_t> Fills::IndexOf(std::string_view filter) const {
  const auto& filters = options_.config->filters;
  const auto found = std::find_if(filters.begin(), filters.end(),
                                  [&](const FilterConfig& each) { return each.name == filter; });
  if (found == filters.end()) return std::nullopt;
  return static_cast<size_t>(found - filters.begin());
}

Result<FillStatus> Fills::Start(std::string_view filter, std::string_view id) {
  if (!IndexOf(filter)) {
    return Fail(
        Code::kNotFound,
        fmt::format("filter: {} isn't configured. GET /v1/status lists the configured filters", filter));
  }
  std::set<int32_t> open;
  for (const PartitionPointer& each : partitions_.All()) {
    if (each->assigned.load()) open.insert(each->partition);
  }
  if (open.empty()) return Fail(Code::kUnavailable, "no partition is open here yet; try again later");
  return queue_.Ask(filter, id, open);
}

FillFigures Fills::Figures() const {
  return {queue_.All(), totals_.records.load(std::memory_order_relaxed),
          totals_.users.load(std::memory_order_relaxed)};
}

milliseconds Fills::Step() {
  const auto task = queue_.Next();
  if (!task) return kFillLooksEvery;
  if (IsElsewhere(task->partition)) {
    queue_.Elsewhere(*task);
    return milliseconds(0);
  }
  queue_.Here(*task);
  FillRun run(options_, partitions_, FilterIndex(*IndexOf(task->filter)), clock_,
              {*task, queue_, totals_, thread_.stopping(), hooks_.on_written});
  const Status filled = run.Run();
  hooks_.on_written();
  if (thread_.stopping().load()) return milliseconds(0);
  filled ? queue_.Done(*task) : queue_.Failed(*task, filled.error());
  return milliseconds(0);
}

bool Fills::IsElsewhere(int32_t partition) const {
  if (!hooks_.is_settled()) return false;
  const PartitionPointer open = partitions_.Find(partition);
  if (open) return !open->assigned.load();
  return partitions_.RefusalOf(partition).empty();
}

Result<std::vector<FillRequest>> ReadFillRequests(const std::string& path) {
  std::vector<FillRequest> requests;
  std::ifstream file(path, std::ios::binary);
  if (!file) return requests;
  std::ostringstream text;
  text << file.rdbuf();
  const Json json = Json::parse(text.str(), nullptr, false);
  try {
    for (const Json& each : json.at("fills")) {
      FillRequest& request = requests.emplace_back();
      request.filter = each.at("filter").get<std::string>();
      request.id = each.at("id").get<std::string>();
      request.asked_at = {each.at("asked_at_ms").get<int64_t>()};
      request.partitions = each.at("partitions").get<std::set<int32_t>>();
      request.done = each.value("done", std::set<int32_t>());
    }
  } catch (const std::exception&) {
    return Fail(Code::kCorrupt, path + ": isn't a list of fills");
  }
  return requests;
}

Status WriteFillRequests(const std::string& path, const std::vector<FillRequest>& requests) {
  Json json = {{"fills", Json::array()}};
  for (const FillRequest& request : requests) {
    json["fills"].push_back({{"filter", request.filter},
                             {"id", request.id},
                             {"asked_at_ms", request.asked_at.value},
                             {"partitions", request.partitions},
                             {"done", request.done}});
  }
  return WriteDurably(path, JsonText(json, 1) + "\n");
}

}  // namespace seen
