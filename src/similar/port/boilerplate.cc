#include "similar/port/boilerplate.h"

#include <re2/re2.h>

#include <algorithm>
#include <utility>

namespace seen {
namespace {

// Of a compiled pattern with the states that matching adds. A match that needs more is slower, not wrong.
constexpr int64_t kPatternMemoryMax = 1 << 20;

Result<std::unique_ptr<re2::RE2>> CompileOne(const std::string& pattern, size_t number) {
  const auto refuse = [&](const std::string& what) {
    return Fail(Code::kInvalidArgument,
                "pattern " + std::to_string(number + 1) + ", \"" + pattern + "\": " + what);
  };
  if (std::ranges::any_of(pattern, [](unsigned char c) { return c < 0x20 || c == 0x7f; }))
    return refuse("has a control character. Remedy: write it as \\n or \\t");
  if (pattern.size() > Boilerplate::kPatternBytesMax) {
    return refuse("longer than " + std::to_string(Boilerplate::kPatternBytesMax) +
                  " bytes. Remedy: split it into several patterns");
  }
  re2::RE2::Options options;
  options.set_log_errors(false);
  options.set_max_mem(kPatternMemoryMax);
  auto compiled = std::make_unique<re2::RE2>(pattern, options);
  if (!compiled->ok())
    return refuse("not a pattern of RE2: " + compiled->error() + ". Remedy: correct it, or leave it out");
  if (re2::RE2::FullMatch("", *compiled))
    return refuse("matches an empty text. Remedy: make it need at least one character");
  return compiled;
}

// Replaces every match by a space. False: there was none, and `out` isn't set.
bool ReplaceAll(const re2::RE2& pattern, std::string_view text, std::string& out) {
  const re2::StringPiece whole(text.data(), text.size());
  re2::StringPiece match;
  size_t kept = 0;
  bool any = false;
  for (size_t from = 0; from <= text.size();) {
    if (!pattern.Match(whole, from, text.size(), re2::RE2::UNANCHORED, &match, 1)) break;
    const auto begin = static_cast<size_t>(match.data() - whole.data());
    if (match.empty()) {  // such as a line's beginning: nothing to take out
      from = begin + 1;
      continue;
    }
    if (!any) out.clear();
    any = true;
    out.append(text, kept, begin - kept);
    out += ' ';
    kept = from = begin + match.size();
  }
  if (any) out.append(text, kept);
  return any;
}

}  // namespace

Boilerplate::~Boilerplate() = default;

Result<std::shared_ptr<const Boilerplate>> Boilerplate::Compile(std::vector<std::string> patterns) {
  if (patterns.empty()) return std::shared_ptr<const Boilerplate>();
  if (patterns.size() > kPatternsMax) {
    return Fail(Code::kInvalidArgument, std::to_string(patterns.size()) + " patterns, at most " +
                                            std::to_string(kPatternsMax) + ". Remedy: join some by |");
  }
  const std::shared_ptr<Boilerplate> made(new Boilerplate);
  for (size_t i = 0; i < patterns.size(); ++i) {
    auto compiled = CompileOne(patterns[i], i);
    if (!compiled) return Fail(std::move(compiled.error()));
    made->compiled_.push_back(std::move(*compiled));
  }
  made->patterns_ = std::move(patterns);
  return std::shared_ptr<const Boilerplate>(made);
}

std::string_view Boilerplate::Strip(std::string_view text, std::string& buffer) const {
  std::string next;
  for (const auto& pattern : compiled_) {
    if (!ReplaceAll(*pattern, text, next)) continue;
    buffer.swap(next);
    text = buffer;
  }
  return text;
}

}  // namespace seen
