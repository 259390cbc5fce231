#pragma once
// seenctl's subcommands. Each adds itself to the command line and says how it is run.

#include <functional>
#include <vector>

namespace CLI {
class App;
}

namespace seen {

inline constexpr int kExitOk = 0;
inline constexpr int kExitFailed = 1;  // a check failed, or something was out of reach
inline constexpr int kExitUsage = 2;   // an argument is wrong

struct Command {
  CLI::App* app = nullptr;
  std::function<int()> run;  // an exit status
};

Command AddGenerate(CLI::App& root);
Command AddReplay(CLI::App& root);
Command AddUnseen(CLI::App& root);
Command AddShow(CLI::App& root);
Command AddWhy(CLI::App& root);
Command AddGroup(CLI::App& root);
Command AddSimilar(CLI::App& root);
Command AddIdf(CLI::App& root);
Command AddSnapshot(CLI::App& root);
Command AddPublish(CLI::App& root);
Command AddRemove(CLI::App& root);
Command AddErase(CLI::App& root);
Command AddVerify(CLI::App& root);
Command AddDemo(CLI::App& root);

/// The whole of main().
int RunSeenctl(int argc, const char* const* argv);

}  // namespace seen
