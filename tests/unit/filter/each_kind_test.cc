// What every kind of filter must hold, whichever it is. The layout of each kind, its sizes and what it
// refuses are tested beside, in a file for each.
#include <type_traits>

#include "filter/binary_fuse.h"
#include "filter/cuckoo.h"
#include "filter/exact_fingerprints.h"
#include "filters/mutable/mutable_bloom.h"
#include "filters/mutable/mutable_counting_bloom.h"
#include "filters/mutable/mutable_d_left.h"
#include "filters/mutable/mutable_quotient.h"
#include "filters/mutable/mutable_split_block_bloom.h"
#include "unit/filter/every_kind.h"

namespace seen {
namespace {

using namespace kinds;

template <typename FilterType, typename ViewType, typename MutableType = void>
struct Kind {
  using Filter = FilterType;
  using View = ViewType;
  using Mutable = MutableType;
};
using SplitBlock = Kind<SplitBlockBloomFilter, SplitBlockBloomView, MutableSplitBlockBloom>;
using Bloom = Kind<BloomFilter, BloomView, MutableBloom>;
using CountingBloom = Kind<CountingBloomFilter, CountingBloomView, MutableCountingBloom>;
using DLeft = Kind<DLeftFilter, DLeftView, MutableDLeft>;
using Quotient = Kind<QuotientFilter, QuotientView, MutableQuotient>;
using Cuckoo = Kind<CuckooFilter, CuckooView>;
using Exact = Kind<ExactFingerprintsFilter, ExactFingerprintsView>;
using Fuse8 = Kind<BinaryFuse8, BinaryFuseView<uint8_t>>;
using Fuse16 = Kind<BinaryFuse16, BinaryFuseView<uint16_t>>;

template <typename Kind>
class RenderedKind : public testing::Test {};
using RenderedKinds = testing::Types<Bloom, CountingBloom, DLeft, Quotient>;
TYPED_TEST_SUITE(RenderedKind, RenderedKinds);

TYPED_TEST(RenderedKind, HasNoFalseNegativeAndTheSizeThatIsForetold) {
  using Filter = typename TypeParam::Filter;
  for (const double rate : {0.5, 0.1, 0.01, 0.001, 1e-5, 1e-9}) {
    for (const size_t count : ManyCounts()) {
      const auto fingerprints = RandomFingerprints(count, count + 1);
      const std::string payload = Rendered<Filter>(fingerprints, rate);
      if (Filter::kSizesExactly) {
        EXPECT_EQ(payload.size(), Filter::PayloadBytes(count, rate)) << count;
      }
      const auto view = TypeParam::View::Parse(payload);
      ASSERT_TRUE(view.has_value()) << count << " at " << rate << ": " << view.error().message;
      for (const uint8_t answer : Answers(*view, fingerprints))
        ASSERT_EQ(answer, 1) << count << " at " << rate;
      if (count > 0) continue;
      for (const uint8_t answer : Answers(*view, RandomFingerprints(1000, 3))) ASSERT_EQ(answer, 0);
    }
  }
}

template <typename Kind>
class FilledKind : public testing::Test {};
using FilledKinds = testing::Types<SplitBlock, Bloom, CountingBloom, DLeft, Quotient>;
TYPED_TEST_SUITE(FilledKind, FilledKinds);

// It answers right while it takes items one by one, itself and as a payload.
TYPED_TEST(FilledKind, AnswersRightWhileItFills) {
  for (const double rate : {0.3, 0.01, 1e-9}) {
    for (const size_t count : {0u, 1u, 2u, 3u, 5u, 10u, 33u, 64u, 65u, 100u, 130u, 1000u, 3000u}) {
      const auto fingerprints = RandomFingerprints(count, 3 * count + 1);
      typename TypeParam::Mutable filter(count, rate);
      for (size_t i = 0; i < count; ++i) {
        if constexpr (std::is_void_v<decltype(filter.Insert(fingerprints[i]))>) {
          filter.Insert(fingerprints[i]);
        } else {
          ASSERT_TRUE(filter.Insert(fingerprints[i])) << i << " of " << count << " at " << rate;
        }
        ASSERT_TRUE(filter.MightContain(fingerprints[i])) << i << " of " << count << " at " << rate;
      }
      const std::string payload = Serialised(filter);
      const auto view = TypeParam::View::Parse(payload);
      ASSERT_TRUE(view.has_value()) << count << " at " << rate << ": " << view.error().message;
      for (const uint8_t answer : Answers(*view, fingerprints)) ASSERT_EQ(answer, 1);
      const auto questions = RandomFingerprints(500, 77);
      const auto answers = Answers(*view, questions);
      for (size_t i = 0; i < questions.size(); ++i)
        ASSERT_EQ(answers[i], filter.MightContain(questions[i]) ? 1 : 0) << count << " at " << rate;
    }
  }
}

template <typename Kind>
class ProbingKind : public testing::Test {};
using ProbingKinds = testing::Types<Bloom, CountingBloom>;
TYPED_TEST_SUITE(ProbingKind, ProbingKinds);

TYPED_TEST(ProbingKind, ReadsUpTo32ProbesAndUpTo512MiB) {
  using View = typename TypeParam::View;
  EXPECT_TRUE(View::Parse("\x20\xff").has_value());
  EXPECT_FALSE(View::Parse("\x80\xff").has_value()) << "no sign";
  // Never looked at beyond its first byte, so it need not be there.
  EXPECT_FALSE(View::Parse({"\x07", (size_t{1} << 29) + 1}).has_value());
}

/// The rates at which a kind renders: a binary fuse filter has its own, and no smaller one.
template <typename Filter>
std::vector<double> RatesOf() {
  if constexpr (requires { Filter::kRate; }) return {0.3, 0.01};
  return {0.3, 0.01, 1e-6, 1e-9};
}

template <typename Kind>
class EachKind : public testing::Test {};
using EveryKind = testing::Types<Bloom, CountingBloom, DLeft, Quotient, Cuckoo, Exact, Fuse8, Fuse16>;
TYPED_TEST_SUITE(EachKind, EveryKind);

// And it is appended to what is there.
TYPED_TEST(EachKind, DependsOnTheSetNotOnOrder) {
  using Filter = typename TypeParam::Filter;
  for (const double rate : RatesOf<Filter>()) {
    for (const size_t count : {2u, 10u, 65u, 255u, 256u, 257u, 1000u, 5000u, 50'000u}) {
      const auto fingerprints = RandomFingerprints(count, 17);
      const std::string expected = Rendered<Filter>(fingerprints, rate);
      for (const uint64_t seed : {3u, 4u}) {
        std::string payload = "before";
        Filter::Render(Shuffled(fingerprints, seed), rate, payload);
        EXPECT_TRUE(payload == "before" + expected) << count << " at " << rate;
      }
    }
  }
}

// Payloads as they are, and changed, cut and grown at random.
TYPED_TEST(EachKind, ReadsNothingOutsideWhateverTheBytes) {
  std::vector<std::string> payloads;
  for (const double rate : RatesOf<typename TypeParam::Filter>()) {
    for (const size_t count : {0u, 1u, 7u, 70u, 300u})
      payloads.push_back(Rendered<typename TypeParam::Filter>(RandomFingerprints(count, 2), rate));
  }
  Mutate<typename TypeParam::View>(payloads, 20'000, [](const auto& view) { AskSome(view); });
}

}  // namespace
}  // namespace seen
