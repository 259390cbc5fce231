#include "app/item_topics.h"

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <limits>
#include <system_error>

#include "base/log.h"
#include "items/item_window.h"
#include "model/day.h"

namespace seen {
namespace {
namespace fs = std::filesystem;
constexpr std::chrono::milliseconds kAsk{2000};
constexpr uint64_t kKeyOverhead = 1024;

tl::unexpected<Error> Broken(const std::string& path, const std::error_code& error) {
  return Fail(error == std::errc::no_space_on_device ? Code::kNoSpace : Code::kUnavailable,
              path + ": " + error.message());
}

Result<TopicState> Ensure(const Admin& admin, const TopicSpec& spec) {
  auto state = admin.EnsureTopic(spec, kAsk);
  if (state && state->created)
    log::Info("topic created", {{"topic", spec.name}, {"partitions", state->partitions}});
  return state;
}
}  // namespace

Result<ItemTopics> EnsureItemTopics(const Config& config, const Admin& admin, bool embedded_kafka) {
  const ItemsConfig& items = *config.items;
  const auto source = admin.PartitionCount(items.topic, kAsk);
  if (!source) {
    if (source.error().code != Code::kNotFound) return Fail(source.error());
    return Fail(Code::kUnavailable,
                "there is no topic \"" + items.topic + "\" (items.topic): whoever writes items makes it");
  }
  ItemTopics topics{items.topic, *source, *source};
  if (*source == 1) return topics;
  topics.ordered_topic = items.ordered_topic;
  const auto existing = admin.PartitionCount(items.ordered_topic, kAsk);
  if (existing) {
    topics.ordered_partitions = *existing;
    return topics;
  }
  if (existing.error().code != Code::kNotFound || embedded_kafka) return Fail(existing.error());
  // What has left the window is never read again, not even by an index that is made anew.
  TopicSpec spec{items.ordered_topic,
                 1,
                 {{"cleanup.policy", "delete"},
                  {"message.timestamp.type", "CreateTime"},
                  {"retention.ms", std::to_string(KeptDays(items.window_days) * kMsPerDay)}}};
  const auto bytes = admin.TopicConfig(items.topic, "max.message.bytes", kAsk);
  if (!bytes) return Fail(bytes.error());
  if (*bytes) {
    spec.config["max.message.bytes"] = std::to_string(std::min<uint64_t>(
        std::strtoull((*bytes)->c_str(), nullptr, 10) + kKeyOverhead, std::numeric_limits<int32_t>::max()));
  }
  const auto state = Ensure(admin, spec);
  if (!state) return Fail(state.error());
  topics.ordered_partitions = state->partitions;
  return topics;
}

std::string ItemsDirectory(const std::string& store_directory) { return store_directory + "/items"; }

Status CheckItemsDirectory(const std::string& store_directory, const std::string& topic, int32_t partitions,
                           bool rebuild) {
  const std::string directory = ItemsDirectory(store_directory);
  const std::string path = directory + "/log";
  const std::string expected = topic + "\t" + std::to_string(partitions) + "\n";
  std::error_code failed;
  fs::create_directories(directory, failed);
  if (failed) return Broken(directory, failed);
  std::string stored;
  {
    std::ifstream file(path, std::ios::binary);
    stored.assign(std::istreambuf_iterator<char>(file), {});
  }
  if (stored == expected) return {};
  if (!stored.empty()) {
    std::string of = stored.substr(0, stored.find('\n'));
    std::replace(of.begin(), of.end(), '\t', ' ');
    const std::string what = "the indexes in " + directory + " are of topic and partitions \"" + of +
                             "\", but items are now read from \"" + topic + " " + std::to_string(partitions) +
                             "\"";
    if (!rebuild) {
      return Fail(Code::kRefused, what +
                                      ". Remedy: give items.topic its partitions and name back, or start "
                                      "once with --rebuild to drop the indexes and read from the earliest "
                                      "record");
    }
    log::Warning("indexes of items dropped", {{"reason", what}});
    fs::remove_all(directory, failed);
    if (!failed) fs::create_directories(directory, failed);
    if (failed) return Broken(directory, failed);
  }
  const std::string incomplete = path + ".new";
  std::ofstream(incomplete, std::ios::binary | std::ios::trunc) << expected << std::flush;
  fs::rename(incomplete, path, failed);
  if (failed) return Broken(path, failed);
  return {};
}

}  // namespace seen
