package io.seen.client;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The rules of "The reader" in schemas/update.md. Partition 3, generation 7, where nothing else is said. */
class FilterReaderTest {
  private static final int P = 3;
  private long nowMs = 1_700_000_000_000L;
  private FilterReader reader = readerOf(1_000_000);

  private FilterReader readerOf(long additionsMax) {
    return new FilterReader("F", List.of(P, 4), additionsMax, "filters", () -> nowMs);
  }

  private static byte[] utf8(String text) {
    return text.replace('\'', '"').getBytes(StandardCharsets.UTF_8);
  }

  /** {@code members}: of updates. */
  static byte[] beatOf(int partition, String members) {
    return utf8("{'version':1,'partition':" + partition + ",'partition_time_ms':5000,'next_offset':77,'lag_messages':0,"
        + "'unpublished_users':2,'heartbeat_ms':9000" + members + "}");
  }

  private void beat(String members) throws RefusedException {
    reader.takeBeat(utf8("3"), beatOf(P, members));
  }

  private void beat(long generation, long publishedTo, long snapshotsTo) throws RefusedException {
    beat(",'generation':" + generation + ",'published_to':" + publishedTo + ",'snapshots_to':{'E':1000,'F':"
        + snapshotsTo + "}");
  }

  private void update(long generation, long from, long to, long asOfMs, String item) throws RefusedException {
    reader.takeUpdate(Updates.of(P, generation, from, to).asOf(asOfMs).seen("u1", item).bytes());
  }

  static byte[] snapshotOf(long generation, int partition, long inputOffset, String... items) {
    int[] prints = new int[items.length];
    for (int i = 0; i < items.length; ++i) {
      prints[i] = Fingerprints.of(items[i]);
    }
    byte[] snapshot = Envelopes.of(Kind.FINGERPRINTS, prints);
    return generation == 0 ? snapshot : Envelopes.withUpdates(snapshot, generation, partition, inputOffset);
  }

  private void assertKnows(long completeTo, long asOfMs) {
    assertEquals(OptionalLong.of(completeTo), reader.completeTo(P));
    assertEquals(asOfMs < 0 ? OptionalLong.empty() : OptionalLong.of(asOfMs), reader.asOf(P));
  }

  /** The base is 100, and the records up to 110 have come. */
  private void begin() throws RefusedException {
    beat(7, 100, 50);
    reader.snapshotsEnd(P, 50);
    update(7, 90, 110, 1_000, "n1");
    assertKnows(110, 1_000);
  }

  @Test
  void anAdditionCountsAtOnceAndSoDoesASnapshot() throws Exception {
    update(7, 90, 110, 1_000, "n1");
    reader.takeSnapshot(P, "u1", snapshotOf(7, P, 80, "n2"));
    assertTrue(reader.mightContain("u1", "n1"));
    assertTrue(reader.mightContain("u1", "n2"));
    assertFalse(reader.mightContain("u1", "n3"));
    assertFalse(reader.mightContain("u2", "n1"));
    assertEquals(List.of("n3"), reader.unseen("u1", List.of("n1", "n3", "n2", "n4", "n3"), List.of("n4")));
    assertEquals(List.of("n1"), reader.unseen("u2", List.of("n1"), List.of()));
    assertEquals(1, reader.additions());
    assertEquals(OptionalLong.empty(), reader.asOf(P), "no beat: it may miss anything");
    assertEquals(OptionalLong.empty(), reader.completeTo(P));
  }

  @Test
  void aBaseCountsOnlyWhileTheReaderStandsAtTheEndBeyondIt() throws Exception {
    beat(7, 100, 50);
    update(7, 90, 110, 1_000, "n1");
    assertEquals(OptionalLong.empty(), reader.asOf(P));
    reader.snapshotsEnd(P, 49);
    assertEquals(OptionalLong.empty(), reader.asOf(P));
    reader.snapshotsEnd(P, 50);
    assertKnows(110, 1_000);
    reader.snapshotsRestart(P);
    beat(7, 120, 60);
    assertEquals(OptionalLong.empty(), reader.completeTo(P));
    assertEquals(OptionalLong.empty(), reader.asOf(P), "it starts over");
    assertEquals(1, reader.additions());
    reader.snapshotsEnd(P, 70);
    assertKnows(120, -1);
    assertEquals(0, reader.additions());
  }

