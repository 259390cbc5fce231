#pragma once
// seend's life: lock, serve, find the brokers, consume, stop. For the order of starting and stopping, see
// Connect and ShutDown in daemon.cc.

#include "config/command_line.h"

namespace seen {

/// The exit status if going on would lose or mix up data: an operator must decide.
inline constexpr int kExitRefused = 3;
/// The exit status if the daemon can't start, e.g. because the port is taken.
inline constexpr int kExitFailed = 1;

/// Runs until SIGTERM or SIGINT, or until the daemon must refuse to go on. Returns the exit status. Handles
/// these signals itself, so call it on the main thread before any other thread starts.
int RunDaemon(const RunCommand& options);

}  // namespace seen
