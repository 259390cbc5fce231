#include "tools/compare/compare_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string_view>

#include "tools/ask/calendar.h"
#include "tools/progress.h"

namespace seen {
namespace {

using Json = nlohmann::ordered_json;

double ShareOf(uint64_t part, uint64_t whole) {
  return whole == 0 ? 0.0 : static_cast<double>(part) / static_cast<double>(whole);
}

// An id is text from outside. Control characters, which a terminal would obey, become '?'.
std::string Printable(std::string_view text) {
  std::string printable(text);
  for (char& c : printable) {
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) c = '?';
  }
  return printable;
}

std::string Matrix(const AgreementCounts& counts) {
  return fmt::format("  {:<24}{:>20}{:>28}\n", "", "this filter drops", "this filter lets through") +
         fmt::format("  {:<24}{:>20}{:>28}\n", "the old one drops", WithThousands(counts.both),
                     WithThousands(counts.only_old)) +
         fmt::format("  {:<24}{:>20}{:>28}\n", "the old one lets through", WithThousands(counts.only_new),
                     WithThousands(counts.neither));
}

std::string SideText(std::string_view who, const SideReport& side, uint64_t candidates) {
  std::string text = fmt::format("\nonly {} drops {} ({} of the candidates)", who, WithThousands(side.items),
                                 PercentText(side.items, candidates));
  if (side.items == 0) return text + "\n";
  if (side.asked < side.items)
    text += fmt::format("; reasons of {} of them, drawn at random", WithThousands(side.asked));
  text += "\n";
  for (const ReasonCount& count : side.reasons) {
    text += fmt::format("  {:>12} {:>7}  {}\n", WithThousands(count.items),
                        PercentText(count.items, side.asked), count.reason.words);
    for (const DifferenceExample& example : side.examples) {
      if (example.reason.key != count.reason.key) continue;
      text += fmt::format("  {:>12} {:>7}    e.g. seenctl why {} {}   ({})\n", "", "",
                          Printable(example.difference.user_id), Printable(example.difference.item_id),
                          example.difference.place);
      break;
    }
  }
  return text;
}

std::string SharesText(const CompareReport& report) {
  std::string text = "\nrequests by the share of their candidates that is dropped\n";
  text += fmt::format("  {:<12}{:>14}{:>14}\n", "share", "old filter", "this filter");
  for (size_t bin = 0; bin < kShareBins; ++bin) {
    text += fmt::format("  {:<12}{:>14}{:>14}\n", ShareBinText(bin), WithThousands(report.old_shares[bin]),
                        WithThousands(report.new_shares[bin]));
  }
  return text;
}

std::string NotComparedText(const CompareReport& report) {
  const NotCompared& not_compared = report.not_compared;
  std::string text;
  if (not_compared.requests() > 0) {
    text += fmt::format(
        "\nnot compared: {} requests ({} bad lines, {} without an answer of the old filter, {} without one "
        "of "
        "the daemon)\n",
        WithThousands(not_compared.requests()), WithThousands(not_compared.bad_lines),
        WithThousands(not_compared.old_filter), WithThousands(not_compared.daemon));
    for (const std::string& example : not_compared.examples) text += "  " + Printable(example) + "\n";
  }
  if (report.why_unanswered > 0)
    text += fmt::format("\nwhy had no answer {} times\n", WithThousands(report.why_unanswered));
  if (!report.stopped.empty()) text += fmt::format("\nstopped early: {}\n", report.stopped);
  return text;
}

Json CountsJson(const AgreementCounts& counts) {
  return {{"candidates", counts.candidates()}, {"both_drop", counts.both},
          {"neither_drops", counts.neither},   {"only_old_drops", counts.only_old},
          {"only_new_drops", counts.only_new}, {"agreement", counts.agreement()}};
}

Json SideJson(const SideReport& side) {
  Json json = {{"items", side.items}, {"asked", side.asked}};
  json["reasons"] = Json::array();
  for (const ReasonCount& count : side.reasons) {
    json["reasons"].push_back({{"reason", count.reason.key},
                               {"words", count.reason.words},
                               {"items", count.items},
                               {"share", ShareOf(count.items, side.asked)}});
  }
  json["examples"] = Json::array();
  for (const DifferenceExample& example : side.examples) {
    const FilterDifference& difference = example.difference;
    json["examples"].push_back({{"user_id", difference.user_id},
                                {"item_id", difference.item_id},
                                {"filter", difference.filter},
                                {"reason", example.reason.key},
                                {"place", difference.place}});
    if (difference.old_since.value != 0) json["examples"].back()["old_since_ms"] = difference.old_since.value;
  }
  return json;
}

}  // namespace

