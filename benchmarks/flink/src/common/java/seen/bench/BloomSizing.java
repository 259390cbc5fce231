package seen.bench;

/**
 * How a Bloom filter for `items` at an error rate is laid out: bytes of bits, and how many of them an item
 * sets.
 */
public record BloomSizing(int bytes, int hashes) {
  public static BloomSizing of(int items, double falsePositiveRate) {
    double bitsAnItem = -Math.log(falsePositiveRate) / (Math.log(2) * Math.log(2));
    int bytes = Math.max(1, (int) Math.ceil(items * bitsAnItem / 8));
    int hashes = (int) Math.max(1, Math.round(bytes * 8.0 / items * Math.log(2)));
    return new BloomSizing(bytes, Math.min(hashes, 32));
  }
}
