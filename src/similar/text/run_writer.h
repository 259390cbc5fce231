#pragma once
// Makes runs of folded characters. Decides which signs are part of a word: docs/SIMILAR.md, "Signs and
// links".

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "similar/text/characters.h"
#include "similar/text/folding.h"
#include "similar/text/normalise.h"

namespace seen {

/// Between two runs of kWord is one space, or the point or comma of a number: so 1.5 has two words. A point
/// may also be before a number, as in .5. Nothing else is between runs. One thread. Call Finish after the
/// last character.
class RunWriter {
 public:
  /// `folding`: nullptr: Chinese isn't folded. `signs_count` false: a sign is a separator. `spaces_part`
  /// false: a run of kDictionary goes on after spaces.
  RunWriter(NormalText& out, const FoldingTable* folding, bool signs_count, bool spaces_part)
      : out_(out), folding_(folding), signs_count_(signs_count), spaces_part_(spaces_part) {}

  void Put(uint32_t c, CharacterKind kind) {
    if (signs_count_) kind = KindHere(c, kind);
    if (waiting_count_ != 0 && Resolves(c, kind)) return;
    switch (kind) {
      case CharacterKind::kSeparator:
        if (spaces_part_ || c != ' ' || open_ != RunKind::kDictionary) open_.reset();
        return;
      case CharacterKind::kNothing:
        return;
      case CharacterKind::kWord:
        Open(RunKind::kWord);
        break;
      case CharacterKind::kDictionary:
        Open(RunKind::kDictionary);
        if (folding_ != nullptr) c = folding_->Of(c);
        break;
      case CharacterKind::kSymbol:
        open_.reset();
        Open(RunKind::kSymbol);
        break;
      case CharacterKind::kSign:
        if (signs_count_) return Wait(c);
        open_.reset();
        return;
    }
    Append(c);
  }
  /// Of StripMarkup's output, letters and digits.
  static bool IsOfWord(char c) { return c >= 'a' || (c >= '0' && c <= '9'); }
  /// As Put for each character of the words from `at` on that single spaces separate. `text` is ASCII of
  /// StripMarkup, and `at` is in a word. Returns the place after the words.
  size_t PutWords(std::string_view text, size_t at);
  /// Of the runs that begin from now on.
  void SetInLink(bool in_link) { in_link_ = in_link; }
  void Finish() {
    if (waiting_count_ != 0) Resolve(0);
  }

 private:
  // No word has more signs in a row.
  static constexpr size_t kWaitingMax = 8;

  static bool IsPoint(uint32_t c) { return c == '.' || c == ',' || c == 0x66b || c == 0x66c; }
  // Digits are of words in all scripts. A point or comma is a sign only directly after a digit or a sign.
  CharacterKind KindHere(uint32_t c, CharacterKind kind) const {
    if (kind == CharacterKind::kDictionary && c < 0x1800 && IsDigit(c)) return CharacterKind::kWord;
    const bool ends = kind == CharacterKind::kSign && waiting_count_ != 0 && IsPoint(c) &&
                      (c == ',' || apart_ || IsPoint(waiting_[0]));
    return ends ? CharacterKind::kSeparator : kind;
  }
  void Open(RunKind kind) {
    if (open_ == kind) return;
    open_ = kind;
    if (kind == RunKind::kWord) Space();
    const auto at = static_cast<uint32_t>(out_.text.size());
    out_.runs.push_back({at, at, kind, in_link_});
  }
  // If nothing else is after the last word.
  void Space() {
    if (out_.runs.empty() || out_.runs.back().kind != RunKind::kWord) return;
    if (out_.text.size() == out_.runs.back().end) out_.text += ' ';
  }
  void Append(uint32_t c) {
    AppendUtf8(c, out_.text);
    out_.runs.back().end = static_cast<uint32_t>(out_.text.size());
    last_ = c;
  }
  bool IsAfterOneLetter() const;
  bool IsOrnament() const;
  bool CountsAlone(uint32_t next) const;
  bool Counts(size_t i, uint32_t before, uint32_t after) const;
  void Wait(uint32_t sign);
  bool Resolves(uint32_t c, CharacterKind kind);
  void Resolve(uint32_t next);

  NormalText& out_;
  const FoldingTable* const folding_;  // nullptr: the text isn't folded
  const bool signs_count_;
  const bool spaces_part_;
  bool in_link_ = false;
  std::optional<RunKind> open_;
  uint32_t last_ = 0;  // the last character written
  // Signs in a row that wait for what follows them.
  std::array<uint32_t, kWaitingMax> waiting_;
  size_t waiting_count_ = 0;  // kWaitingMax + 1: more than fit
  bool apart_ = false;        // a separator follows them
};

}  // namespace seen