  @Test
  void withABaseAloneItIsNotFresh() throws Exception {
    beat(7, 100, 50);
    reader.snapshotsEnd(P, 50);
    assertKnows(100, -1);
    update(7, 100, 100, -1, "n1");
    assertKnows(100, -1);
    update(7, 100, 100, 900, "n1");
    assertKnows(100, 900);
  }

  @Test
  void whatLiesBeyondAGapJoinsOnceTheBaseReachesIt() throws Exception {
    begin();
    update(7, 120, 130, 3_000, "n2");
    update(7, 130, 140, 4_000, "n3");
    assertKnows(110, 1_000);
    beat(7, 119, 60);
    reader.snapshotsEnd(P, 60);
    assertKnows(119, 1_000);
    beat(7, 120, 60);
    assertKnows(140, 4_000);
    assertTrue(reader.mightContain("u1", "n2"), "130 is beyond the base");
    assertFalse(reader.mightContain("u1", "n1"));
  }

  @Test
  void aRunGrowsToBothSidesAndASecondGapBeginsANewOne() throws Exception {
    begin();
    update(7, 130, 140, 4_000, "n2");
    update(7, 125, 130, 3_000, "n3"); // repeated by a daemon that starts again
    update(7, 115, 120, 2_000, "n4"); // ends before the run: the run stays
    beat(7, 124, 60);
    reader.snapshotsEnd(P, 60);
    assertKnows(124, 1_000);
    update(7, 150, 160, 6_000, "n5"); // begins behind the run, which is forgotten
    beat(7, 125, 60);
    assertKnows(125, 1_000);
    beat(7, 155, 60);
    assertKnows(160, 6_000);
  }

  @Test
  void aRunThatEndsBelowTheBaseSaysNothingOfHowFreshItIs() throws Exception {
    begin();
    update(7, 120, 130, 3_000, "n2");
    beat(7, 131, 60);
    reader.snapshotsEnd(P, 60);
    assertKnows(131, 1_000);
  }

  @Test
  void whatIsRepeatedChangesNothing() throws Exception {
    begin();
    update(7, 80, 105, 900, "n1");
    assertKnows(110, 1_000);
    update(7, 110, 110, -1, "n1");
    assertKnows(110, 1_000);
    assertEquals(3, reader.additions(), "each is held as often as it came");
  }

  @Test
  void theNewestAsOfCountsAlsoWhereAnOlderOneWasGreater() throws Exception {
    begin();
    update(7, 110, 110, 800, "n1");
    assertKnows(110, 800);
    update(7, 120, 130, 5_000, "n2"); // a run
    update(7, 130, 140, 700, "n3");
    update(7, 120, 130, 6_000, "n2"); // repeated: it ends before the run does
    update(7, 140, 140, -1, "n4");
    beat(7, 120, 50);
    assertKnows(140, 700);
    update(7, 150, 160, -1, "n5");
    beat(7, 150, 50);
    assertKnows(160, 700);
  }

  @Test
  void anotherLogOfTheSnapshotsMakesItStartOver() throws Exception {
    assertFalse(reader.mustRestart(P));
    begin(); // log 0
    String base = ",'generation':7,'published_to':110,'snapshots_to':{'F':50},'snapshots_log':";
    beat(base + "{'F':0,'E':5}");
    assertFalse(reader.mustRestart(P));
    update(7, 110, 120, 2_000, "n2");
    beat(base + "{'F':9}");
    assertTrue(reader.mustRestart(P));
    assertFalse(reader.mustRestart(4));
    reader.snapshotsEnd(P, 60);
    beat("");
    reader.takeBeat(utf8("3"), null);
    assertTrue(reader.mustRestart(P), "these say nothing of the log");
    beat(base.replace("110", "120") + "{'F':9}");
    assertEquals(1, reader.additions(), "it doesn't settle");
    assertKnows(120, 2_000);
    reader.snapshotsRestart(P);
    assertFalse(reader.mustRestart(P));
    assertEquals(OptionalLong.empty(), reader.completeTo(P));
    beat(base + "{'F':9}");
    assertFalse(reader.mustRestart(P));
    reader.snapshotsEnd(P, 50);
    assertKnows(120, 2_000);
  }

