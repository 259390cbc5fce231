#include "similar/text/idf_table.h"

#include <algorithm>
#include <bit>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <vector>

#include "similar/text/hash.h"

namespace seen {

namespace {

constexpr size_t kWordsMax = 5'000'000;
constexpr size_t kWordBytesMax = 1024;

constexpr std::string_view kBundledText =
#include "similar/text/idf_bundled.inc"
    ;

Error AtLine(size_t line, const std::string& what) {
  return {Code::kInvalidArgument, "line " + std::to_string(line) + ": " + what};
}

std::optional<uint64_t> Number(std::string_view digits) {
  uint64_t value = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  if (error != std::errc{} || end != digits.data() + digits.size()) return std::nullopt;
  return value;
}

std::string Quoted(std::string_view text) {
  std::string quoted = "'";
  quoted += text.substr(0, 64);
  return quoted + (text.size() > 64 ? "...'" : "'");
}

}  // namespace

// Open addressing by the token's hash, which is random already. 0 marks a free place: a hash of 0 becomes 1.
struct IdfTable::Impl {
  uint64_t documents = 0;
  uint64_t version = 0;
  size_t words = 0;
  uint32_t unknown = 0;  // weight of a word that isn't in the table
  std::vector<uint64_t> hashes;
  std::vector<uint32_t> weights;

  static uint64_t Key(uint64_t hash) { return hash == 0 ? 1 : hash; }
  size_t Place(uint64_t key) const {
    size_t place = key & (hashes.size() - 1);
    while (hashes[place] != key && hashes[place] != 0) place = (place + 1) & (hashes.size() - 1);
    return place;
  }
  /// False: the word is in the table already.
  bool Add(uint64_t hash, uint32_t weight) {
    const size_t place = Place(Key(hash));
    if (hashes[place] != 0) return false;
    hashes[place] = Key(hash);
    weights[place] = weight;
    ++words;
    return true;
  }
};

IdfTable::IdfTable() : impl_(std::make_unique<Impl>()) {}
IdfTable::~IdfTable() = default;

Result<std::shared_ptr<const IdfTable>> IdfTable::Parse(std::string_view text) {
  const std::shared_ptr<IdfTable> table(new IdfTable);
  Impl& impl = *table->impl_;
  const auto lines = static_cast<size_t>(std::count(text.begin(), text.end(), '\n')) + 1;
  impl.hashes.resize(std::bit_ceil(std::min(lines, kWordsMax) * 3 / 2 + 2));
  impl.weights.resize(impl.hashes.size());
  InverseFrequency inverse;
  for (size_t line = 1, at = 0; at < text.size(); ++line) {
    const size_t end = std::min(text.find('\n', at), text.size());
    std::string_view row = text.substr(at, end - at);
    at = end + 1;
    if (row.ends_with('\r')) row.remove_suffix(1);
    if (row.empty()) continue;
    if (row.front() == '#') {
      constexpr std::string_view kDocuments = "# documents ";
      if (!row.starts_with(kDocuments)) continue;
      const auto documents = Number(row.substr(kDocuments.size()));
      if (impl.documents != 0) return Fail(AtLine(line, "documents: stands twice; keep one"));
      if (!documents || *documents == 0 || *documents > InverseFrequency::kDocumentsMax) {
        return Fail(AtLine(line, "documents: " + Quoted(row.substr(kDocuments.size())) +
                                     " is no number from 1 to 10^15; write how many documents were counted"));
      }
      impl.documents = *documents;
      inverse = InverseFrequency(impl.documents);
      continue;
    }
    if (impl.documents == 0) {
      return Fail(AtLine(line, "documents: missing; begin the table with a line \"# documents N\""));
    }
    const size_t tab = row.find('\t');
    const std::string_view word = row.substr(0, tab);
    if (tab == std::string_view::npos) {
      return Fail(AtLine(line, "count: missing after " + Quoted(word) + "; write WORD<TAB>DOCUMENTS"));
    }
    if (word.empty() || word.size() > kWordBytesMax || word.find(' ') != std::string_view::npos) {
      return Fail(
          AtLine(line, "word: " + Quoted(word) + " is not one word of 1 to 1,024 bytes; leave it out"));
    }
    const auto count = Number(row.substr(tab + 1));
    if (!count || *count > impl.documents) {
      return Fail(AtLine(line, "count: " + Quoted(row.substr(tab + 1)) + " of " + Quoted(word) +
                                   " is no number from 0 to the table's documents (" +
                                   std::to_string(impl.documents) + "); write in how many it comes"));
    }
    if (impl.words == kWordsMax) {
      return Fail(AtLine(line, "more than 5,000,000 words; leave out the rarest"));
    }
    const uint64_t hash = TokenHash(word);
    if (!impl.Add(hash, inverse.Weight(*count))) {
      return Fail(AtLine(line, "word: " + Quoted(word) + " stands twice; keep one"));
    }
    impl.version += Mixed(hash + Mixed(*count));  // a sum: the order of the words doesn't matter
  }
  if (impl.documents == 0) {
    return Fail(Code::kInvalidArgument,
                "line 1: documents: missing; begin the table with a line \"# documents N\"");
  }
  impl.unknown = inverse.Weight(0);
  impl.version = Mixed(impl.version + Mixed(impl.documents));
  return std::shared_ptr<const IdfTable>(table);
}

std::shared_ptr<const IdfTable> IdfTable::Bundled() {
  static const std::shared_ptr<const IdfTable> table = [] {
    auto parsed = Parse(kBundledText);
    Check(parsed.has_value(), "the bundled table of words can't be read");
    return *parsed;
  }();
  return table;
}

std::string_view IdfTable::BundledText() { return kBundledText; }

double IdfTable::Weight(uint64_t token_hash) const {
  const size_t place = impl_->Place(Impl::Key(token_hash));
  const uint32_t weight = impl_->hashes[place] == 0 ? impl_->unknown : impl_->weights[place];
  return weight * (1.0 / InverseFrequency::kOne);
}

uint64_t IdfTable::documents() const { return impl_->documents; }
size_t IdfTable::words() const { return impl_->words; }
uint64_t IdfTable::version() const { return impl_->version; }

Result<IdfSource> ReadIdfFile(const std::optional<std::string>& path) {
  constexpr uint64_t kIdfBytesMax = 512 << 20;
  if (!path) return IdfSource{IdfTable::Bundled(), std::string(IdfTable::BundledText())};
  const auto refuse = [&](const std::string& what) {
    return Fail(Code::kInvalidArgument, "items.idf_file: " + *path + ": " + what +
                                            "; make one with `seen_idf`, or give null for the bundled table");
  };
  std::error_code failed;
  const uint64_t bytes = std::filesystem::file_size(*path, failed);
  if (failed) return refuse(failed.message());
  if (bytes > kIdfBytesMax)
    return refuse(std::to_string(bytes) + " bytes, more than " + std::to_string(kIdfBytesMax));
  std::ifstream file(*path, std::ios::binary);
  IdfSource source;
  source.text.assign(std::istreambuf_iterator<char>(file), {});
  if (!file && !file.eof()) return refuse(std::strerror(errno));
  auto table = IdfTable::Parse(source.text);
  if (!table) return refuse(table.error().message);
  source.table = std::move(*table);
  return source;
}

}  // namespace seen
