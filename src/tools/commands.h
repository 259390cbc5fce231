#pragma once
// seenctl's subcommands. Each function adds its subcommand to the command line and returns how to run it.

#include <functional>
#include <vector>

namespace CLI {
class App;
}

namespace seen {

inline constexpr int kExitOk = 0;
inline constexpr int kExitFailed = 1;   // a check failed, something was out of reach, or not all was done
inline constexpr int kExitUsage = 2;    // an argument is wrong, or a file that it names is missing
inline constexpr int kExitRejects = 3;  // too many lines of the input can't be used

struct Subcommand {
  CLI::App* app = nullptr;
  std::function<int()> run;  // an exit status
};

/// All commands that ask a daemon: the table in daemon_commands.cc.
std::vector<Subcommand> AddDaemonCommands(CLI::App& root);
/// All commands that keep and move state: the table in state/state_commands.cc.
std::vector<Subcommand> AddStateCommands(CLI::App& root);
Subcommand AddGenerate(CLI::App& root);
Subcommand AddReplay(CLI::App& root);
Subcommand AddSize(CLI::App& root);
Subcommand AddVerify(CLI::App& root);
Subcommand AddDeadLetters(CLI::App& root);
Subcommand AddConfig(CLI::App& root);

/// The whole of main().
int RunSeenctl(int argc, const char* const* argv);

}  // namespace seen
