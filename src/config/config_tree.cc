#include <fmt/format.h>

#include "config/config_keys.h"

namespace seen {
namespace {

using enum ConfigType;

ConfigNode MakeTree() {
  ConfigNode root;
  for (const ConfigKey& key : ConfigKeys()) {
    ConfigNode* node = &root;
    std::string_view rest = key.path;
    for (size_t dot = rest.find('.'); dot != std::string_view::npos; dot = rest.find('.')) {
      std::string_view name = rest.substr(0, dot);
      if (name.ends_with("[]")) name.remove_suffix(2);
      for (ConfigNode& child : node->children) {
        if (child.name == name) node = &child;
      }
      rest.remove_prefix(dot + 1);
    }
    node->children.push_back({std::string(rest), &key, {}});
  }
  return root;
}

}  // namespace

const ConfigNode& ConfigTree() {
  static const ConfigNode tree = MakeTree();
  return tree;
}

const ConfigNode* ConfigNode::Find(std::string_view child) const {
  for (const ConfigNode& each : children) {
    if (each.name == child) return &each;
  }
  return nullptr;
}

std::string NumberText(double number) { return fmt::format("{}", number); }

std::string DescribeRange(const ConfigKey& key) {
  std::string text;
  switch (key.type) {
    case kSection:
      text = "an object";
      break;
    case kMap:
      text = "an object of strings, numbers and booleans";
      break;
    case kList:
      text = fmt::format("a list of {:.0f} to {:.0f} objects", key.minimum, key.maximum);
      break;
    case kText:
      text = key.rule->description;
      break;
    case kShape:
      text = key.shape->description;
      break;
    case kChoice:
      text = key.choices.size() > 1 ? "one of " : "";
      for (size_t i = 0; i < key.choices.size(); ++i) {
        text += fmt::format("{}\"{}\"", i > 0 ? ", " : "", key.choices[i]);
      }
      break;
    case kInteger:
      text = fmt::format("a whole number from {:.0f} to {:.0f}", key.minimum, key.maximum);
      break;
    case kBoolean:
      text = "true or false";
      break;
    case kNumber:
      text = fmt::format("a number {} {} and at most {}", key.minimum_excluded ? "above" : "of at least",
                         NumberText(key.minimum), NumberText(key.maximum));
      break;
  }
  if (!key.unit.empty()) text += fmt::format(" ({})", key.unit);
  return key.nullable ? text + ", or null" : text;
}

}  // namespace seen
