#include "tools/check/demo_similar.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <nlohmann/json.hpp>
#include <optional>
#include <thread>
#include <vector>

#include "base/clock.h"
#include "similar/text/feature_reader.h"
#include "tools/check/similar_pair.h"
#include "tools/common_options.h"
#include "tools/load/event_sink.h"
#include "tools/load/item_generator.h"
#include "tools/progress.h"

namespace seen {
namespace {

using Json = nlohmann::json;
using std::chrono::milliseconds;

constexpr uint64_t kItems = 300;
constexpr auto kPatience = std::chrono::seconds(20);
constexpr size_t kTokensShown = 2;

/// Calls `is_there` again and again until it returns true. kUnavailable after kPatience.
template <typename IsThere>
Status WaitFor(std::string_view what, IsThere is_there) {
  const Instant end = SystemClock().Now() + kPatience;
  while (SystemClock().Now() < end && !Interrupted()) {
    const Result<bool> there = is_there();
    if (!there) return Fail(there.error());
    if (*there) return {};
    std::this_thread::sleep_for(milliseconds(50));
  }
  return Fail(Code::kUnavailable, fmt::format("{}: not within {} s", what, kPatience.count()));
}

/// An original with two copies, one edited and one verbatim, and items of no group. All by number.
struct Story {
  uint64_t original = 0, edited = 0, verbatim = 0;
  std::vector<uint64_t> others;  // neither seen nor copies of a seen item
};

std::optional<Story> ChooseStory(const ItemGenerator& items, TimeMs now) {
  std::vector<std::vector<uint64_t>> copies(kItems);
  for (uint64_t number = 0; number < kItems; ++number) {
    if (const uint64_t original = items.OriginalOf(number); original != number)
      copies[original].push_back(number);
  }
  for (uint64_t original = 0; original < kItems; ++original) {
    std::optional<uint64_t> edited, verbatim;
    if (Json::parse(items.Make(original, now).payload).at("lang") != "en") continue;
    for (const uint64_t copy : copies[original]) {
      const CopyEdit edit = items.Make(copy, now).edit;
      if (edit == CopyEdit::kWords) edited = copy;
      if (edit == CopyEdit::kVerbatim) verbatim = copy;
    }
    if (!edited || !verbatim) continue;
    Story story{original, *edited, *verbatim, {}};
    for (uint64_t number = original + 1; number < kItems && story.others.size() < 3; ++number) {
      if (items.OriginalOf(number) == number && copies[number].empty()) story.others.push_back(number);
    }
    return story;
  }
  return std::nullopt;
}

class SimilarDemo {
 public:
  SimilarDemo(const DemoSimilarOptions& options, DaemonClient& daemon, BulkProducer& exposures)
      : options_(options),
        daemon_(daemon),
        exposures_(exposures),
        now_(SystemClock().WallNow()),
        items_(
            {.seed = 7, .copies = 0.4, .chinese = 0.25, .id_prefix = fmt::format("story-{}-", now_.value)}),
        reader_(fmt::format("reader-{}", now_.value)) {}

  Result<bool> Run() {
    const auto story = ChooseStory(items_, now_);
    if (!story) return Fail(Code::kUnavailable, "the generated items have no story");
    if (auto sent = SendItems(); !sent) return Fail(sent.error());
    if (auto known = WaitUntilGrouped(*story); !known) return Fail(known.error());
    if (auto seen = Expose(story->original); !seen) return Fail(seen.error());
    return Ask(*story);
  }

