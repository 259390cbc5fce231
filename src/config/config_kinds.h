#pragma once
// Reads filters[].kinds: the kinds of events that the configuration declares.

#include <vector>

#include "config/config.h"
#include "config/config_text.h"
#include "decode/event_kinds.h"

namespace seen {

/// All kinds that the filters of `document` declare, each once, in the filters' order. Numbers start at
/// kDeclaredKindFirst. Appends the mistakes in filters[].kinds; returns all that is valid.
std::vector<DeclaredKind> ReadDeclaredKinds(const ConfigJson& document, std::vector<ConfigError>& errors);

/// One filter's kinds. ReadDeclaredKinds has found no mistake in the document.
std::vector<KindConfig> ToKinds(const ConfigJson& kinds);

}  // namespace seen
