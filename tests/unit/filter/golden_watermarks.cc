// tests/golden/snapshot/watermarks.json: schemas/snapshot.md, "Watermarks". The expected values are written
// out, not computed.

#include <optional>

#include "unit/filter/golden_bytes.h"
#include "unit/filter/golden_snapshots.h"

namespace seen::golden {
namespace {

using Text = std::optional<std::string>;  // nullopt: null

struct Record {
  Text key, value;
  bool refused = false;
  size_t spaces = 0;  // behind the value; the file has their number only
};

struct Expected {
  std::string of;  // a partition's number, or a golden file
  int64_t as_of_ms, stale_by_ms;
};

struct WatermarkCase {
  std::string note;
  std::vector<Record> records;
  int64_t now_ms;
  std::vector<Expected> watermarks;  // all that there are then
  std::vector<Expected> snapshots;
};

constexpr int64_t kOneBin = 1763700000123;  // the as_of_ms of one.bin, which is of partition 3
constexpr int64_t kBeat = 1763700010000, kNow = kBeat + 2500;

struct Mark {
  int64_t partition = 3;
  int64_t time = 1763600000000;
  int64_t lag = 0;
  int64_t beat = kBeat;
};

std::string MarkText(const Mark& mark, const std::string& more = "") {
  return R"({"version":1,"partition":)" + std::to_string(mark.partition) + R"(,"partition_time_ms":)" +
         std::to_string(mark.time) + R"(,"next_offset":100,"lag_messages":)" + std::to_string(mark.lag) +
         R"(,"unpublished_users":0,"heartbeat_ms":)" + std::to_string(mark.beat) + more + "}";
}

Record Good(const Mark& mark, const std::string& more = "") {
  return {std::to_string(mark.partition), MarkText(mark, more)};
}

/// MarkText with `from` replaced.
std::string With(std::string_view from, std::string_view to, const Mark& mark = {}) {
  std::string text = MarkText(mark);
  return text.replace(text.find(from), from.size(), to);
}

std::vector<WatermarkCase> CasesOfFreshness() {
  const Expected quiet = {"3", kBeat, 2500}, quiet_snapshot = {"one.bin", kBeat, 2500};
  const Expected own = {"one.bin", kOneBin, kNow - kOneBin};
  return {
      {"Nothing is left to read: as fresh as the heartbeat.", {Good({})}, kNow, {quiet}, {quiet_snapshot}},
      {"Nothing is left to read, and the stream's clock is ahead.",
       {Good({.time = kBeat + 5000})},
       kNow,
       {quiet},
       {quiet_snapshot}},
      {"Behind: as fresh as what was read.",
       {Good({.time = kBeat - 5000, .lag = 9})},
       kNow,
       {{"3", kBeat - 5000, 7500}},
       {{"one.bin", kBeat - 5000, 7500}}},
      {"Behind, and the stream's clock is ahead of the daemon's.",
       {Good({.time = kBeat + 5000, .lag = 9})},
       kNow,
       {quiet},
       {quiet_snapshot}},
      {"Behind, and the snapshot is later than the watermark.",
       {Good({.time = kOneBin - 124, .lag = 1})},
       kNow,
       {{"3", kOneBin - 124, kNow - kOneBin + 124}},
       {own}},
      {"The reader's clock is behind: never below 0.",
       {Good({})},
       kOneBin - 1,
       {{"3", kBeat, 0}},
       {{"one.bin", kBeat, 0}}},
      {"Another partition's watermark says nothing of the snapshot.",
       {Good({.partition = 4})},
       kNow,
       {{"4", kBeat, 2500}},
       {own}},
      {"No watermark: as fresh as the snapshot says.", {}, kNow, {}, {own}},
      {"The last record counts, also if its heartbeat is older.",
       {Good({}), Good({.beat = kBeat - 1000})},
       kNow,
       {{"3", kBeat - 1000, 3500}},
       {{"one.bin", kBeat - 1000, 3500}}},
      {"The first and the last partition there can be.",
       {Good({.partition = 0}), Good({.partition = 2147483647})},
       kNow,
       {{"0", kBeat, 2500}, {"2147483647", kBeat, 2500}},
       {own, {"far_metadata.bin", 4294967295999, 0}}},
      {"Times beyond 2^53, which are no doubles, and below 0.",
       {Good({.beat = 9007199254740993}), Good({.partition = 4, .time = -7, .lag = 2})},
       9007199254740996,
       {{"3", 9007199254740993, 3}, {"4", -7, 9007199254741003}},
       {{"one.bin", 9007199254740993, 3}}},
  };
}

std::vector<WatermarkCase> CasesOfRecords() {
  const Expected quiet = {"3", kBeat, 2500}, quiet_snapshot = {"one.bin", kBeat, 2500};
  const Expected own = {"one.bin", kOneBin, kNow - kOneBin};
  const Expected lagging = {"3", kBeat - 5000, 7500}, lagging_snapshot = {"one.bin", kBeat - 5000, 7500};
  const Mark behind = {.time = kBeat - 5000, .lag = 1};
  return {
      {"As a daemon writes it that answers for the partition.",
       {Good({}, R"(,"group":"seend","instance":"seend-1","address":"10.0.0.7:8080","state":"ready",)"
                 R"("published_to":99)")},
       kNow,
       {quiet},
       {quiet_snapshot}},
      {"A daemon that doesn't know the log's end says a lag of 1 or more.",
       {Good(behind, R"(,"state":"catching_up","lag_known":false)")},
       kNow,
       {lagging},
       {lagging_snapshot}},
      {"Members that aren't known are skipped, whatever they hold: names differ by case, too.",
       {Good(
           behind,
           R"(,"later":{"lag_messages":0,"version":2,"a":[1,-2.5e-3,{"b":"}\"\\"}]},"Lag_Messages":0,)"
           R"("HEARTBEAT_MS":7,"none":null,"yes":true,"no":false,"text":"lag_messages","empty":{},"list":[])")},
       kNow,
       {lagging},
       {lagging_snapshot}},
      {"Space around a value.", {{"3", " \t\r\n" + MarkText({}) + "\n "}}, kNow, {quiet}, {quiet_snapshot}},
      {"A value of 65,536 bytes is read.",
       {{"3", MarkText({}), false, 65'536 - MarkText({}).size()}},
       kNow,
       {quiet},
       {quiet_snapshot}},
      {"A tombstone forgets the partition's watermark.", {Good({}), {"3", {}}}, kNow, {}, {own}},
      {"A tombstone of another partition forgets nothing, also of one that has no watermark.",
       {Good({}), Good({.partition = 4}), {"4", {}}, {"5", {}}},
       kNow,
       {quiet},
       {quiet_snapshot}},
      {"After a tombstone the next record counts.",
       {Good({}), {"3", {}}, Good(behind)},
       kNow,
       {lagging},
       {lagging_snapshot}},
  };
}

