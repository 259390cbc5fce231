#include <CLI/CLI.hpp>

#include "tools/commands.h"

namespace seen {

int RunSeenctl(int argc, const char* const* argv) {
  CLI::App app("seenctl: generate, replay, inspect and verify what seend keeps", "seenctl");
  app.set_version_flag("--version", SEEN_VERSION);
  app.require_subcommand(1);
  app.footer(
      "Exit status: 0 all is well, 1 a check failed or something was out of reach, 2 wrong arguments.");
  const std::vector<Subcommand> commands = {
      AddGenerate(app), AddReplay(app),   AddUnseen(app),  AddShow(app),   AddWhy(app),    AddRemove(app),
      AddErase(app),    AddSnapshot(app), AddPublish(app), AddVerify(app), AddDemo(app),   AddGroup(app),
      AddSimilar(app),  AddIdf(app),      AddPromote(app), AddDigest(app), AddBackup(app), AddRestore(app),
      AddExport(app),   AddReshard(app),  AddCompare(app), AddFill(app)};
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? kExitOk : kExitUsage;
  }
  for (const Subcommand& command : commands) {
    if (command.app->parsed()) return command.run();
  }
  return kExitUsage;
}

}  // namespace seen
