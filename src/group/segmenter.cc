#include "group/segmenter.h"

#include <unicode/brkiter.h>
#include <unicode/utext.h>

#include "base/check.h"
#include "group/characters.h"
#include "group/icu.h"

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

}  // namespace

std::unique_ptr<Segmenter> NewIcuSegmenter() { return std::make_unique<IcuSegmenter>(); }

}  // namespace seen
