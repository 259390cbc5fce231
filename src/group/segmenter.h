#pragma once
// Words of scripts that put no spaces between them.

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace seen {

/// One thread each. What it does must depend on the run alone: a replay decides the same.
class Segmenter {
 public:
  virtual ~Segmenter() = default;
  /// Appends the end of each word of `run` (bytes from its beginning), ascending, the last one run.size().
  /// `run`: not empty, valid UTF-8, letters, digits and marks of Han, kana, Thai, Lao, Khmer and Myanmar,
  /// folded.
  virtual void Segment(std::string_view run, std::vector<uint32_t>& ends) = 0;
  /// For people, and to notice that an index was built by another: "ICU 72.1, Unicode 15.0".
  virtual std::string Version() const = 0;
};

/// ICU's word boundaries (UAX 29), by its dictionaries. Source: unicode-org.github.io/icu, "Boundary
/// Analysis".
std::unique_ptr<Segmenter> NewIcuSegmenter();

}  // namespace seen
