#include "tools/load/items_options.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <chrono>
#include <filesystem>

#include "tools/history/line_reader.h"
#include "tools/reach_brokers.h"
#include "tools/read_files.h"

namespace seen {
namespace {

constexpr std::string_view kDefaults = R"({"items": {}})";

/// An empty `path` gives the defaults.
Result<ItemsSections> ReadConfig(const std::string& path) {
  std::string text(kDefaults);
  if (!path.empty()) {
    auto whole = ReadWhole(path);
    if (!whole) return Fail(whole.error().code, "--config: " + whole.error().message);
    text = std::move(*whole);
  }
  auto sections = LoadItems(text);
  if (sections) return std::move(*sections);
  std::string mistakes;
  for (const ConfigError& error : sections.error()) {
    mistakes += mistakes.empty() ? "" : "; ";
    mistakes += error.path.empty() ? error.message : error.path + ": " + error.message;
  }
  return Fail(Code::kInvalidArgument, fmt::format("--config: {}: {}", path, mistakes));
}

class Reading {
 public:
  Reading(const ItemFormat& format, const UseItem& use) : decoder_(format, kItemBytesMax), use_(use) {}

  template <typename Where>
  void Take(std::string_view json, TimeMs record_timestamp, const Where& where) {
    const auto item = decoder_.Decode(json);
    if (!item) return Skip(where, item.error().message);
    ++counts_.items;
    use_(*item, record_timestamp);
  }
  template <typename Where>
  void Skip(const Where& where, std::string_view why) {
    if (counts_.skipped++ == 0) counts_.first_skipped = fmt::format("{}: {}", where(), why);
  }
  std::string Note() const {
    return counts_.skipped == 0 ? "" : fmt::format("{} skipped", WithThousands(counts_.skipped));
  }
  const ItemCounts& counts() const { return counts_; }

 private:
  ItemDecoder decoder_;
  const UseItem& use_;
  ItemCounts counts_;
};

uint64_t SizeOf(const std::vector<std::string>& files) {
  uint64_t bytes = 0;
  for (const std::string& file : files) {
    std::error_code error;
    const auto size = std::filesystem::file_size(file, error);
    if (error) return 0;  // standard input: no total
    bytes += size;
  }
  return bytes;
}

Error WasInterrupted() { return {Code::kUnavailable, "interrupted"}; }

Status ReadFiles(const ItemPlaces& places, Reading& reading, Progress& progress) {
  for (const std::string& file : places.files) {  // a missing file must fail now, not after an hour
    if (file == "-") continue;
    if (const auto lines = LineReader::Open(file); !lines) return Fail(lines.error());
  }
  uint64_t bytes_before = 0;
  for (const std::string& file : places.files) {
    auto lines = LineReader::Open(file);
    if (!lines) return Fail(lines.error());
    const auto where = [&] { return fmt::format("{}: line {}", file, lines->line_number()); };
    std::string_view line;
    while (true) {
      const auto more = lines->Next(line);
      if (!more) return Fail(more.error());
      if (!*more) break;
      if (Interrupted()) return Fail(WasInterrupted());
      if (line.empty()) continue;
      reading.Take(line, SystemClock().WallNow(), where);
      progress.Update(bytes_before + lines->position());
    }
    bytes_before += lines->position();
  }
  return {};
}

Status ReadTopic(const ItemPlaces& places, TopicReader& reader, Reading& reading, Progress& progress) {
  const uint64_t total = reader.records_remaining();
  bool more = true;
  while (more) {
    const auto polled =
        reader.Poll(std::chrono::milliseconds(200), [&](int32_t partition, std::span<const Record> records) {
          for (const Record& record : records) {
            const auto where = [&] {
              return fmt::format("{}: partition {}, offset {}", places.topic, partition, record.offset);
            };
            if (record.value_is_null) {
              reading.Skip(where, "a null value");
            } else {
              reading.Take(record.value, record.timestamp, where);
            }
          }
        });
    if (!polled) return Fail(polled.error());
    if (Interrupted()) return Fail(WasInterrupted());
    more = *polled;
    progress.Update(total - std::min(total, reader.records_remaining()), reading.Note());
  }
  return {};
}

}  // namespace

void ItemsTopicOptions::AddTo(CLI::App& app) {
  app_ = &app;
  kafka_.topic = LoadItems(kDefaults)->items.topic;
  AddKafkaOptions(app, kafka_);
  app.get_option("--topic")->description("the topic of items");
  app.add_option("--config", config_,
                 "the daemon's configuration: its brokers, topic, fields and rules instead of the defaults");
}

bool ItemsTopicOptions::TopicIsGiven() const { return app_->count("--topic") > 0; }

Result<ItemsTopicOptions::Outcome> ItemsTopicOptions::Read() const {
  auto sections = ReadConfig(config_);
  if (!sections) return Fail(sections.error());
  auto client = kafka_.Settings();
  if (!client) return Fail(client.error());
  const bool own_brokers = sections->brokers.empty() || app_->count("--brokers") > 0;
  Outcome outcome{std::move(sections->items), {}};
  outcome.places.brokers = own_brokers ? kafka_.brokers : sections->brokers;
  outcome.places.client = std::move(*client);
  outcome.places.topic = config_.empty() || TopicIsGiven() ? kafka_.topic : outcome.items.topic;
  return outcome;
}

Result<ItemCounts> ReadItems(const ItemPlaces& places, const ItemFormat& format, Progress::Mode mode,
                             std::string_view label, const UseItem& use) {
  Reading reading(format, use);
  if (!places.files.empty()) {
    Progress progress(label, SizeOf(places.files), "bytes", mode);
    if (auto read = ReadFiles(places, reading, progress); !read) return Fail(read.error());
    progress.Finish(reading.Note());
    return reading.counts();
  }
  const auto reader = OpenWholeTopic(places.brokers, places.client, places.topic);
  if (!reader) return Fail(reader.error());
  Progress progress(label, (*reader)->records_remaining(), "records", mode);
  if (auto read = ReadTopic(places, **reader, reading, progress); !read) return Fail(read.error());
  progress.Finish(reading.Note());
  return reading.counts();
}

}  // namespace seen
