package io.seen.client;

/** Which kind of filter a snapshot holds. */
public enum Kind {
  SPLIT_BLOCK_BLOOM(1, "split_block_bloom"),
  BLOOM(2, "bloom"),
  COUNTING_BLOOM(3, "counting_bloom"),
  D_LEFT(4, "d_left"),
  QUOTIENT(5, "quotient"),
  CUCKOO(6, "cuckoo"),
  INDEXED_CUCKOO(7, "indexed_cuckoo"),
  BINARY_FUSE_8(8, "binary_fuse_8"),
  BINARY_FUSE_16(9, "binary_fuse_16"),
  DAY_CHAIN(10, "day_chain"),
  FINGERPRINTS(11, "fingerprints");

  private static final Kind[] KINDS = values();

  private final int format;
  private final String configurationName;

  Kind(int format, String configurationName) {
    this.format = format;
    this.configurationName = configurationName;
  }

  /** The envelope's {@code format}. */
  public int format() {
    return format;
  }

  /** As in the daemon's {@code filters[].snapshot.format}. */
  public String configurationName() {
    return configurationName;
  }

  static Kind ofFormat(int format) throws UnknownFormatException {
    if (format < 1 || format > KINDS.length) {
      throw new UnknownFormatException(
          "snapshot: format " + format + "; this reader knows 1 to " + KINDS.length);
    }
    return KINDS[format - 1];
  }

  static Kind ofSimilarFormat(int format) throws UnknownFormatException {
    if (format < 1 || format > KINDS.length || KINDS[format - 1] == INDEXED_CUCKOO || KINDS[format - 1] == DAY_CHAIN) {
      throw new UnknownFormatException(
          "snapshot: similar_format " + format + "; this reader knows 1 to 6, 8, 9 and 11");
    }
    return KINDS[format - 1];
  }
}
