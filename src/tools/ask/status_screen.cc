#include "tools/ask/status_screen.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>
#include <string_view>
#include <vector>

#include "tools/ask/calendar.h"
#include "tools/progress.h"

namespace seen {
namespace {

using Json = nlohmann::json;

std::string TextOf(const Json& json, const char* key) {
  const auto found = json.find(key);
  return found != json.end() && found->is_string() ? found->get<std::string>() : std::string();
}

std::optional<int64_t> NumberOf(const Json& json, const char* key) {
  const auto found = json.find(key);
  if (found == json.end() || !found->is_number()) return std::nullopt;
  return found->get<int64_t>();
}

const Json& ListOf(const Json& json, const char* key) {
  static const Json kNone = Json::array();
  const auto found = json.find(key);
  return found != json.end() && found->is_array() ? *found : kNone;
}

std::string CountText(std::optional<int64_t> number) {
  return number && *number >= 0 ? WithThousands(static_cast<uint64_t>(*number)) : "?";
}

std::string FiltersText(const Json& partition) {
  std::string incomplete;
  for (const Json& filter : ListOf(partition, "filters")) {
    const auto since = NumberOf(filter, "complete_since");
    if (!since) continue;
    incomplete += fmt::format("{}{} since {}", incomplete.empty() ? "" : ", ", TextOf(filter, "filter"),
                              DayText(DayOf(TimeMs{*since})));
  }
  return incomplete.empty() ? "whole" : incomplete;
}

int64_t LostOf(const Json& partition) {
  int64_t messages = 0;
  for (const Json& range : ListOf(partition, "lost_ranges"))
    messages += NumberOf(range, "messages").value_or(0);
  return messages;
}

using Cells = std::vector<std::string>;

Cells CellsOf(const Json& partition, TimeMs now) {
  const auto age = NumberOf(partition, "age_ms");
  const auto checkpoint = NumberOf(partition, "last_checkpoint_at_ms");
  const auto store = partition.find("store");
  const auto bytes = store != partition.end() ? NumberOf(*store, "bytes") : std::nullopt;
  const int64_t lost = LostOf(partition);
  return {std::to_string(NumberOf(partition, "partition").value_or(-1)),
          TextOf(partition, "state"),
          CountText(NumberOf(partition, "lag_messages")),
          age ? SpanText(*age) : "?",
          CountText(NumberOf(partition, "marks_outstanding")),
          checkpoint ? SpanText(now.value - *checkpoint) + " ago" : "none yet",
          bytes ? WithByteUnit(static_cast<uint64_t>(std::max<int64_t>(*bytes, 0))) : "?",
          lost > 0 ? WithThousands(static_cast<uint64_t>(lost)) : "",
          FiltersText(partition)};
}

/// Each column is as wide as its widest cell. Numbers are right-aligned.
std::string TableOf(const std::vector<Cells>& rows) {
  std::vector<size_t> widths(rows.front().size(), 0);
  for (const Cells& row : rows) {
    for (size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], row[i].size());
  }
  constexpr size_t kLost = 7;
  const bool has_lost =
      std::any_of(rows.begin() + 1, rows.end(), [](const Cells& row) { return !row[kLost].empty(); });
  std::string text;
  for (const Cells& row : rows) {
    std::string line;
    for (size_t i = 0; i < row.size(); ++i) {
      if (i == kLost && !has_lost) continue;
      const bool is_number = i == 0 || (i >= 2 && i <= kLost);
      line +=
          is_number ? fmt::format("{:>{}}  ", row[i], widths[i]) : fmt::format("{:<{}}  ", row[i], widths[i]);
    }
    line.erase(line.find_last_not_of(' ') + 1);
    text += line + "\n";
  }
  return text;
}

}  // namespace

std::string SpanText(int64_t ms) {
  const double seconds = static_cast<double>(std::max<int64_t>(ms, 0)) / 1000;
  if (seconds < 10) return fmt::format("{:.1f} s", seconds);
  if (seconds < 120) return fmt::format("{:.0f} s", seconds);
  if (seconds < 2 * 3600) return fmt::format("{:.0f} min", seconds / 60);
  if (seconds < 2 * 86'400) return fmt::format("{:.0f} h", seconds / 3600);
  return fmt::format("{:.0f} d", seconds / 86'400);
}

StatusScreen MakeStatusScreen(const Json& status, TimeMs now) {
  StatusScreen screen;
  const bool is_ready = status.value("ready", false);
  const Json& troubles = ListOf(status, "troubles");
  screen.is_well = is_ready && troubles.empty();
  screen.verdict = screen.is_well ? "READY" : is_ready ? "READY, with troubles" : "NOT READY";
  std::string& text = screen.text;
  for (const Json& trouble : troubles) text += fmt::format("  ! {}\n", trouble.get<std::string>());
  const std::string role = TextOf(status, "role") == "replica"
                               ? fmt::format("replica, of group {}", TextOf(status, "owner_group"))
                               : TextOf(status, "role");
  text += fmt::format("daemon      {} as {}, {}, up {}\n", TextOf(status, "version"),
                      TextOf(status, "instance_id"), role,
                      SpanText(now.value - NumberOf(status, "started_at_ms").value_or(now.value)));
  text += fmt::format("brokers     {}, {}\n", TextOf(status, "brokers"),
                      status.value("brokers_reachable", false) ? "reachable" : "OUT OF REACH");
  const Json& partitions = ListOf(status, "partitions");
  text += fmt::format("topic       {}: {} of {} partitions here", TextOf(status, "topic"), partitions.size(),
                      CountText(NumberOf(status, "partitions_total")));
  for (const char* list : {"partitions_refused", "partitions_unowned"}) {
    const size_t count = ListOf(status, list).size();
    if (count > 0) text += fmt::format(", {} {}", count, std::string_view(list).substr(11));
  }
  text += "\n";
  if (const auto state = status.find("state_topic"); state != status.end() && state->is_object()) {
    for (const Json& restore : ListOf(*state, "restores")) {
      const auto left = NumberOf(restore, "seconds_left");
      text +=
          fmt::format("restores    partition {}: {:.0f}%{}\n", NumberOf(restore, "partition").value_or(-1),
                      100 * restore.value("share", 0.0), left ? ", " + SpanText(*left * 1000) + " left" : "");
    }
  }
  std::vector<Cells> rows = {
      {"partition", "state", "lag", "age", "unpublished", "checkpoint", "store", "lost", "filters"}};
  for (const Json& partition : partitions) rows.push_back(CellsOf(partition, now));
  if (rows.size() > 1) text += "\n" + TableOf(rows);
  for (const Json& partition : partitions) {
    if (const std::string reason = TextOf(partition, "reason"); !reason.empty())
      text += fmt::format("partition {}: {}\n", NumberOf(partition, "partition").value_or(-1), reason);
  }
  return screen;
}

}  // namespace seen
