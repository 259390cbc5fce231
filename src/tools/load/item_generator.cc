#include "tools/load/item_generator.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <nlohmann/json.hpp>
#include <string_view>
#include <vector>

#include "tools/load/item_phrases.h"

namespace seen {
namespace {

constexpr double kCopiesShareMax = 0.9;
constexpr uint64_t kCopiesReachBack = 50;  // a copy's source is one of so many items before it

/// The random numbers of one part of an item, which don't depend on items made before.
Random RandomOf(uint64_t seed, uint64_t number, uint64_t part) {
  Random mixed(seed);
  Random by_number(mixed.Next() ^ number * 0x9e3779b97f4a7c15u);
  return Random(by_number.Next() ^ part * 0xc2b2ae3d27d4eb4fu);
}
constexpr uint64_t kCopyPart = 0, kLanguagePart = 1, kEditPart = 2, kSentencePart = 16;

using Sentence = std::array<std::string_view, 5>;

class Text {
 public:
  Text(uint64_t seed, uint64_t number, bool chinese, uint32_t sentences)
      : seed_(seed), number_(number), chinese_(chinese) {
    for (uint32_t i = 0; i < sentences; ++i) AddSentence();
  }

  void AddSentence() {
    Random random = RandomOf(seed_, number_, kSentencePart + sentences_.size());
    Sentence sentence;
    for (size_t slot = 0; slot < sentence.size(); ++slot) sentence[slot] = Draw(slot, random);
    sentences_.push_back(sentence);
  }

  /// Never changes the first sentence: the title consists of its phrases.
  void ChangePhrase(Random& random) {
    if (sentences_.size() < 2) return AddSentence();
    Sentence& sentence = sentences_[1 + random.Below(static_cast<uint32_t>(sentences_.size() - 1))];
    const size_t slot = random.Below(static_cast<uint32_t>(sentence.size()));
    const std::string_view before = sentence[slot];
    while (sentence[slot] == before) sentence[slot] = Draw(slot, random);
  }

  std::string Title() const {
    const Sentence& first = sentences_.front();
    if (chinese_) return fmt::format("{}{}{}", first[1], first[3], first[4]);
    return Capital(fmt::format("{} {} {}", first[0], first[1], first[2]));
  }

  std::string Body() const {
    std::string body;
    for (const Sentence& sentence : sentences_) {
      if (chinese_) {
        body +=
            fmt::format("{}，{}{}{}{}。", sentence[0], sentence[1], sentence[2], sentence[3], sentence[4]);
      } else {
        body += fmt::format("{}{}.", body.empty() ? "" : " ",
                            Capital(fmt::format("{}", fmt::join(sentence, " "))));
      }
    }
    return body;
  }

 private:
  std::string_view Draw(size_t slot, Random& random) const {
    const phrases::List list = chinese_ ? phrases::kChinese[slot] : phrases::kEnglish[slot];
    return list[random.Below(static_cast<uint32_t>(list.size()))];
  }
  static std::string Capital(std::string text) {
    text[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(text[0])));
    return text;
  }

  uint64_t seed_;
  uint64_t number_;
  bool chinese_;
  std::vector<Sentence> sentences_;
};

std::string UpperCase(std::string text) {
  for (char& c : text) {
    if (c >= 'a' && c <= 'z') c = static_cast<char>(c - 'a' + 'A');
  }
  return text;
}

}  // namespace

Status ItemGenerator::Validate(const ItemGeneratorOptions& options) {
  const auto range = [](std::string_view name, auto value, auto low, auto high) {
    return Fail(Code::kInvalidArgument, fmt::format("{}: {} is outside {} to {}", name, value, low, high));
  };
  if (!(options.copies >= 0 && options.copies <= kCopiesShareMax))
    return range("--copies", options.copies, 0, kCopiesShareMax);
  if (!(options.chinese >= 0 && options.chinese <= 1)) return range("--chinese", options.chinese, 0, 1);
  if (options.sentences < 1 || options.sentences > 1000)
    return range("--sentences", options.sentences, 1, 1000);
  return {};
}

std::string ItemGenerator::IdOf(uint64_t number) const {
  if (!options_.id_prefix.empty()) return fmt::format("{}{}", options_.id_prefix, number);
  return fmt::format("n{:08x}", static_cast<uint32_t>(number + 1) * 0x85ebca6bu);
}

uint64_t ItemGenerator::OriginalOf(uint64_t number) const {
  while (number > 0) {  // ends after some steps: at most nine of ten items are copies
    Random random = RandomOf(options_.seed, number, kCopyPart);
    if (random.Unit() >= options_.copies) break;
    number -= 1 + random.Below(static_cast<uint32_t>(std::min(number, kCopiesReachBack)));
  }
  return number;
}

ItemGenerator::Item ItemGenerator::Make(uint64_t number, TimeMs created_at) const {
  const uint64_t original = OriginalOf(number);
  const bool chinese = RandomOf(options_.seed, original, kLanguagePart).Unit() < options_.chinese;
  Text text(options_.seed, original, chinese, options_.sentences);
  Item item{.id = IdOf(number), .payload = {}, .original = {}};
  if (original != number) {
    item.original = original;
    Random random = RandomOf(options_.seed, number, kEditPart);
    item.edit = static_cast<CopyEdit>(random.Below(3));
    if (item.edit == CopyEdit::kWords) text.ChangePhrase(random);
    if (item.edit == CopyEdit::kSentence) text.AddSentence();
  }
  nlohmann::ordered_json json = {{"item_id", item.id}, {"created_at", created_at.value}};
  if (item.original && item.edit == CopyEdit::kVerbatim) {
    json["title"] = UpperCase(text.Title());
    json["text"] = fmt::format("<p class=\"repost\">{}</p>\n<a href=\"https://mirror.example/{}\"></a>",
                               text.Body(), item.id);
  } else {
    json["title"] = text.Title();
    json["text"] = text.Body();
  }
  json["lang"] = chinese ? "zh" : "en";
  item.payload = json.dump();
  return item;
}

}  // namespace seen