  @Test
  void whereTheFilterHasMovedItSaysSoAndNeverSettles() throws Exception {
    String base = ",'generation':7,'published_to':100,'snapshots_to':{'F':50},'snapshots_topic':";
    beat(base + "{'F':'filters-2','E':'e'}");
    reader.snapshotsEnd(P, 50);
    assertEquals(Optional.of("filters-2"), reader.movedTo(P));
    assertEquals(Optional.empty(), reader.movedTo(4));
    assertEquals(OptionalLong.empty(), reader.completeTo(P));
    beat("");
    assertEquals(Optional.empty(), reader.movedTo(P), "a daemon without updates");
    beat(base + "{'F':'filters-2'}");
    reader.takeBeat(utf8("3"), null);
    assertEquals(Optional.empty(), reader.movedTo(P));
    for (String here : List.of("{'F':'filters'}", "{'F':null}", "{}", "null")) {
      beat(base + here);
      assertEquals(Optional.empty(), reader.movedTo(P), here);
      assertKnows(100, -1);
    }
    reader = new FilterReader("F", List.of(P), 1_000);
    beat(base + "{'F':'filters-2'}");
    assertEquals(Optional.empty(), reader.movedTo(P), "it isn't told which topic it reads");
    reader.snapshotsEnd(P, 50);
    assertKnows(100, -1);
  }

  @Test
  void theNewestBeatsSaySinceWhenNothingIsMissing() throws Exception {
    assertEquals(OptionalLong.empty(), reader.completeSinceMs());
    beat(",'generation':7,'complete_since_ms':{'F':5000,'E':9000}");
    assertEquals(OptionalLong.of(5_000), reader.completeSinceMs(P));
    assertEquals(OptionalLong.empty(), reader.completeSinceMs(4));
    reader.takeBeat(utf8("4"), beatOf(4, ",'generation':1,'complete_since_ms':{'F':4000}"));
    assertEquals(OptionalLong.of(5_000), reader.completeSinceMs());
    beat(",'generation':7,'complete_since_ms':{'F':null}");
    assertEquals(OptionalLong.of(4_000), reader.completeSinceMs());
    reader.takeBeat(utf8("4"), beatOf(4, ",'complete_since_ms':{'F':4000}"));
    assertEquals(OptionalLong.empty(), reader.completeSinceMs(), "a daemon without updates");
  }

  @Test
  void anEventOfSeveralRecordsIsKnownWithTheLast() throws Exception {
    begin();
    update(7, 110, 115, -1, "n2");
    update(7, 115, 115, -1, "n3");
    assertKnows(115, 1_000);
    update(7, 115, 116, 2_000, "n4");
    assertKnows(116, 2_000);
    reader.takeSnapshot(P, "u1", snapshotOf(7, P, 115));
    beat(7, 115, 50);
    assertTrue(reader.mightContain("u1", "n3"), "neither has the event at 115");
    assertFalse(reader.mightContain("u1", "n2"));
    reader.takeSnapshot(P, "u1", snapshotOf(7, P, 116));
    assertFalse(reader.mightContain("u1", "n3"));
  }

  @Test
  void aSnapshotTakesTheAdditionsPlaceOnlyInItsGenerationAndPartition() throws Exception {
    update(7, 90, 110, 1_000, "n1");
    List<byte[]> others =
        List.of(snapshotOf(8, P, 110), snapshotOf(7, 4, 110), snapshotOf(7, P, 109), snapshotOf(0, P, 0));
    for (byte[] other : others) {
      reader.takeSnapshot(P, "u1", other);
      assertTrue(reader.mightContain("u1", "n1"));
      assertEquals(List.of(), reader.unseen("u1", List.of("n1"), List.of()));
    }
    reader.takeSnapshot(P, "u1", snapshotOf(7, P, 110));
    assertFalse(reader.mightContain("u1", "n1"), "it was taken back");
    assertEquals(List.of("n1"), reader.unseen("u1", List.of("n1"), List.of()));
    reader.takeSnapshot(P, "u1", null);
    assertTrue(reader.mightContain("u1", "n1"), "a tombstone drops no addition");
  }

  @Test
  void aUserWhoseSnapshotIsRefusedIsNotFreshUntilTheNextOne() throws Exception {
    reader.takeSnapshot(P, "u1", snapshotOf(7, P, 110, "n1"));
    assertThrows(MalformedException.class, () -> reader.takeSnapshot(P, "u1", new byte[0]));
    assertThrows(MalformedException.class, () -> reader.takeSnapshot(P, "u2", utf8("damaged")));
    assertTrue(reader.isRefused("u1") && reader.isRefused("u2"));
    assertTrue(reader.mightContain("u1", "n1"), "the one before is kept");
    assertFalse(reader.isRefused("u3"));
    reader.takeSnapshot(P, "u1", snapshotOf(7, P, 120, "n2"));
    reader.takeSnapshot(P, "u2", null);
    assertFalse(reader.isRefused("u1") || reader.isRefused("u2"));
    assertFalse(reader.mightContain("u1", "n1"));
  }

