#pragma once
// The calling thread's name and priority.

#include <string>

namespace seen {

/// The name that `top -H` shows; at most 15 characters.
void NameThread(const std::string& name);

/// For a thread whose work can wait. If processors are short, threads that somebody waits for go first: they
/// get about three times its share, and run at once when they wake. The thread keeps this priority.
void YieldToOtherThreads();

/// As YieldToOtherThreads, and lower: this thread goes behind other programs, and so does each thread and
/// process that it starts from now on. If the priority is lower already, it stays.
void YieldToOtherPrograms();

}  // namespace seen