 private:
  TimeMs CreatedAt(uint64_t number) const {
    return {now_.value - static_cast<int64_t>(kItems - number) * 60'000};
  }
  std::string Id(uint64_t number) const { return items_.IdOf(number); }

  Status SendItems() const {
    auto producer = BulkProducer::Open({.brokers = options_.brokers,
                                        .client = options_.client,
                                        .topic = options_.items_topic,
                                        .on_delivery = {}});
    if (!producer) return Fail(producer.error());
    for (uint64_t number = 0; number < kItems; ++number) {
      const auto item = items_.Make(number, CreatedAt(number));
      if (auto sent = (*producer)->Send(item.id, item.payload, std::nullopt); !sent) return sent;
    }
    return FlushAll(**producer);
  }

  Status WaitUntilGrouped(const Story& story) {
    // If the topic has several partitions, the last item's group doesn't prove that all items are grouped.
    for (const uint64_t number : {story.original, story.edited, story.verbatim, kItems - 1}) {
      auto known = WaitFor("the group of " + Id(number), [&]() -> Result<bool> {
        const auto group = daemon_.AskJson("GET", "/v1/groups/" + PercentEncode(Id(number)));
        if (!group && group.error().code != Code::kNotFound) return Fail(group.error());
        return group.has_value();
      });
      if (!known) return known;
    }
    return {};
  }

  Status Expose(uint64_t number) {
    const Json event = {{"user_id", reader_}, {"item_id", Id(number)}, {"exposed_at", now_.value}};
    if (auto sent = exposures_.Send(reader_, event.dump(), std::nullopt); !sent) return sent;
    if (auto flushed = FlushAll(exposures_); !flushed) return flushed;
    const std::vector<std::string> asked = {Id(number)};
    return WaitFor("the exposure of " + Id(number), [&]() -> Result<bool> {
      const auto unseen = daemon_.Unseen(options_.filter, reader_, asked);
      if (!unseen) return Fail(unseen.error());
      return unseen->empty();
    });
  }

  Result<bool> Ask(const Story& story) {
    std::vector<std::string> asked = {Id(story.original), Id(story.edited), Id(story.verbatim)};
    Json expected = Json::array();
    for (const uint64_t number : story.others) {
      asked.push_back(Id(number));
      expected.push_back(Id(number));
    }
    const auto answer = daemon_.UnseenAnswer(options_.filter, reader_, asked);
    if (!answer) return Fail(answer.error());
    fmt::print(
        "\nThe demo sent {} items with copies, and showed one to {}. The demo asks for that item, two copies "
        "and {} others:\n",
        kItems, reader_, story.others.size());
    fmt::print("    POST .../unseen {}\n    {}\n", Json{{"items", asked}}.dump(), answer->dump());
    bool well =
        Holds(answer->value("unseen", Json()) == expected, "the seen item and its copies are dropped");
    Json like = Json::object();
    for (const Json& similar : answer->value("similar", Json::array()))
      like[similar.value("item_id", "")] = similar.value("like", Json());
    well &=
        Holds(like == Json{{Id(story.edited), Id(story.original)}, {Id(story.verbatim), Id(story.original)}},
              "the answer lists both copies, and the item that they are like");
    return Explain(story) && well;
  }

  bool Explain(const Story& story) {
    FeatureReader features({.idf = IdfTable::Bundled()});
    const auto pair = ComparePair(Item(story.original), Item(story.edited), {}, features);
    fmt::print("  seenctl similar {} {}\n", Id(story.original), Id(story.edited));
    const std::string text = PairText(pair, kTokensShown);
    for (size_t at = 0; at < text.size();) {
      const size_t end = text.find('\n', at);
      fmt::print("    {}\n", text.substr(at, end - at));
      at = end + 1;
    }
    return Holds(pair.at("alike") == true, "the daemon and the explanation agree");
  }

  PairItem Item(uint64_t number) const {
    const auto json = Json::parse(items_.Make(number, CreatedAt(number)).payload);
    return {json.at("item_id"), json.at("title"), json.at("text"), json.at("lang"), CreatedAt(number)};
  }

  static bool Holds(bool well, std::string_view what) {
    fmt::print("    {}{}\n", well ? "" : "WRONG: this isn't true: ", what);
    return well;
  }

  const DemoSimilarOptions& options_;
  DaemonClient& daemon_;
  BulkProducer& exposures_;
  const TimeMs now_;
  const ItemGenerator items_;
  const std::string reader_;
};

}  // namespace

Result<bool> ShowSimilar(const DemoSimilarOptions& options, DaemonClient& daemon, BulkProducer& exposures) {
  return SimilarDemo(options, daemon, exposures).Run();
}

}  // namespace seen