  @Test
  void partitionsOfTheSnapshotsDoNotReplaceEachOther() throws Exception {
    reader.takeSnapshot(P, "u1", snapshotOf(7, P, 110, "n1"));
    reader.takeSnapshot(4, "u1", snapshotOf(7, 4, 110, "n2"));
    reader.takeSnapshot(4, "u1", snapshotOf(7, 4, 110, "n3"));
    assertEquals(List.of("n2"), reader.unseen("u1", List.of("n1", "n2", "n3"), List.of()));
    reader.takeSnapshot(P, "u1", null);
    assertEquals(List.of("n1", "n2"), reader.unseen("u1", List.of("n1", "n2", "n3"), List.of()));
    reader.takeSnapshot(4, "u1", null);
    assertEquals(List.of("n3"), reader.unseen("u1", List.of("n3"), List.of()));
  }

  @Test
  void servedItemsCountUntilTheirSecond() throws Exception {
    long second = nowMs / 1000 + 10;
    reader.takeUpdate(Updates.of(P, 7, 90, 110)
        .section(1, 0, second, new String[] {"u1"}, new int[] {Fingerprints.of("n1")}).bytes());
    nowMs = 1000 * second - 1;
    assertTrue(reader.mightContain("u1", "n1"));
    nowMs = 1000 * second;
    assertFalse(reader.mightContain("u1", "n1"));
    assertEquals(List.of("n1"), reader.unseen("u1", List.of("n1"), List.of()));
  }

  @Test
  void sectionsCountInTheirFiltersAndKindsOnly() throws Exception {
    int n = Fingerprints.of("n1");
    reader.takeUpdate(Updates.of(P, 7, 90, 110).filters("E", "F")
        .asOf(500)
        .section(1, 0, 0, new String[] {"u1"}, new int[] {Fingerprints.of("n9")})
        .section(3, 1, 0, new String[] {"u1"},
            new int[] {Fingerprints.inDomain(n, Fingerprints.NEAR), Fingerprints.inDomain(n, Fingerprints.GROUP)})
        .bytes());
    assertEquals(2, reader.additions());
    assertFalse(reader.mightContain("u1", "n9"));
    assertFalse(reader.mightContain("u1", "n1"));
    assertTrue(reader.mightBeNear("u1", "n1"));
    assertTrue(reader.mightHoldGroup("u1", "n1"));
    assertFalse(reader.mightBeNear("u1", "n9") || reader.mightHoldGroup("u1", "n9"));
    int near = Fingerprints.inDomain(Fingerprints.of("n2"), Fingerprints.NEAR);
    byte[] similar = Envelopes.withSimilar(
        Envelopes.of(Kind.BLOOM, new int[] {5}), 11, Payloads.of(Kind.FINGERPRINTS, new int[] {near}));
    reader.takeSnapshot(P, "u1", Envelopes.withUpdates(similar, 7, P, 80));
    assertTrue(reader.mightBeNear("u1", "n2"));
    assertTrue(reader.mightBeNear("u1", "n1"), "80 is below 110");
    begin();
    reader.takeUpdate(Updates.of(P, 7, 110, 120).filters("E").asOf(5_000).bytes());
    assertKnows(110, 1_000);
  }

  @Test
  void anotherGenerationBeginsAfreshAndThePastOneGoesOnceTheNewOneHasABase() throws Exception {
    begin();
    update(8, 0, 10, 5_000, "n2"); // before its beat
    assertKnows(110, 1_000);
    beat(",'generation':8");
    assertEquals(OptionalLong.empty(), reader.completeTo(P));
    assertEquals(OptionalLong.empty(), reader.asOf(P));
    assertEquals(2, reader.additions());
    beat(8, 0, 60);
    assertEquals(2, reader.additions(), "the reader doesn't stand at the end");
    reader.snapshotsEnd(P, 60);
    assertKnows(10, 5_000);
    assertFalse(reader.mightContain("u1", "n1"));
    assertTrue(reader.mightContain("u1", "n2"));
    update(7, 110, 120, 9_000, "n3"); // of a daemon that doesn't know yet
    assertEquals(1, reader.additions());
    assertKnows(10, 5_000);
  }

