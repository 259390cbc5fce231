// reshard: turns the state of all old partitions into bases for a topic with another number of partitions.

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <functional>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "kafka/admin.h"
#include "model/delta_fold.h"
#include "model/delta_view.h"
#include "rows/descriptor.h"
#include "rows/keys.h"
#include "store/resting_rows.h"
#include "tools/commands.h"
#include "tools/common_options.h"
#include "tools/progress.h"
#include "tools/reach_brokers.h"
#include "tools/state/destination.h"
#include "tools/state/row_router.h"
#include "tools/state/state_source.h"

namespace seen {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds kAsk{10'000};

struct ReshardOptions {
  std::vector<std::string> directories;
  std::vector<std::string> backups;
  KafkaOptions kafka;
  int32_t partitions = 0;
  std::string state_topic;
  std::string group;
  bool json = false;
  bool quiet = false;
};

/// All old partitions, from all daemons that had them.
struct OldState {
  std::vector<StateSource> sources;
  std::vector<std::unique_ptr<RestingRows>> partitions;
  StoreDescriptor descriptor;  // of the new partitions, without their numbers
  Position position;           // of each new partition
};

template <typename Named>
bool SameNames(const std::vector<Named>& a, const std::vector<Named>& b, auto name_of) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [&](const Named& x, const Named& y) { return name_of(x) == name_of(y); });
}

// Numbers in keys and sets must mean the same in all partitions.
Status CheckAlike(const StoreDescriptor& first, const StoreDescriptor& other) {
  const auto& a = first.identity;
  const auto& b = other.identity;
  if (a.topic != b.topic || a.partition_count != b.partition_count || a.partitioner != b.partitioner) {
    return Fail(Code::kRefused,
                fmt::format("partition {} is of topic {} with {} partitions ({}), partition {} of {} with "
                            "{} ({}). Remedy: name the state of one topic",
                            b.partition, b.topic, b.partition_count, b.partitioner, a.partition, a.topic,
                            a.partition_count, a.partitioner));
  }
  const auto itself = [](const std::string& name) { return name; };
  const auto of_filter = [](const StoredFilter& filter) { return filter.name; };
  if (SameNames(first.filters, other.filters, of_filter) && SameNames(first.kinds, other.kinds, itself))
    return {};
  return Fail(Code::kRefused,
              fmt::format("partitions {} and {} number their filters or kinds differently. Remedy: start the "
                          "daemons with one configuration, let each daemon open its partitions, and then "
                          "take the state. If that doesn't help, --rebuild numbers them again",
                          a.partition, b.partition));
}

// Keeps for each filter what holds for all old partitions: a new partition may get users of any of them.
void JoinWholeness(const std::vector<FilterWholeness>& filters, std::vector<FilterWholeness>& joined) {
  for (const FilterWholeness& filter : filters) {
    const auto at = std::lower_bound(joined.begin(), joined.end(), filter.filter,
                                     [](const FilterWholeness& one, FilterId id) { return one.filter < id; });
    if (at == joined.end() || at->filter != filter.filter) {
      joined.insert(at, filter);
      continue;
    }
    at->complete_since = std::max(at->complete_since, filter.complete_since);
    at->awaits_record |= filter.awaits_record;
    at->window_days = std::min(at->window_days, filter.window_days);
    at->last_published = std::max(at->last_published, filter.last_published);
  }
}

// Older versions stored only lost ranges.
std::vector<FilterWholeness> WholenessOf(const Position& position, const StoreDescriptor& descriptor) {
  if (!position.filters.empty()) return position.filters;
  std::vector<FilterWholeness> filters;
  for (size_t i = 0; i < descriptor.filters.size(); ++i) {
    FilterWholeness& filter = filters.emplace_back();
    filter.filter = FilterId(i);
    filter.window_days = descriptor.filters[i].window_days;
    for (const LostRange& range : position.lost_ranges)
      filter.complete_since = std::max(filter.complete_since, range.noticed_at);
  }
  return filters;
}

Status OpenSource(Result<StateSource> source, std::map<int32_t, std::string>& known, OldState& old) {
  if (!source) return Fail(source.error());
  for (const int32_t number : source->Partitions()) {
    auto rows = source->Open(number);
    if (!rows && rows.error().code == Code::kNotFound) continue;  // a partition that was still being created
    if (!rows) return Fail(rows.error());
    const StoreDescriptor& descriptor = (*rows)->descriptor();
    if (const auto [at, is_new] = known.emplace(number, source->name()); !is_new) {
      return Fail(Code::kInvalidArgument,
                  fmt::format("partition {} is in {} and in {}. Remedy: leave out its older state", number,
                              at->second, source->name()));
    }
    if (old.partitions.empty()) old.descriptor = descriptor;
    if (Status alike = CheckAlike(old.descriptor, descriptor); !alike) return alike;
    if (const auto& position = (*rows)->position()) {
      old.position.partition_time = std::max(old.position.partition_time, position->partition_time);
      JoinWholeness(WholenessOf(*position, descriptor), old.position.filters);
    }
    old.partitions.push_back(std::move(*rows));
  }
  old.sources.push_back(std::move(*source));
  return {};
}

