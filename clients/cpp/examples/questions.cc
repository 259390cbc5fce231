#include "questions.h"

#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <nlohmann/json.hpp>

#include "seen/snapshot.h"

namespace seen::client::examples {
namespace {

using nlohmann::json;

/// Strings as they are, integers as their decimal strings.
std::optional<std::vector<std::string>> IdsOf(const json& object, const char* name) {
  std::vector<std::string> ids;
  if (!object.contains(name)) return ids;
  if (!object[name].is_array()) return std::nullopt;
  for (const json& id : object[name]) {
    if (!id.is_string() && !id.is_number_integer()) return std::nullopt;
    ids.push_back(id.is_string() ? id.get<std::string>() : id.dump());
  }
  return ids;
}

}  // namespace

std::optional<Question> ParseQuestion(const std::string& line) {
  const json object = json::parse(line, nullptr, /*allow_exceptions=*/false);
  if (object.is_object() && object.contains("user") && object["user"].is_string()) {
    auto items = IdsOf(object, "items");
    auto also_seen = IdsOf(object, "also_seen");
    if (items && also_seen) return Question{object["user"], *std::move(items), *std::move(also_seen)};
  }
  std::fprintf(stderr, "not a question: %s\n", line.c_str());
  return std::nullopt;
}

std::string ToLine(const Answer& answer) {
  json line = {{"unseen", answer.unseen}, {"from", answer.from}};
  if (!answer.by.empty()) line["by"] = answer.by;
  return line.dump();
}

std::vector<std::string> ByTheRequestAlone(const Question& question) {
  return Snapshot::Empty().Unseen(question.items, AlsoSeen(question.also_seen));
}

bool ReadFlags(int argc, char** argv, std::map<std::string, std::string>& flags) {
  for (int i = 1; i < argc; i += 2) {
    const std::string name = argv[i];
    const auto flag = flags.find(name.substr(0, 2) == "--" ? name.substr(2) : "");
    if (flag == flags.end() || i + 1 == argc) {
      std::fprintf(stderr, "%s: %s; there are:", name.c_str(),
                   flag == flags.end() ? "no such flag" : "no value");
      for (const auto& [known, value] : flags) std::fprintf(stderr, " --%s %s", known.c_str(), value.c_str());
      std::fprintf(stderr, "\n");
      return false;
    }
    flag->second = argv[i + 1];
  }
  return true;
}

long long NumberOf(const std::map<std::string, std::string>& flags, const std::string& name) {
  constexpr long long kMax = 1'000'000'000'000;
  const std::string& text = flags.at(name);
  long long number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size() || number < 1 || number > kMax) {
    std::fprintf(stderr, "--%s is %s, must be a number from 1 to 10^12\n", name.c_str(), text.c_str());
    std::exit(2);
  }
  return number;
}

}  // namespace seen::client::examples
