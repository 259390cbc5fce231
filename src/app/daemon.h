#pragma once
// seend's life: lock, serve, find the brokers, consume, stop. Threads and their order are in daemon.cc's Run.

#include "config/command_line.h"

namespace seen {

/// What must not pass silently stopped it: an operator decides.
inline constexpr int kExitRefused = 3;
/// It could not start, e.g. the port is taken.
inline constexpr int kExitFailed = 1;

/// Runs until SIGTERM or SIGINT, or until it must refuse to go on; returns the exit status. Handles these
/// signals itself: call it on the main thread before any other thread is started.
int RunDaemon(const RunCommand& options);

}  // namespace seen
