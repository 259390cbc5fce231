#pragma once
// A comparison as a page for whoever decides about the cut-over: three charts and a few sentences.

#include <string>

#include "tools/compare/compare_report.h"

namespace seen {

/// A whole HTML document. It loads nothing: no script, no font, no picture from elsewhere.
std::string ComparePage(const CompareReport& report);

}  // namespace seen