Result<OldState> OpenOld(const ReshardOptions& options) {
  OldState old;
  std::map<int32_t, std::string> known;
  for (const std::string& directory : options.directories) {
    if (Status opened = OpenSource(StateSource::OfDirectory(directory), known, old); !opened)
      return Fail(opened.error());
  }
  for (const std::string& backups : options.backups) {
    if (Status opened = OpenSource(StateSource::OfBackup(backups, {}), known, old); !opened)
      return Fail(opened.error());
  }
  for (int32_t number = 0; number < old.descriptor.identity.partition_count; ++number) {
    if (known.contains(number)) continue;
    return Fail(Code::kRefused,
                fmt::format("partition {} of {} is missing: its users would lose what they saw. Remedy: "
                            "name the state of all daemons, each with --dir or --from",
                            number, old.descriptor.identity.partition_count));
  }
  if (old.descriptor.identity.topic == options.kafka.topic) {
    return Fail(
        Code::kInvalidArgument,
        fmt::format(
            "--topic: {} is the topic of the old state. Remedy: name the new topic, which has {} partitions",
            options.kafka.topic, options.partitions));
  }
  // The old partition time may be ahead of the clock. The new partitions must not begin ahead of it.
  old.position.partition_time = std::min(old.position.partition_time, SystemClock().WallNow());
  for (FilterWholeness& filter : old.position.filters) {
    if (filter.last_published == LastPublished::kKept) filter.last_published = LastPublished::kUnread;
  }
  old.descriptor.topics.clear();  // their snapshots are of users in other partitions
  old.descriptor.identity.topic = options.kafka.topic;
  old.descriptor.identity.partition_count = options.partitions;
  return old;
}

Status CheckInputTopic(const ReshardOptions& options, const ClientSettings& client) {
  if (Status reached = ReachBrokers("--brokers", options.kafka.brokers, client); !reached) return reached;
  const auto admin = Admin::Open(options.kafka.brokers, client);
  if (!admin) return Fail(admin.error());
  const auto count = (*admin)->PartitionCount(options.kafka.topic, kAsk);
  if (!count) return Fail(count.error());
  if (*count != options.partitions) {
    return Fail(Code::kInvalidArgument,
                fmt::format("--partitions: {}, but topic {} has {}. Remedy: give the topic's number",
                            options.partitions, options.kafka.topic, *count));
  }
  return {};
}

// The rows of several partitions in the order of their keys, each key once.

struct At {
  RestingRows* source;
  std::unique_ptr<RestingRows::Cursor> cursor;
  std::string_view key = {};
  std::string_view value = {};
};

// The heap functions put the greatest element first, so this order is the reverse.
bool StandsBehind(const At& a, const At& b) { return a.key > b.key; }

Status ComposeRows(std::string_view key, const std::vector<At>& same, const StoredLimits& limits,
                   std::string& out) {
  const auto user = UserOf(Table::kDeltas, key);
  if (!user) return Fail(user.error());
  const DeltaLimits* const of_filter = limits.Of(user->filter);
  std::vector<std::string_view> parts;
  for (const bool with_id : {false, true}) {
    for (const At& at : same) {
      if (UserIdOfDelta(at.value).empty() != with_id) parts.push_back(at.value);
    }
  }
  if (of_filter == nullptr || !FoldEncoded(parts, *of_filter, Horizon(), out))
    return Fail(Code::kCorrupt, "a row isn't a user's set");
  return {};
}

using VisitMerged = std::function<Status(std::string_view key, std::string_view value, RestingRows& source)>;

/// Calls `visit` with each user's rows of all `sources`, and with the source of the row. Composes sets under
/// the same key, sets without an id first. After an earlier reshard, each partition has such sets. Of other
/// rows under the same key, only one counts. Stops at an error of a source or of `visit`.
Status ForEachMerged(const std::vector<std::unique_ptr<RestingRows>>& sources, const StoredLimits& limits,
                     const VisitMerged& visit) {
  std::vector<At> heap;
  for (const auto& source : sources) {
    At at{source.get(), source->ReadFrom(Table::kDeltas)};
    const auto any = at.cursor->Next(at.key, at.value);
    if (!any) return Fail(any.error());
    if (*any) heap.push_back(std::move(at));
  }
  std::make_heap(heap.begin(), heap.end(), StandsBehind);
  std::vector<At> taken;
  std::string composed;
  while (!heap.empty()) {
    taken.clear();
    do {
      std::pop_heap(heap.begin(), heap.end(), StandsBehind);
      taken.push_back(std::move(heap.back()));
      heap.pop_back();
    } while (!heap.empty() && heap.front().key == taken.front().key);
    const std::string_view key = taken.front().key;
    std::string_view value = taken.back().value;
    if (taken.size() > 1 && static_cast<Table>(key[0]) == Table::kDeltas) {
      if (Status status = ComposeRows(key, taken, limits, composed); !status) return status;
      value = composed;
    }
    if (Status visited = visit(key, value, *taken.back().source); !visited) return visited;
    for (At& at : taken) {
      const auto more = at.cursor->Next(at.key, at.value);
      if (!more) return Fail(more.error());
      if (!*more) continue;
      heap.push_back(std::move(at));
      std::push_heap(heap.begin(), heap.end(), StandsBehind);
    }
  }
  return {};
}

