#pragma once
// How seenctl's command line explains itself: its commands by purpose, and what somebody may have meant.

#include <CLI/CLI.hpp>
#include <string>

namespace seen {

/// For numbers from 0 on. The error names the value.
CLI::Validator NotNegative();

/// The first word that should be a command and is none, with the nearest one; empty: there is no such word.
std::string UnknownCommand(const CLI::App& root, int argc, const char* const* argv);

/// What is printed for a mistake in a command's options.
std::string ExplainMistake(const CLI::App& root, const CLI::Error& error);

}  // namespace seen
