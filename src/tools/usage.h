#pragma once
// Explanations of mistakes on seenctl's command line, with the nearest known word.

#include <CLI/CLI.hpp>
#include <string>

namespace seen {

/// Accepts numbers from 0 on. The error names the value.
CLI::Validator NotNegative();

/// Looks at the first word that isn't an option. If this word is no command, returns an error text that names
/// the word and the nearest command. Otherwise empty.
std::string UnknownCommand(const CLI::App& root, int argc, const char* const* argv);

/// The text to print for a mistake in a command's options.
std::string ExplainMistake(const CLI::App& root, const CLI::Error& error);

}  // namespace seen