  @Test
  void onlyTheNewestBeatCounts() throws Exception {
    beat(7, 100, 50);
    beat(",'generation':7");
    reader.snapshotsEnd(P, 50);
    assertEquals(OptionalLong.empty(), reader.completeTo(P), "published_to was taken back");
    beat(",'generation':7,'published_to':100,'snapshots_to':{'E':5}");
    assertEquals(OptionalLong.empty(), reader.completeTo(P), "this filter has no base");
    beat(7, 100, 50);
    assertKnows(100, -1);
    update(7, 100, 110, 1_000, "n1");
    beat("");
    assertEquals(OptionalLong.empty(), reader.asOf(P), "a daemon without updates");
    beat(7, 100, 50);
    assertKnows(110, 1_000);
    reader.takeBeat(utf8("3"), null);
    assertEquals(OptionalLong.empty(), reader.asOf(P));
  }

  @Test
  void aGenerationThatNoBeatNamesIsForgottenAfterSixtyBeats() throws Exception {
    update(8, 0, 10, 5_000, "n1");
    for (int i = 0; i < 59; ++i) {
      beat(",'generation':7");
    }
    update(8, 10, 20, 6_000, "n2");
    for (int i = 0; i < 58; ++i) {
      beat(i % 2 == 0 ? ",'generation':7" : "");
    }
    reader.takeBeat(utf8("3"), null);
    assertEquals(2, reader.additions());
    reader.takeBeat(utf8("3"), null);
    assertEquals(0, reader.additions(), "a tombstone is a beat, too");
    beat(8, 5, 50);
    reader.snapshotsEnd(P, 50);
    assertKnows(5, -1); // the run is forgotten as well
  }

  @Test
  void aGenerationThatABeatOnceNamedIsNotForgotten() throws Exception {
    begin();
    for (int i = 0; i < 61; ++i) {
      beat(i % 2 == 0 ? ",'generation':8" : "");
    }
    assertEquals(1, reader.additions());
    beat(7, 100, 50);
    assertKnows(110, 1_000);
  }

  @Test
  void aGenerationThatABeatOnceNamedStaysAPastOneUntilABeatNamesItAgain() throws Exception {
    begin();
    for (int i = 0; i < 61; ++i) {
      beat(8, 0, 50);
    }
    update(7, 110, 120, 2_000, "n2");
    assertEquals(0, reader.additions());
    assertFalse(reader.mightContain("u1", "n2"));
    beat(7, 110, 50);
    update(7, 110, 120, 2_000, "n2");
    assertKnows(120, 2_000);
    assertTrue(reader.mightContain("u1", "n2"));
  }

  @Test
  void beyondItsLimitItDropsTheOldestRecordAndIsAsFreshAsBeforeIt() throws Exception {
    reader = readerOf(3);
    begin();
    reader.takeUpdate(Updates.of(P, 7, 110, 120).asOf(2_000).seen("u2", "n2", "n3").bytes());
    assertKnows(120, 2_000);
    reader.takeUpdate(Updates.of(4, 1, 0, 10).seen("u3", "n4").bytes());
    assertEquals(3, reader.additions());
    assertEquals(OptionalLong.empty(), reader.asOf(P), "as before the record with n1");
    assertFalse(reader.mightContain("u1", "n1"));
    update(7, 120, 130, 3_000, "n5");
    assertEquals(2, reader.additions(), "a record goes as a whole");
    beat(7, 119, 60);
    reader.snapshotsEnd(P, 60);
    assertEquals(OptionalLong.empty(), reader.asOf(P));
    beat(7, 120, 60);
    assertKnows(130, 3_000);
    update(7, 130, 140, 4_000, "n6");
    reader.takeUpdate(Updates.of(P, 7, 140, 150).asOf(5_000).seen("u2", "n7").bytes());
    assertKnows(150, 5_000); // the oldest was the other partition's
    assertFalse(reader.mightContain("u3", "n4"));
    update(7, 150, 160, 6_000, "n8");
    assertKnows(160, 2_000); // as before the record with n5
  }

