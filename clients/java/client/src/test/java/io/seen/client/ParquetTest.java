package io.seen.client;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Stream;
import org.apache.parquet.column.values.bloomfilter.BlockSplitBloomFilter;
import org.apache.parquet.column.values.bloomfilter.BloomFilter;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Parquet's own reader of split-block Bloom filters answers as this one, over an INT32 column of fingerprints. */
class ParquetTest {
  static Stream<Golden.File> splitBlock() throws IOException {
    return Golden.files("snapshots").filter(file -> file.entry("format").asText().equals("split_block_bloom"));
  }

  @ParameterizedTest
  @MethodSource("splitBlock")
  void parquetAnswersTheSameOfEveryId(Golden.File file) throws Exception {
    byte[] bytes = file.bytes();
    Snapshot snapshot = Snapshot.parse(bytes);
    int end = bytes.length - file.entry("similar_bytes").asInt();
    byte[] payload = Arrays.copyOfRange(bytes, file.entry("header_bytes").asInt(), end);
    BloomFilter parquet = new BlockSplitBloomFilter(payload);
    List<String> ids = new ArrayList<>(Golden.strings(file.entry("seen")));
    for (String id : ids) {
      assertTrue(parquet.findHash(parquet.hash(Fingerprints.of(id))), id);
    }
    ids.addAll(Golden.strings(file.entry("unseen")));
    ids.addAll(Golden.RANDOM_IDS);
    for (String id : ids) {
      boolean answer = parquet.findHash(parquet.hash(Fingerprints.of(id)));
      assertEquals(answer, snapshot.mightContain(id), id);
    }
  }
}
