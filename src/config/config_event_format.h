#pragma once
// Reads the keys that say how events are written, and which filter covers which events: input.fields,
// input.kinds, input.only_if, filters[].scenes, filters[].when.

#include <span>
#include <vector>

#include "config/config.h"
#include "config/config_text.h"
#include "decode/event_format.h"

namespace seen {

/// `document`: as CheckConfig resolved it. `declared`: the kinds that filters declare. input.kinds may name
/// them. Appends mistakes to `errors`; the format still has all that is valid. Of EventFormat::wanted, only
/// `kind` is set.
EventFormat ReadEventFormat(const ConfigJson& document, std::span<const DeclaredKind> declared,
                            std::vector<ConfigError>& errors);

}  // namespace seen