/// After each of them the watermark before it stays.
std::vector<Record> RefusedRecords() {
  const std::string good = MarkText({});
  std::vector<Record> refused;
  for (const char* key :
       {"", "x", "-3", "-0", "+3", "03", " 3", "3 ", "3.0", "0x3", "4", "2147483648", "99999999999"}) {
    refused.push_back({key, good, true});
    if (std::string_view(key) != "4") refused.push_back({key, {}, true});
  }
  refused.push_back({{}, good, true});
  refused.push_back({{}, {}, true});
  refused.push_back({"2147483648", MarkText({.partition = 2147483648}), true});
  refused.push_back({"-3", MarkText({.partition = -3}), true});
  const auto add = [&](std::string value) { refused.push_back({"3", std::move(value), true}); };
  for (const char* value : {"", " ", "null", "true", "7", "\"3\"", "[]", "{", "{}", "\ufeff{}"}) add(value);
  add("[" + good + "]");
  add(good + good);
  add(good + "x");
  add("\ufeff" + good);
  add(good.substr(0, good.size() - 1));
  add(With(R"("version":1,)", ""));
  for (const char* version : {"2", "0", "-1", "1.0", "1e0", "\"1\"", "true", "null", "[1]"})
    add(With(R"("version":1)", R"("version":)" + std::string(version)));
  add(R"({"version":2})");
  for (const char* member : {"partition", "partition_time_ms", "next_offset", "lag_messages",
                             "unpublished_users", "heartbeat_ms"}) {
    add(With('"' + std::string(member) + '"', "\"other\""));
  }
  for (const char* value : {"5000.0", "5e3", "\"5000\"", "null", "true", "[]", "{}", "05000", "+5000", "0x10",
                            "-", "9223372036854775808", "-9223372036854775809", "1763700010000 5"})
    add(With(std::to_string(kBeat), value));
  for (const char* value : {"5000.0", "\"3\"", "null", "true"}) {
    add(With(R"("partition":3)", R"("partition":)" + std::string(value)));
    add(With(R"("lag_messages":0)", R"("lag_messages":)" + std::string(value)));
  }
  for (const char* value : {"nope", "01", "1.", ".5", "1e", "--1", "TRUE", "'a'", "[1,]", "{\"b\":1,}",
                            "\"\\x\"", "\"a", "{\"b\"}", "[1}", "NaN", "-Infinity", ""})
    add(With("}", R"(,"later":)" + std::string(value) + "}"));
  refused.push_back({"3", good, true, 65'537 - good.size()});
  return refused;
}

std::string JsonOf(const Text& text) { return text ? Quoted(*text) : "null"; }

std::string JsonOf(const std::vector<Expected>& list, std::string_view name, bool is_number) {
  const auto text_of = [&](const Expected& one) {
    return "{" + Quoted(name) + ": " + (is_number ? one.of : Quoted(one.of)) +
           ", \"as_of_ms\": " + std::to_string(one.as_of_ms) +
           ", \"stale_by_ms\": " + std::to_string(one.stale_by_ms) + "}";
  };
  return "[" + Joined(list, ", ", text_of) + "]";
}

std::string JsonOf(const WatermarkCase& one) {
  std::string records;
  for (const Record& record : one.records) {
    records += (records.empty() ? "" : ",") + ("\n      {\"key\": " + JsonOf(record.key)) +
               ", \"value\": " + JsonOf(record.value) +
               (record.spaces > 0 ? ", \"spaces\": " + std::to_string(record.spaces) : "") +
               ", \"refused\": " + (record.refused ? "true" : "false") + "}";
  }
  return "    {\"note\": " + Quoted(one.note) + ",\n     \"records\": [" + records +
         "],\n     \"now_ms\": " + std::to_string(one.now_ms) +
         ",\n     \"watermarks\": " + JsonOf(one.watermarks, "partition", true) +
         ",\n     \"snapshots\": " + JsonOf(one.snapshots, "file", false) + "}";
}

}  // namespace

std::string WatermarkCases() {
  std::vector<WatermarkCase> cases = CasesOfFreshness();
  for (WatermarkCase& one : CasesOfRecords()) cases.push_back(std::move(one));
  WatermarkCase refused = {"Records that are refused: after each of them the one before stays.",
                           RefusedRecords(),
                           kNow,
                           {{"3", kBeat, 2500}},
                           {{"one.bin", kBeat, 2500}}};
  refused.records.insert(refused.records.begin(), Good({}));
  cases.push_back(std::move(refused));
  const std::string text = Joined(cases, ",\n", [](const WatermarkCase& one) { return JsonOf(one); });
  return "{\n  \"about\": \"Records of the topic of watermarks, in order, and what a reader answers then; "
         "schemas/snapshot.md says why. A null key or value is null; spaces are so many spaces behind the "
         "value.\",\n  \"cases\": [\n" +
         text + "\n  ]\n}\n";
}

}  // namespace seen::golden
