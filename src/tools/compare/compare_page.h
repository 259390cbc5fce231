#pragma once
// A comparison as a page for the people who decide about the cut-over: three charts and a few sentences.

#include <string>

#include "tools/compare/compare_report.h"

namespace seen {

/// A whole HTML document, which loads nothing: no script, no font, no picture.
std::string ComparePage(const CompareReport& report);

}  // namespace seen
