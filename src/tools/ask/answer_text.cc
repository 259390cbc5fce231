#include "tools/ask/answer_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>
#include <vector>

#include "base/text.h"
#include "filter/snapshot.h"
#include "model/day.h"
#include "tools/progress.h"

namespace seen {
namespace {

// --- status

std::string TextOf(const SortedJson& json, const char* key) {
  const auto found = json.find(key);
  return found != json.end() && found->is_string() ? found->get<std::string>() : std::string();
}

std::optional<int64_t> IntegerIn(const SortedJson& json, const char* key) {
  const auto found = json.find(key);
  if (found == json.end() || !found->is_number()) return std::nullopt;
  return found->get<int64_t>();
}

const SortedJson& ListOf(const SortedJson& json, const char* key) {
  static const SortedJson kNone = SortedJson::array();
  const auto found = json.find(key);
  return found != json.end() && found->is_array() ? *found : kNone;
}

std::string CountText(std::optional<int64_t> number) {
  return number && *number >= 0 ? WithThousands(static_cast<uint64_t>(*number)) : "?";
}

std::string FiltersText(const SortedJson& partition) {
  std::string incomplete;
  for (const SortedJson& filter : ListOf(partition, "filters")) {
    const auto since = IntegerIn(filter, "complete_since");
    if (!since) continue;
    incomplete += fmt::format("{}{} since {}", incomplete.empty() ? "" : ", ", TextOf(filter, "filter"),
                              DayText(DayOf(TimeMs{*since})));
  }
  return incomplete.empty() ? "whole" : incomplete;
}

int64_t LostOf(const SortedJson& partition) {
  int64_t messages = 0;
  for (const SortedJson& range : ListOf(partition, "lost_ranges"))
    messages += IntegerIn(range, "messages").value_or(0);
  return messages;
}

using Cells = std::vector<std::string>;

Cells CellsOf(const SortedJson& partition, TimeMs now) {
  const auto age = IntegerIn(partition, "age_ms");
  const auto checkpoint = IntegerIn(partition, "last_checkpoint_at_ms");
  const auto store = partition.find("store");
  const auto bytes = store != partition.end() ? IntegerIn(*store, "bytes") : std::nullopt;
  const int64_t lost = LostOf(partition);
  return {std::to_string(IntegerIn(partition, "partition").value_or(-1)),
          TextOf(partition, "state"),
          CountText(IntegerIn(partition, "lag_messages")),
          age ? SpanText(*age) : "?",
          CountText(IntegerIn(partition, "marks_outstanding")),
          checkpoint ? SpanText(now.value - *checkpoint) + " ago" : "none yet",
          bytes ? WithByteUnit(static_cast<uint64_t>(std::max<int64_t>(*bytes, 0))) : "?",
          lost > 0 ? WithThousands(static_cast<uint64_t>(lost)) : "",
          FiltersText(partition)};
}

/// "12%"; "-" where nothing was read.
std::string ShareText(const SortedJson& cause, bool has_read) {
  const double percent = 100 * cause.value("share", 0.0);
  if (!has_read) return "-";
  return percent > 0 && percent < 1 ? "<1%" : fmt::format("{:.0f}%", percent);
}

/// How fast a topic's events come, and which shares of them are lost.
std::string LossLines(const SortedJson& loss, TimeMs now) {
  const auto rate = loss.find("events_per_s");
  const bool has_read = rate != loss.end() && rate->is_number();
  const double per_s = has_read ? rate->get<double>() : 0;
  const auto newest = IntegerIn(loss, "newest_event_at_ms");
  std::string shares;
  for (const SortedJson& cause : ListOf(loss, "causes")) {
    std::string name = TextOf(cause, "cause");
    if ((name == "unreached" || name == "no_id") && cause.value("share", 0.0) == 0) continue;
    if (name == "too_old") name = "old";  // all shares fit on a line of 80 columns
    std::replace(name.begin(), name.end(), '_', ' ');
    shares += fmt::format("{}{} {}", shares.empty() ? "" : ", ", name, ShareText(cause, has_read));
  }
  return fmt::format("events      {}: {}/s, newest {}\nlost        {}\n", TextOf(loss, "topic"),
                     !has_read    ? "-"
                     : per_s < 10 ? fmt::format("{:.1f}", per_s)
                                  : WithThousands(static_cast<uint64_t>(per_s)),
                     newest ? SpanText(now.value - *newest) + " ago" : "-", shares);
}

/// The remedy that the status has for misrouted events.
std::string MisroutedLine(const SortedJson& partitions) {
  int64_t events = 0;
  std::string remedy;
  for (const SortedJson& partition : partitions) {
    events += IntegerIn(partition, "misrouted").value_or(0);
    const auto last = partition.find("misrouted_last");
    if (last != partition.end() && last->is_object()) remedy = TextOf(*last, "remedy");
  }
  if (events <= 0) return {};
  return fmt::format("misrouted   {} events since the start: {}\n",
                     WithThousands(static_cast<uint64_t>(events)), remedy);
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

// --- users and items

std::string LikeWhat(const SortedJson& similar) {
  const auto because = similar.at("because").get<std::string>();
  if (similar.at("like").is_null())
    return because == "near" ? "near something seen" : "of a group that was seen";
  const auto like = similar.at("like").get<std::string>();
  if (because == "page") return fmt::format("like {}, which stays", like);
  return because == "near" ? fmt::format("near {}, which was seen", like)
                           : fmt::format("of one group with {}, which was seen", like);
}

// The day if `ms` is the beginning of a day, otherwise the second.
std::string TimeWords(int64_t ms) {
  return ms % kMsPerDay == 0 ? DayText(DayOf({ms})) : TimeText({ms}).substr(0, 19) + "Z";
}

std::string SegmentLine(const SortedJson& segment) {
  const auto& until = segment.at("counts_until_ms");
  std::string line = fmt::format(
      "{:20}  {:12} {:>8} {:>9}  {}", TimeWords(segment.at("from_ms").get<int64_t>()),
      segment.at("kind").get<std::string>(), segment.at("items").get<uint64_t>(),
      segment.at("bytes").get<uint64_t>(), until.is_null() ? "never" : TimeWords(until.get<int64_t>()));
  if (segment.contains("exposures"))
    line += fmt::format(", {} exposures", segment["exposures"].get<uint64_t>());
  return segment.at("in_window").get<bool>() ? line : line + "  past the window";
}

std::string ExposureLine(const SortedJson& exposure) {
  std::string line = fmt::format("  {}  {}", TimeText({exposure.at("at").get<int64_t>()}),
                                 exposure.at("kind").get<std::string>());
  if (!exposure.at("scene").is_null()) line += "  in " + exposure.at("scene").get<std::string>();
  if (!exposure.at("position").is_null()) {
    line += fmt::format("  at position {}", exposure.at("position").get<int64_t>());
  }
  if (!exposure.at("request_id").is_null()) {
    line += "  of request " + exposure.at("request_id").get<std::string>();
  }
  return line + "\n";
}

// "similarity 0.93, 2 bits apart, found by both": how similar two items are, and how this was found. If one
// text contains the other: "similarity 0.65, containment 0.98, 12 bits apart, found by minhash".
std::string Nearness(const SortedJson& near) {
  const auto found = near.at("found_by").get<std::string>();
  if (found == "copy") return "a copy: the same text";
  const SortedJson& similarity = near.at("similarity");
  const auto distance = near.at("distance").get<int64_t>();
  const double containment = near.value("containment", 0.0);
  return fmt::format("{}{}{} bit{} apart, found by {}",
                     similarity.is_null() ? "" : fmt::format("similarity {:.2f}, ", similarity.get<double>()),
                     containment > 0 ? fmt::format("containment {:.2f}, ", containment) : "", distance,
                     distance == 1 ? "" : "s", found);
}

size_t WidthOf(const SortedJson& list) {
  size_t width = 0;
  for (const SortedJson& entry : list)
    width = std::max(width, entry.at("item_id").get_ref<const std::string&>().size());
  return std::min<size_t>(width, 64);
}

std::string NearLines(const SortedJson& list) {
  std::string text;
  for (const SortedJson& entry : list)
    text +=
        fmt::format("  {:{}}  {}\n", entry.at("item_id").get<std::string>(), WidthOf(list), Nearness(entry));
  return text;
}

std::string MemberLines(const SortedJson& members, const std::string& group_id) {
  std::string text;
  for (const SortedJson& member : members) {
    const auto id = member.at("item_id").get<std::string>();
    const SortedJson& similarity = member.at("similarity");
    const std::string about = id == group_id ? "the first"
                              : similarity.is_null()
                                  ? "similar to it"
                                  : fmt::format("similarity {:.2f} to it", similarity.get<double>());
    text += fmt::format("  {:{}}  {}\n", id, WidthOf(members), about);
  }
  return text;
}

std::string ExplanationOf(const SortedJson& answer) {
  std::string text;
  for (const SortedJson& line : answer.at("explanation")) text += line.get<std::string>() + "\n";
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

StatusScreen MakeStatusScreen(const SortedJson& status, TimeMs now) {
  StatusScreen screen;
  const bool is_ready = status.value("ready", false);
  const SortedJson& troubles = ListOf(status, "troubles");
  screen.is_well = is_ready && troubles.empty();
  screen.verdict = screen.is_well ? "READY" : is_ready ? "READY, with troubles" : "NOT READY";
  std::string& text = screen.text;
  for (const SortedJson& trouble : troubles) text += fmt::format("  ! {}\n", trouble.get<std::string>());
  const std::string role = TextOf(status, "role") == "replica"
                               ? fmt::format("replica, of group {}", TextOf(status, "owner_group"))
                               : TextOf(status, "role");
  text += fmt::format("daemon      {} as {}, {}, up {}\n", TextOf(status, "version"),
                      TextOf(status, "instance_id"), role,
                      SpanText(now.value - IntegerIn(status, "started_at_ms").value_or(now.value)));
  text += fmt::format("brokers     {}, {}\n", TextOf(status, "brokers"),
                      status.value("brokers_reachable", false) ? "reachable" : "OUT OF REACH");
  const SortedJson& partitions = ListOf(status, "partitions");
  const auto here = std::count_if(partitions.begin(), partitions.end(), [](const SortedJson& partition) {
    return TextOf(partition, "state") != "refused";
  });
  text += fmt::format("topic       {}: {} of {} partitions here", TextOf(status, "topic"), here,
                      CountText(IntegerIn(status, "partitions_total")));
  for (const char* list : {"partitions_refused", "partitions_unowned"}) {
    const size_t count = ListOf(status, list).size();
    if (count > 0) text += fmt::format(", {} {}", count, std::string_view(list).substr(11));
  }
  text += "\n";
  for (const SortedJson& loss : ListOf(status, "losses")) text += LossLines(loss, now);
  text += MisroutedLine(partitions);
  if (const auto state = status.find("state_topic"); state != status.end() && state->is_object()) {
    for (const SortedJson& restore : ListOf(*state, "restores")) {
      const auto left = IntegerIn(restore, "seconds_left");
      text +=
          fmt::format("restores    partition {}: {:.0f}%{}\n", IntegerIn(restore, "partition").value_or(-1),
                      100 * restore.value("share", 0.0), left ? ", " + SpanText(*left * 1000) + " left" : "");
    }
  }
  std::vector<Cells> rows = {
      {"partition", "state", "lag", "age", "unpublished", "checkpoint", "store", "lost", "filters"}};
  for (const SortedJson& partition : partitions) rows.push_back(CellsOf(partition, now));
  if (rows.size() > 1) text += "\n" + TableOf(rows);
  for (const SortedJson& partition : partitions) {
    if (const std::string reason = TextOf(partition, "reason"); !reason.empty())
      text += fmt::format("partition {}: {}\n", IntegerIn(partition, "partition").value_or(-1), reason);
  }
  return screen;
}

std::string UnseenText(const SortedJson& answer) {
  std::string text;
  for (const SortedJson& item : answer.at("unseen")) text += item.get<std::string>() + "\n";
  return text;
}

std::string SimilarText(const SortedJson& answer) {
  if (!answer.contains("similar")) return {};
  const SortedJson& unseen = answer.at("unseen");
  std::string text;
  for (const SortedJson& similar : answer.at("similar")) {
    const SortedJson& item = similar.at("item_id");
    const bool stands = std::find(unseen.begin(), unseen.end(), item) != unseen.end();
    text += fmt::format("{} {}: {}\n", item.get<std::string>(), stands ? "comes last" : "is left out",
                        LikeWhat(similar));
  }
  return text;
}

std::string SegmentsText(const SortedJson& answer) {
  const auto items = answer.at("items").get<uint64_t>();
  const auto bytes = answer.at("bytes").get<uint64_t>();
  const SortedJson& lag = answer.at("lag_messages");
  std::string text = fmt::format(
      "{} in filter {}: {} items that count, {} stored{}, {} removals, partition {}, lag {}\n",
      answer.at("user_id").get<std::string>(), answer.at("filter").get<std::string>(), WithThousands(items),
      WithByteUnit(bytes),
      items > 0
          ? fmt::format(" ({:.2f} bytes an item)", static_cast<double>(bytes) / static_cast<double>(items))
          : "",
      answer.at("removals").get<uint64_t>(), answer.at("partition").get<int64_t>(),
      lag.is_null() ? "unknown" : JsonText(lag));
  if (answer.at("segments").empty()) return text;
  text += fmt::format("{:20}  {:12} {:>8} {:>9}  {}\n", "of (UTC)", "kind", "items", "bytes", "counts until");
  for (const SortedJson& segment : answer.at("segments")) text += SegmentLine(segment) + "\n";
  return text;
}

std::string WhyText(const SortedJson& answer) {
  std::string text = ExplanationOf(answer);
  if (answer.at("exposures").is_null()) return text;
  for (const SortedJson& exposure : answer.at("exposures")) text += ExposureLine(exposure);
  return text;
}

std::string GroupText(const SortedJson& answer) {
  std::string text =
      ExplanationOf(answer) + MemberLines(answer.at("members"), answer.at("group_id").get<std::string>());
  if (const SortedJson& next = answer.at("next"); !next.is_null())
    text += fmt::format("  and more: --after {}\n", next.get<std::string>());
  const SortedJson& near = answer.at("item").at("near");
  return text + (near.empty() ? std::string("near it: nothing\n")
                              : fmt::format("near it, of any group: {}\n", near.size()) + NearLines(near));
}

std::string SimilarItemsText(const SortedJson& answer) {
  const SortedJson& similar = answer.at("similar");
  if (similar.empty()) return "no stored item is like it\n";
  return fmt::format("{} item{} like it, the nearest first\n", similar.size(),
                     similar.size() == 1 ? " is" : "s are") +
         NearLines(similar);
}

Result<OrderedJson> DescribeSnapshot(std::string_view bytes, std::span<const std::string> test_ids) {
  const auto snapshot = SnapshotView::Parse(bytes);
  if (!snapshot) return Fail(snapshot.error());
  const SnapshotMeta& meta = snapshot->meta();
  OrderedJson about = {
      {"format", SnapshotFormatName(meta.format)},
      {"items", meta.item_count},
      {"false_positive_rate", meta.false_positive_rate},
      {"horizon", DayText(meta.horizon)},
      {"as_of", TimeText(meta.as_of)},
      {"as_of_ms", meta.as_of.value},
      {"partition", meta.partition},
      {"input_offset", meta.input_offset},
      {"bytes", bytes.size()},
      {"filter_bytes", snapshot->payload().size()},
  };
  if (meta.item_count > 0) {
    about["bits_per_item"] =
        static_cast<double>(snapshot->payload().size()) * 8 / static_cast<double>(meta.item_count);
  }
  if (const auto& similar = snapshot->similar()) {
    about["similar"] = {{"format", SnapshotFormatName(similar->format)},
                        {"fingerprints", similar->fingerprint_count},
                        {"filter_bytes", similar->payload.size()}};
  }
  if (!test_ids.empty()) {
    auto& tests = about["tests"] = OrderedJson::object();
    for (const std::string& id : test_ids) tests[id] = snapshot->MightContain(id);
    if (snapshot->has_similar()) {
      auto& near = about["near_tests"] = OrderedJson::object();
      for (const std::string& id : test_ids) near[id] = snapshot->MightBeNear(id);
    }
  }
  return about;
}

std::string SnapshotText(const OrderedJson& about) {
  std::string text = fmt::format(
      "{}, {} items, {} ({} of filter{}), false-positive rate {}\n"
      "counts exposures from {} on; as of {}: partition {} below offset {}\n",
      about["format"].get<std::string>(), WithThousands(about["items"].get<uint64_t>()),
      WithByteUnit(about["bytes"].get<uint64_t>()), WithByteUnit(about["filter_bytes"].get<uint64_t>()),
      about.contains("bits_per_item")
          ? fmt::format(", {:.2f} bits an item", about["bits_per_item"].get<double>())
          : std::string(),
      about["false_positive_rate"].get<double>(), about["horizon"].get<std::string>(),
      about["as_of"].get<std::string>(), about["partition"].get<int32_t>(),
      about["input_offset"].get<int64_t>());
  if (about.contains("similar")) {
    const auto& similar = about["similar"];
    text += fmt::format("what is similar: {}, {} fingerprints, {}\n", similar["format"].get<std::string>(),
                        WithThousands(similar["fingerprints"].get<uint64_t>()),
                        WithByteUnit(similar["filter_bytes"].get<uint64_t>()));
  }
  if (about.contains("tests")) {
    for (const auto& [id, might] : about["tests"].items()) {
      const bool near = about.contains("near_tests") && about["near_tests"][id].get<bool>();
      text += fmt::format("{}: {}{}\n", id, might.get<bool>() ? "seen, or a false positive" : "not seen",
                          near ? "; like a seen item, or a false positive" : "");
    }
  }
  return text;
}

}  // namespace seen
