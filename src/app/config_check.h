#pragma once
// seend --check-config: the part that needs the machine's files.

#include "config/command_line.h"

namespace seen {

/// Reads the files that the configuration names, as a start does. One line per mistake.
PrintCommand CheckFiles(const CheckCommand& check);

}  // namespace seen
