#include <gtest/gtest.h>

#include <cmath>

#include "filter/payload.h"
#include "filter/snapshot.h"
#include "unit/filter/reference_bloom.h"

namespace seen {
namespace {

using reference::RandomFingerprints;

class GrowPayload : public testing::TestWithParam<SnapshotFormat> {};

std::string Rendered(SnapshotFormat format, std::span<const Fingerprint> fingerprints) {
  std::string payload;
  RenderPayload({format, 0.01, false}, {fingerprints, {}}, payload);
  return payload;
}

size_t HowMany(const AnyView& view, std::span<const Fingerprint> fingerprints) {
  std::vector<uint8_t> answers(fingerprints.size());
  std::visit([&](const auto& of) { of.MightContainEach(fingerprints, answers); }, view);
  return static_cast<size_t>(std::count(answers.begin(), answers.end(), uint8_t{1}));
}

TEST_P(GrowPayload, LosesNothingAndKnowsItsRate) {
  const auto strangers = RandomFingerprints(200'000, 3);
  for (const size_t before : {0u, 1u, 30u, 3'000u}) {
    for (const size_t added : {0u, 1u, 40u, 5'000u}) {
      SCOPED_TRACE(std::to_string(before) + " and " + std::to_string(added));
      const auto old_ones = RandomFingerprints(before, 1);
      const auto new_ones = RandomFingerprints(added, 2);
      std::string out = "kept";
      const auto grown =
          seen::GrowPayload(GetParam(), Rendered(GetParam(), old_ones), before, new_ones, 0.01, out);
      ASSERT_TRUE(grown) << grown.error().message;
      ASSERT_EQ(out.substr(0, 4), "kept");
      const auto view = ParseView(GetParam(), std::string_view(out).substr(4));
      ASSERT_TRUE(view) << view.error().message;
      EXPECT_EQ(HowMany(*view, old_ones), before);
      EXPECT_EQ(HowMany(*view, new_ones), added);
      // Of the new ones a few seemed to be in already.
      EXPECT_LE(grown->item_count, before + added);
      EXPECT_GE(grown->item_count + added / 20 + 2, before + added);
      EXPECT_LT(grown->false_positive_rate, 0.1) << "there is room for the new ones";
      const double rate = grown->false_positive_rate;
      const auto samples = static_cast<double>(strangers.size());
      EXPECT_NEAR(static_cast<double>(HowMany(*view, strangers)) / samples, rate,
                  6 * std::sqrt((rate + 1e-6) / samples));
    }
  }
}

TEST_P(GrowPayload, AnswersAsBeforeWhereNothingIsAdded) {
  const auto items = RandomFingerprints(500, 1);
  const std::string payload = Rendered(GetParam(), items);
  std::string out;
  ASSERT_TRUE(seen::GrowPayload(GetParam(), payload, items.size(), items, 0.01, out));
  EXPECT_EQ(out, payload);
}

TEST_P(GrowPayload, RefusesWhatIsNoPayload) {
  std::string out;
  EXPECT_FALSE(seen::GrowPayload(GetParam(), "?", 1, {}, 0.01, out));
}

INSTANTIATE_TEST_SUITE_P(EachKind, GrowPayload,
                         testing::Values(SnapshotFormat::kSplitBlockBloom, SnapshotFormat::kBloom,
                                         SnapshotFormat::kFingerprints),
                         [](const auto& test) { return std::string(SnapshotFormatName(test.param)); });

TEST(SnapshotUnion, HoldsBothWithWhatIsSimilarAndSaysWhatItIs) {
  const auto old_ones = RandomFingerprints(100, 1);
  const auto new_ones = RandomFingerprints(50, 2);
  const auto old_similar = RandomFingerprints(200, 3);
  const auto new_similar = RandomFingerprints(20, 4);
  const SnapshotShape shape;
  SnapshotMeta meta;
  meta.complete_since = TimeMs{1'763'600'000'000};
  std::string published, bytes;
  RenderSnapshot(shape, SnapshotMeta(), {old_ones, {}}, std::span<const Fingerprint>(old_similar), published);
  const auto before = SnapshotView::Parse(published);
  ASSERT_TRUE(before);
  EXPECT_FALSE(before->meta().complete_since);
  ASSERT_TRUE(RenderUnion(*before, shape, meta, new_ones, std::span<const Fingerprint>(new_similar), bytes));
  const auto both = SnapshotView::Parse(bytes);
  ASSERT_TRUE(both) << both.error().message;
  for (const auto* ids : {&old_ones, &new_ones}) {
    for (const Fingerprint id : *ids) EXPECT_TRUE(both->MightContain(id));
  }
  EXPECT_EQ(HowMany(both->similar()->view, old_similar), old_similar.size());
  EXPECT_EQ(HowMany(both->similar()->view, new_similar), new_similar.size());
  EXPECT_EQ(both->meta().complete_since, meta.complete_since);
  EXPECT_GE(both->meta().false_positive_rate, 0.01);
  EXPECT_NEAR(both->meta().item_count, 150, 5);
}

TEST(SnapshotUnion, IsOfOneKindThatTakesMoreItems) {
  const auto items = RandomFingerprints(10, 1);
  std::string bytes;
  for (const auto& [published, asked, possible] :
       {std::tuple{SnapshotFormat::kBloom, SnapshotFormat::kBloom, true},
        {SnapshotFormat::kBloom, SnapshotFormat::kAuto, true},
        {SnapshotFormat::kBloom, SnapshotFormat::kSplitBlockBloom, false},
        {SnapshotFormat::kQuotient, SnapshotFormat::kQuotient, false}}) {
    SnapshotMeta meta;
    meta.format = published;
    const std::string before = RenderSnapshot(meta, items);
    EXPECT_EQ(RenderUnion(*SnapshotView::Parse(before), {asked, 0.01, false}, meta, items, {}, bytes),
              possible)
        << SnapshotFormatName(published) << ", " << SnapshotFormatName(asked);
  }
}

TEST(Snapshot, SaysSinceWhenItIsComplete) {
  const auto items = RandomFingerprints(10, 1);
  SnapshotMeta meta;
  meta.complete_since = TimeMs{1'763'600'000'123};
  const std::string bytes = RenderSnapshot(meta, items);
  EXPECT_EQ(bytes.size() % 32, 0u) << "a header of 64 bytes, and blocks of 32";
  EXPECT_EQ(SnapshotView::Parse(bytes)->meta().complete_since, meta.complete_since);
  EXPECT_EQ(SnapshotView::Parse(bytes)->payload(), SnapshotView::Parse(RenderSnapshot({}, items))->payload());
}

}  // namespace
}  // namespace seen
