// seend: reads exposures from Kafka, keeps what each user has seen, publishes and serves filters.
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <variant>

#include "app/daemon.h"
#include "app/reload.h"
#include "app/status_board.h"
#include "base/log.h"
#include "base/text.h"
#include "config/command_line.h"
#include "kafka/client_settings.h"
#include "rocks/rocks_status.h"

// jemalloc gives freed memory back to the system after a second, and large pieces (such as a long HTTP body)
// at once. So resident memory follows the load, not the peak.
extern "C" const char* malloc_conf;
const char* malloc_conf =
    "background_thread:true,dirty_decay_ms:1000,muzzy_decay_ms:1000,oversize_threshold:2097152";

int main(int argc, char** argv) {
  std::signal(SIGHUP, SIG_IGN);   // ignored until StopSignal handles it
  std::signal(SIGXFSZ, SIG_IGN);  // a write beyond RLIMIT_FSIZE fails, as on a full disk
  const seen::ProgramVersions versions{std::string(seen::kVersion), seen::ClientLibraryVersion(),
                                       seen::RocksVersion()};
  seen::Command command = seen::ParseCommandLine(argc, argv, versions);
  if (const auto* check = std::get_if<seen::CheckCommand>(&command)) command = seen::CheckFiles(*check);
  if (const auto* print = std::get_if<seen::PrintCommand>(&command)) {
    std::fputs(seen::PrintableLines(print->error).c_str(), stderr);
    if (std::fputs(print->out.c_str(), stdout) == EOF || std::fflush(stdout) == EOF) {
      std::fprintf(stderr, "seend: standard output: %s\n", std::strerror(errno));
      return 1;
    }
    return print->exit_status;
  }
  auto& run = *std::get_if<seen::RunCommand>(&command);
  seen::log::Configure(run.config.log.level, run.config.log.format);
  return seen::RunDaemon(run);
}
