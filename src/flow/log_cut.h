#pragma once

#include <string>

#include "base/result.h"

namespace seen {

/// kRefused: records that were read are no longer in the log, and retention didn't delete them. `evidence`
/// names topic and partition; `remedy` is a clause.
inline Error LogWasCut(const std::string& evidence, const std::string& remedy) {
  return {Code::kRefused, evidence + ": the topic was recreated, or its log was cut. Remedy: " + remedy};
}

}  // namespace seen