std::string ShareBinText(size_t bin) {
  if (bin == 0) return "nothing";
  if (bin == 1) return "up to 10%";
  if (bin + 1 == kShareBins) return "over 90%";
  return fmt::format("{} to {}%", (bin - 1) * 10, bin * 10);
}

std::string PercentText(uint64_t part, uint64_t whole) {
  const double percent = ShareOf(part, whole) * 100;
  // Rounding must not hide a difference.
  if (part < whole && percent > 99.99) return "99.99%";
  if (part > 0 && percent < 0.01) return "<0.01%";
  return fmt::format("{:.2f}%", percent);
}

std::string CompareText(const CompareReport& report) {
  const AgreementCounts& total = report.total;
  std::string text =
      fmt::format("old filter:  {}\nthis filter: {}\n\n", report.old_filter, report.new_filter);
  text += fmt::format("{} requests of {} users, {} candidates: the filters agree on {} ({})\n",
                      WithThousands(report.requests), WithThousands(report.users),
                      WithThousands(total.candidates()), WithThousands(total.both + total.neither),
                      total.candidates() == 0 ? "nothing was compared"
                                              : PercentText(total.both + total.neither, total.candidates()));
  text += Matrix(total);
  if (report.by_filter.size() > 1) {
    for (const auto& [name, counts] : report.by_filter) {
      text += fmt::format("\nfilter {}: {} candidates, agreement {}\n", Printable(name),
                          WithThousands(counts.candidates()),
                          PercentText(counts.both + counts.neither, counts.candidates()));
      text += Matrix(counts);
    }
  }
  text += SideText("the old filter", report.only_old, total.candidates());
  text += SideText("this filter", report.only_new, total.candidates());
  text += SharesText(report);
  if (report.repeated + report.also_seen > 0) {
    text += fmt::format("\nleft out: {} candidates that a request names again, {} that it has in also_seen\n",
                        WithThousands(report.repeated), WithThousands(report.also_seen));
  }
  text += NotComparedText(report);
  return text;
}

Json CompareJson(const CompareReport& report) {
  Json json = {{"complete", report.IsComplete()},
               {"stopped", report.stopped.empty() ? Json(nullptr) : Json(report.stopped)},
               {"at", TimeText(report.at)},
               {"old_filter", report.old_filter},
               {"this_filter", report.new_filter},
               {"requests", report.requests},
               {"requests_that_differ", report.requests_that_differ},
               {"users", report.users}};
  json["total"] = CountsJson(report.total);
  json["filters"] = Json::array();
  for (const auto& [name, counts] : report.by_filter) {
    Json one = {{"filter", name}};
    one.update(CountsJson(counts));
    json["filters"].push_back(std::move(one));
  }
  json["only_old_drops"] = SideJson(report.only_old);
  json["only_new_drops"] = SideJson(report.only_new);
  json["dropped_shares"] = Json::array();
  for (size_t bin = 0; bin < kShareBins; ++bin) {
    json["dropped_shares"].push_back({{"share", ShareBinText(bin)},
                                      {"old_requests", report.old_shares[bin]},
                                      {"new_requests", report.new_shares[bin]}});
  }
  const NotCompared& not_compared = report.not_compared;
  json["not_compared"] = {{"requests", not_compared.requests()},   {"bad_lines", not_compared.bad_lines},
                          {"old_filter", not_compared.old_filter}, {"daemon", not_compared.daemon},
                          {"why", report.why_unanswered},          {"examples", not_compared.examples}};
  json["left_out"] = {{"repeated", report.repeated}, {"also_seen", report.also_seen}};
  json["unknown_items"] = report.unknown_items;
  json["warnings"] = report.warnings;
  return json;
}

}  // namespace seen
