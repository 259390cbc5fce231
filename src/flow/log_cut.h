#pragma once

#include <string>

#include "base/result.h"

namespace seen {

/// kRefused: what was read isn't in the log any more, and retention didn't take it. `evidence` names topic
/// and partition; `remedy` is a clause.
inline Error LogWasCut(const std::string& evidence, const std::string& remedy) {
  return {Code::kRefused, evidence + ": the topic was recreated, or its log was cut. Remedy: " + remedy};
}

}  // namespace seen
