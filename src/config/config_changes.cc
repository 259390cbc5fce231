#include "config/config_changes.h"

#include "config/config_keys.h"

namespace seen {
namespace {

class ChangeList {
 public:
  std::vector<ConfigChange> all;

  void Section(const ConfigNode& node, const ConfigJson& running, const ConfigJson& read,
               const std::string& path, const ConfigJson::json_pointer& at) {
    for (const ConfigNode& child : node.children) {
      const auto before = running.find(child.name);
      const auto now = read.find(child.name);
      const bool had = before != running.end();
      const bool has = now != read.end();
      if (!had && !has) continue;
      const std::string child_path = JoinPath(path, child.name);
      if (had && has) {
        Any(child, *before, *now, child_path, at / child.name);
      } else {
        Add(child_path, at / child.name, false);
      }
    }
  }

 private:
  void Add(const std::string& path, const ConfigJson::json_pointer& at, bool is_live) {
    all.push_back({path, at, is_live});
  }

  void Any(const ConfigNode& node, const ConfigJson& running, const ConfigJson& read, const std::string& path,
           const ConfigJson::json_pointer& at) {
    if (running == read) return;
    if (running.is_object() && read.is_object() && node.key->type == ConfigType::kSection) {
      return Section(node, running, read, path, at);
    }
    if (running.is_array() && read.is_array() && node.key->type == ConfigType::kList &&
        running.size() == read.size()) {
      for (size_t i = 0; i < read.size(); ++i) {
        const std::string element = JoinPath(path, i);
        const bool same = TextAt(running[i], "/name") == TextAt(read[i], "/name");
        same ? Section(node, running[i], read[i], element, at / i) : Add(element, at / i, false);
      }
      return;
    }
    Add(path, at, node.key->is_live);
  }
};

}  // namespace

std::vector<ConfigChange> CompareConfigs(const ConfigJson& running, const ConfigJson& read) {
  ChangeList changes;
  changes.Section(ConfigTree(), running, read, "", ConfigJson::json_pointer());
  return std::move(changes.all);
}

}  // namespace seen
