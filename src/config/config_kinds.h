#pragma once
// filters[].kinds: kinds of events that the configuration declares.

#include <vector>

#include "config/config.h"
#include "config/config_text.h"
#include "decode/event_kinds.h"

namespace seen {

/// All that the filters of `document` declare, each once, in their order, numbered from
/// kDeclaredKindFirst on. Appends what is wrong with filters[].kinds; what is right is returned all the same.
std::vector<DeclaredKind> ReadDeclaredKinds(const ConfigJson& document, std::vector<ConfigError>& errors);

/// One filter's, of a document that ReadDeclaredKinds found right.
std::vector<KindConfig> ToKinds(const ConfigJson& kinds);

}  // namespace seen
