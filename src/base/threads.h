#pragma once
// The calling thread's name and priority.

#include <string>

namespace seen {

/// As `top -H` shows it: 15 characters.
void NameThread(const std::string& name);

/// This thread's work can wait: where processors are short, threads that somebody waits for go first (about
/// three times its share, and at once when they wake). For good.
void YieldToOtherThreads();

/// As YieldToOtherThreads, further still: this thread, and all that it starts from now on, go behind other
/// programs. A priority that is lower already stays.
void YieldToOtherPrograms();

}  // namespace seen
