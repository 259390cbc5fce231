#include <dirent.h>
#include <prometheus/metric_family.h>
#include <sys/resource.h>
#include <unistd.h>

#include <fstream>
#include <sstream>
#include <string>

#include "serve/metrics.h"

namespace seen {
namespace {

using prometheus::MetricFamily;
using prometheus::MetricType;

MetricFamily One(std::string name, std::string help, MetricType type, double value) {
  prometheus::ClientMetric metric;
  (type == MetricType::Counter ? metric.counter.value : metric.gauge.value) = value;
  return {std::move(name), std::move(help), type, {metric}};
}

/// The fields of /proc/self/stat after the command's name, which may hold anything. Field 3 of proc(5) is the
/// first.
std::vector<double> StatFields() {
  std::ifstream file("/proc/self/stat");
  std::string line;
  std::getline(file, line);
  const size_t end_of_name = line.rfind(')');
  if (end_of_name == std::string::npos) return {};
  std::istringstream rest(line.substr(end_of_name + 2));
  std::string state;
  rest >> state;
  std::vector<double> fields = {0};
  for (double field = 0; rest >> field;) fields.push_back(field);
  return fields;
}

double BootTimeSeconds() {
  std::ifstream file("/proc/stat");
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with("btime ")) return std::stod(line.substr(6));
  }
  return 0;
}

double OpenFileDescriptors() {
  DIR* directory = opendir("/proc/self/fd");
  if (directory == nullptr) return 0;
  int entries = 0;
  while (readdir(directory) != nullptr) ++entries;
  closedir(directory);
  return entries - 3;  // ".", ".." and the directory itself
}

}  // namespace

std::vector<MetricFamily> ProcessMetrics() {
  std::vector<MetricFamily> families;
  const auto ticks_per_second = static_cast<double>(sysconf(_SC_CLK_TCK));
  const std::vector<double> stat = StatFields();
  constexpr size_t kFirst = 3;  // number of the first field in proc(5)
  if (stat.size() > 24 - kFirst) {
    families.push_back(One("process_cpu_seconds_total", "CPU time used, user and system.",
                           MetricType::Counter, (stat[14 - kFirst] + stat[15 - kFirst]) / ticks_per_second));
    families.push_back(One("process_resident_memory_bytes", "Resident memory.", MetricType::Gauge,
                           stat[24 - kFirst] * static_cast<double>(sysconf(_SC_PAGESIZE))));
    families.push_back(
        One("process_virtual_memory_bytes", "Virtual memory.", MetricType::Gauge, stat[23 - kFirst]));
    static const double boot_time_s = BootTimeSeconds();
    families.push_back(One("process_start_time_seconds", "Start of the process, since the epoch.",
                           MetricType::Gauge, boot_time_s + stat[22 - kFirst] / ticks_per_second));
  }
  families.push_back(
      One("process_open_fds", "Open file descriptors.", MetricType::Gauge, OpenFileDescriptors()));
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) == 0) {
    families.push_back(One("process_max_fds", "The most file descriptors that may be open.",
                           MetricType::Gauge, static_cast<double>(limit.rlim_cur)));
  }
  return families;
}

}  // namespace seen