  @Test
  void asOfIsThatOfTheOldestPartition() throws Exception {
    begin();
    assertEquals(OptionalLong.empty(), reader.asOf());
    reader.takeBeat(utf8("4"), beatOf(4, ",'generation':1,'published_to':5,'snapshots_to':{'F':0}"));
    reader.snapshotsEnd(4, 0);
    reader.takeUpdate(Updates.of(4, 1, 5, 6).asOf(900).bytes());
    assertEquals(OptionalLong.of(900), reader.asOf());
    reader.takeUpdate(Updates.of(4, 1, 6, 7).asOf(1_100).bytes());
    assertEquals(OptionalLong.of(1_000), reader.asOf());
  }

  @Test
  void otherPartitionsAreNotFollowed() throws Exception {
    reader.takeBeat(utf8("5"), beatOf(5, ",'generation':1"));
    reader.takeUpdate(Updates.of(5, 1, 5, 6).seen("u1", "n1").bytes());
    assertEquals(0, reader.additions());
    assertThrows(IllegalArgumentException.class, () -> reader.asOf(5));
    assertThrows(IllegalArgumentException.class, () -> reader.takeSnapshot(5, "u1", null));
    assertThrows(IllegalArgumentException.class, () -> reader.snapshotsEnd(5, 1));
  }

  @ParameterizedTest
  @ValueSource(strings = {
    ",'generation':0", ",'generation':'7'", ",'generation':7.0", ",'generation':true",
    ",'generation':99999999999999999999", ",'generation':7,'published_to':-1", ",'generation':7,'published_to':[1]",
    ",'generation':7,'snapshots_to':5", ",'generation':7,'snapshots_to':{'F':'5'}", ",'generation':7,'updates_from':{}",
    ",'generation':7,'snapshots_to':{'F':5,'E':-1}", ",'published_to':'8'",
    ",'generation':7,'snapshots_log':5", ",'generation':7,'snapshots_log':{'F':'5'}", ",'snapshots_log':{'E':-1}",
    ",'snapshots_log':{'F':99999999999999999999}", ",'generation':7,'complete_since_ms':[]",
    ",'generation':7,'complete_since_ms':{'F':1.0}", ",'generation':7,'complete_since_ms':{'F':-1}",
    ",'generation':7,'snapshots_topic':'filters'", ",'generation':7,'snapshots_topic':{'F':5}",
    ",'generation':7,'snapshots_topic':{'E':{'F':'filters'}}", ",'generation':7,'snapshots_topic':{'F':['filters']}"
  })
  void aBeatWhoseMembersForUpdatesAreWrongIsRefusedByWhoReadsThem(String members) throws Exception {
    begin();
    assertThrows(MalformedException.class, () -> beat(members));
    assertKnows(110, 1_000);
    assertEquals(9_000, Watermark.parse(beatOf(P, members)).heartbeat().toEpochMilli());
  }

  @Test
  void aMemberOfABeatThatIsNullIsAbsent() throws Exception {
    begin();
    beat(",'generation':7,'published_to':120,'snapshots_to':null,'updates_from':null");
    assertKnows(110, 1_000);
    beat(",'generation':7,'published_to':120,'snapshots_to':{'F':null}");
    assertKnows(110, 1_000);
    beat(",'generation':7,'published_to':null,'snapshots_to':{'F':50,'E':null}");
    assertKnows(110, 1_000);
    beat(",'generation':7,'snapshots_log':null,'snapshots_topic':null,'complete_since_ms':null");
    beat(",'generation':7,'snapshots_log':{'F':null},'complete_since_ms':{'E':null}");
    assertFalse(reader.mustRestart(P));
    assertKnows(110, 1_000);
    beat(",'generation':null,'published_to':120,'snapshots_to':{'F':50}");
    assertEquals(OptionalLong.empty(), reader.completeTo(P));
    beat(7, 100, 50);
    assertKnows(110, 1_000);
  }

