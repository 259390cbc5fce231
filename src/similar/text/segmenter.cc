#include "similar/text/segmenter.h"

#include <unicode/brkiter.h>
#include <unicode/utext.h>

#include "base/result.h"
#include "similar/text/characters.h"

namespace seen {
namespace {

// A longer run is cut: ICU's memory grows with its length. No sentence is as long.
constexpr size_t kPieceBytesMax = 6'000;

class IcuSegmenter final : public Segmenter {
 public:
  IcuSegmenter() {
    UErrorCode error = U_ZERO_ERROR;
    words_.reset(icu::BreakIterator::createWordInstance(icu::Locale::getRoot(), error));
    Check(U_SUCCESS(error) && words_ != nullptr,
          "ICU has no data for word boundaries: its library is broken");
  }
  ~IcuSegmenter() override { utext_close(&text_); }
  IcuSegmenter(const IcuSegmenter&) = delete;
  IcuSegmenter& operator=(const IcuSegmenter&) = delete;

  void Segment(std::string_view run, std::vector<uint32_t>& ends) override {
    for (size_t at = 0; at < run.size();) {
      const size_t size = CharacterBoundary(run.substr(at), kPieceBytesMax);
      Piece(run.substr(at, size), static_cast<uint32_t>(at), ends);
      at += size;
    }
  }

  std::string Version() const override { return IcuVersion(); }

 private:
  // Converts to UTF-16, which ICU's dictionaries read directly. They would convert UTF-8 again for each word.
  void Piece(std::string_view piece, uint32_t offset, std::vector<uint32_t>& ends) {
    units_.clear();
    byte_ends_.clear();
    for (size_t at = 0; at < piece.size();) {
      const uint32_t c = NextCharacter(piece, at);
      if (c >= 0x10000) {
        units_.push_back(static_cast<char16_t>(0xd7c0 + (c >> 10)));
        byte_ends_.push_back(0);  // no word ends within a surrogate pair
      }
      units_.push_back(static_cast<char16_t>(c < 0x10000 ? c : 0xdc00 | (c & 0x3ff)));
      byte_ends_.push_back(offset + static_cast<uint32_t>(at));
    }
    UErrorCode error = U_ZERO_ERROR;
    utext_openUChars(&text_, units_.data(), static_cast<int64_t>(units_.size()), &error);
    words_->setText(&text_, error);
    Check(U_SUCCESS(error), "ICU can't read a text");
    for (int32_t end = words_->next(); end != icu::BreakIterator::DONE; end = words_->next()) {
      ends.push_back(byte_ends_[static_cast<size_t>(end) - 1]);
    }
  }

  std::unique_ptr<icu::BreakIterator> words_;
  UText text_ = UTEXT_INITIALIZER;
  std::vector<char16_t> units_;
  std::vector<uint32_t> byte_ends_;  // for each unit: where its character ends
};

// Thai, Lao, Khmer and Myanmar, with their digits and marks.
bool NeedsDictionary(uint32_t c) {
  return (c >= 0x0e00 && c < 0x0f00) || (c >= 0x1000 && c < 0x10a0) || (c >= 0x1780 && c < 0x1800) ||
         (c >= 0x19e0 && c < 0x1a00) || (c >= 0xa9e0 && c < 0xaa00) || (c >= 0xaa60 && c < 0xaa80);
}

class CharacterSegmenter final : public Segmenter {
 public:
  void Segment(std::string_view run, std::vector<uint32_t>& ends) override {
    size_t next = 0;
    for (size_t at = 0; at < run.size(); at = next) {
      next = at;
      if (!NeedsDictionary(NextCharacter(run, next))) {
        SkipMarks(run, next);
        ends.push_back(static_cast<uint32_t>(next));
        continue;
      }
      for (size_t end = next; end < run.size() && NeedsDictionary(NextCharacter(run, end));) next = end;
      const size_t first = ends.size();
      Icu().Segment(run.substr(at, next - at), ends);
      for (size_t i = first; i < ends.size(); ++i) ends[i] += static_cast<uint32_t>(at);
    }
  }

  std::string Version() const override { return "characters of Han and kana, " + IcuVersion(); }

 private:
  static void SkipMarks(std::string_view run, size_t& at) {
    while (run.substr(at, 3) == "\u3099" || run.substr(at, 3) == "\u309a") at += 3;
  }

  // Most texts don't need it, and it takes long to make.
  Segmenter& Icu() {
    if (!icu_) icu_ = NewIcuSegmenter();
    return *icu_;
  }

  std::unique_ptr<Segmenter> icu_;
};

}  // namespace

std::unique_ptr<Segmenter> NewCharacterSegmenter() { return std::make_unique<CharacterSegmenter>(); }
std::unique_ptr<Segmenter> NewIcuSegmenter() { return std::make_unique<IcuSegmenter>(); }

}  // namespace seen