struct Sent {
  uint64_t rows = 0;
  uint64_t rows_to_all = 0;
};

Status SendRows(const ReshardOptions& options, OldState& old, StateDestination& destination, Sent& sent) {
  std::vector<PartitionHead> heads(static_cast<size_t>(options.partitions), {old.descriptor, old.position});
  for (int32_t partition = 0; partition < options.partitions; ++partition)
    heads[static_cast<size_t>(partition)].descriptor.identity.partition = partition;
  if (Status begun = destination.Begin(std::move(heads)); !begun) return begun;
  const auto partitioner = ParsePartitioner(old.descriptor.identity.partitioner);
  if (!partitioner) return Fail(Code::kCorrupt, "the descriptor names no partitioner that is known");
  const RowRouter router(*partitioner, options.partitions);
  Progress progress("reshard", 0, "rows", options.quiet ? Progress::Mode::kQuiet : Progress::Mode::kAuto);
  Status read = ForEachMerged(
      old.partitions, StoredLimits(old.descriptor.filters),
      [&](std::string_view key, std::string_view value, RestingRows& source) -> Status {
        const RowRouter::Lookup lookup{[&](const UserRef& user) { return source.MarkedIdOf(user); },
                                       [&](const UserRef& user) { return source.DeltaOf(user); }};
        const auto to = router.Route(key, value, lookup);
        if (!to) return Fail(to.error());
        if (!*to) return {};
        progress.Update(++sent.rows);
        const Row row{RowOp::kPut, key, value};
        if (**to != RowRouter::kAll) return destination.Add(**to, row);
        ++sent.rows_to_all;
        for (int32_t partition = 0; partition < options.partitions; ++partition) {
          if (Status added = destination.Add(partition, row); !added) return added;
        }
        return {};
      });
  return read ? destination.Finish() : read;
}

Result<Sent> Reshard(const ReshardOptions& options) {
  const auto client = options.kafka.Settings();
  if (!client) return Fail(client.error());
  auto old = OpenOld(options);
  if (!old) return Fail(old.error());
  if (Status fits = CheckInputTopic(options, *client); !fits) return Fail(fits.error());
  const auto destination = IntoTopic({.option = "--state-topic",
                                      .command = "seenctl reshard",
                                      .brokers = options.kafka.brokers,
                                      .client = *client,
                                      .topic = options.state_topic,
                                      .group = options.group,
                                      .remedy = "delete the topic, or ",
                                      .again = "run this command again with another state topic",
                                      .scratch = {},
                                      .quiet = options.quiet});
  if (Status prepared = destination->Prepare(options.partitions); !prepared) return Fail(prepared.error());
  Sent sent;
  if (Status done = SendRows(options, *old, *destination, sent); !done) return Fail(done.error());
  return sent;
}

int RunReshard(const ReshardOptions& options) {
  if (options.directories.empty() && options.backups.empty())
    return ExitWith({Code::kInvalidArgument, "reshard: give the old state, with --dir or --from"});
  CatchInterrupts();
  const auto sent = Reshard(options);
  if (!sent) return ExitWith(sent.error());
  if (options.json) {
    const nlohmann::ordered_json json = {
        {"partitions", options.partitions}, {"rows", sent->rows}, {"rows_to_all", sent->rows_to_all}};
    fmt::print("{}\n", json.dump());
    return kExitOk;
  }
  fmt::print(
      "{} has a base for each of {} partitions: {} rows, and {} of users whose id is gone in all of them. "
      "Start the "
      "daemons of group {} with input.topic {} and state.topic {}\n",
      options.state_topic, options.partitions, WithThousands(sent->rows), WithThousands(sent->rows_to_all),
      options.group, options.kafka.topic, options.state_topic);
  return kExitOk;
}

}  // namespace

Subcommand AddReshard(CLI::App& root) {
  auto options = std::make_shared<ReshardOptions>();
  CLI::App* app =
      root.add_subcommand("reshard", "write the state for a topic with another number of partitions");
  app->add_option("--dir", options->directories, "a stopped daemon's store.directory; may be repeated")
      ->allow_extra_args(false);
  app->add_option("--from", options->backups, "a directory of backups: its newest; may be repeated")
      ->allow_extra_args(false);
  AddKafkaOptions(*app, options->kafka);
  app->get_option("--topic")->description("the new input topic")->required();
  app->add_option("--partitions", options->partitions, "the new input topic's number of partitions")
      ->required()
      ->check(CLI::Range(1, 4'096));
  app->add_option("--state-topic", options->state_topic, "the new daemons' state.topic; created if missing")
      ->required();
  app->add_option("--group", options->group, "the new daemons' kafka.group_id")->required();
  app->add_flag("--json", options->json, "answer as JSON");
  app->add_flag("--quiet", options->quiet, "no progress");
  return {app, [options] { return RunReshard(*options); }};
}

}  // namespace seen
