#pragma once
// The keys that say how events are written and which filter covers which: input.fields, input.kinds,
// input.only_if, filters[].scenes, filters[].when.

#include <span>
#include <vector>

#include "config/config.h"
#include "config/config_text.h"
#include "decode/event_format.h"

namespace seen {

/// `document`: as CheckConfig resolved it. `declared`: the kinds that filters declare, which input.kinds may
/// name. Appends what is wrong; what is right is in the format all the same. Kinds are wanted, nothing else.
EventFormat ReadEventFormat(const ConfigJson& document, std::span<const DeclaredKind> declared,
                            std::vector<ConfigError>& errors);

}  // namespace seen