  @Test
  void aBeatSaysWhereToBegin() throws Exception {
    Watermark beat = Watermark.parse(
        beatOf(P, ",'generation':7,'published_to':8,'updates_from':9,'snapshots_to':{'F':1},'snapshots_log':{'F':2},"
            + "'snapshots_topic':{'F':'filters'},'complete_since_ms':{'F':3}"));
    assertEquals(OptionalLong.of(7), beat.generation());
    assertEquals(OptionalLong.of(8), beat.publishedTo());
    assertEquals(OptionalLong.of(9), beat.updatesFrom());
    assertEquals(OptionalLong.of(1), beat.snapshotsTo("F"));
    assertEquals(OptionalLong.empty(), beat.snapshotsTo("E"));
    assertEquals(2, beat.snapshotsLog("F"));
    assertEquals(0, beat.snapshotsLog("E"));
    assertEquals(Optional.of("filters"), beat.snapshotsTopic("F"));
    assertEquals(Optional.empty(), beat.snapshotsTopic("E"));
    assertEquals(OptionalLong.of(3), beat.completeSinceMs("F"));
    assertEquals(OptionalLong.empty(), beat.completeSinceMs("E"));
    assertEquals(OptionalLong.empty(), Watermark.parse(beatOf(P, "")).updatesFrom());
    assertThrows(MalformedException.class, () -> reader.takeBeat(utf8("4"), beatOf(P, "")));
  }

  @Test
  void aRefusedUpdateIsAGap() throws Exception {
    begin();
    assertThrows(MalformedException.class, () -> reader.takeUpdate(null));
    assertThrows(MalformedException.class, () -> reader.takeUpdate(new byte[0]));
    update(7, 120, 130, 3_000, "n2");
    assertKnows(110, 1_000);
  }

  @Test
  void aSnapshotReaderRefusesSnapshotsOfAFilterWithUpdates() {
    RefusedException refusal =
        assertThrows(UnknownFormatException.class, () -> Snapshot.parse(snapshotOf(7, P, 80, "n1")));
    assertEquals("snapshot: flags 2, bit 1: this filter publishes updates; read them as well (FilterReader, "
        + "schemas/update.md)", refusal.getMessage());
  }

  @Test
  void theGenerationOfASnapshotMustBeThereAndInItsRange() throws Exception {
    byte[] none = snapshotOf(7, P, 80);
    none[56] = 0;
    RefusedException refusal =
        assertThrows(MalformedException.class, () -> reader.takeSnapshot(P, "u1", Envelopes.signed(none)));
    assertEquals("snapshot: generation 0; 1 or more is allowed", refusal.getMessage());
    byte[] noSpace = snapshotOf(0, P, 80);
    noSpace[7] = 2;
    refusal = assertThrows(MalformedException.class, () -> reader.takeSnapshot(P, "u1", Envelopes.signed(noSpace)));
    assertEquals("snapshot: header_bytes 56; with bit 1 of flags 64 or more", refusal.getMessage());
  }

  @Test
  void itemsOfAUserAreAsOfThen() throws Exception {
    update(7, 90, 110, 1_000, "n1");
    SeenItems items = reader.itemsOf("u1");
    update(7, 110, 120, 1_000, "n2");
    assertEquals(List.of("n2"), items.unseen(List.of("n1", "n2")));
    assertTrue(items.mightContain("n1", Instant.ofEpochSecond(5)));
    assertEquals(11, items.recallSize(10));
    assertEquals(0, items.recallSize(0));
    reader.takeSnapshot(P, "u1", snapshotOf(7, P, 80, "n1", "n2", "n3"));
    assertEquals(Snapshot.parse(snapshotOf(0, P, 0, "n1", "n2", "n3")).recallSize(10) + 1,
        reader.itemsOf("u1").alsoSeen(List.of("n4")).recallSize(10));
    assertTrue(reader.itemsOf("u1").mightContain("n3") && !reader.itemsOf("u1").mightContain(42));
  }

  @Test
  void memoryFallsWhenAdditionsAreDropped() throws Exception {
    beat(7, 0, 50);
    reader.snapshotsEnd(P, 50);
    long before = reader.memoryBytes();
    for (int i = 0; i < 200; ++i) {
      reader.takeUpdate(Updates.of(P, 7, i, i + 1)
          .section(1, 0, 0, new String[] {"u" + i, "u0"}, Envelopes.prints(500, i), Envelopes.prints(500, 1_000 + i))
          .bytes());
    }
    assertEquals(200_000, reader.additions());
    long full = reader.memoryBytes();
    assertTrue(full - before >= 16 * 200_000 && full - before < 17 * 200_000, full + " after " + before);
    beat(7, 100, 50);
    assertEquals(100_000, reader.additions());
    beat(7, 200, 50);
    assertEquals(0, reader.additions());
    for (int i = 0; i < 20; ++i) {
      reader.snapshotsEnd(P, 50); // with each record some space is given back
    }
    assertTrue(reader.memoryBytes() < before + 100_000, reader.memoryBytes() + " after " + before);
  }
}
