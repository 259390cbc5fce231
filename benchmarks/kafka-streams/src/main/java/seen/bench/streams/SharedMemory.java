package seen.bench.streams;

import java.util.Map;
import org.apache.kafka.streams.state.RocksDBConfigSetter;
import org.rocksdb.BlockBasedTableConfig;
import org.rocksdb.BloomFilter;
import org.rocksdb.Cache;
import org.rocksdb.LRUCache;
import org.rocksdb.Options;
import org.rocksdb.RocksDB;
import org.rocksdb.WriteBufferManager;

/**
 * One cache and one budget of write buffers for all stores of the process. Source: Kafka Streams' developer
 * guide, "Memory management", RocksDB.
 */
public final class SharedMemory implements RocksDBConfigSetter {
  static {
    RocksDB.loadLibrary();
  }

  private static final Cache CACHE = new LRUCache(512L << 20, -1, false, 0.1);
  private static final WriteBufferManager WRITE_BUFFERS = new WriteBufferManager(256L << 20, CACHE);

  @Override
  public void setConfig(String store, Options options, Map<String, Object> settings) {
    var table = (BlockBasedTableConfig) options.tableFormatConfig();
    table.setBlockCache(CACHE);
    table.setCacheIndexAndFilterBlocks(true);
    table.setCacheIndexAndFilterBlocksWithHighPriority(true);
    table.setPinTopLevelIndexAndFilter(true);
    table.setFilterPolicy(new BloomFilter(10, false));
    options.setTableFormatConfig(table);
    options.setWriteBufferManager(WRITE_BUFFERS);
    options.setWriteBufferSize(64L << 20);
  }

  @Override
  public void close(String store, Options options) {} // the cache stays for the other stores
}
