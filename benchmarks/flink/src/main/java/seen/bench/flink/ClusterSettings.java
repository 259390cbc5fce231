package seen.bench.flink;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.Optional;
import java.util.stream.Stream;
import org.apache.flink.configuration.Configuration;
import seen.bench.Arguments;

/** Flink's configuration of a run. contenders/flink.py says in words what is tuned here. */
final class ClusterSettings {
  static Configuration of(Arguments arguments) throws IOException {
    Configuration to = new Configuration();
    String backend = arguments.text("backend", "rocksdb");
    boolean onDisk = !backend.equals("hashmap");
    Path state = Path.of(arguments.text("state_dir")).toAbsolutePath();
    Path checkpoints = Path.of(arguments.text("checkpoint_dir")).toAbsolutePath();
    Files.createDirectories(state);
    Files.createDirectories(checkpoints);

    to.setString("pipeline.object-reuse", "true");
    to.setString("execution.buffer-timeout.interval", arguments.text("buffer_timeout_ms", "5") + " ms");
    to.setString("restart-strategy.type", "none");
    to.setString("io.tmp.dirs", state.toString());
    to.setString("taskmanager.memory.network.min", "64mb");
    to.setString("taskmanager.memory.network.max", "64mb");
    to.setString(
        "taskmanager.memory.managed.size", onDisk ? arguments.text("managed_memory", "512mb") : "1mb");

    to.setString(
        "execution.checkpointing.interval", arguments.text("checkpoint_interval_ms", "10000") + " ms");
    to.setString("execution.checkpointing.min-pause", "1 s");
    to.setString("execution.checkpointing.dir", checkpoints.toUri().toString());
    to.setString("execution.checkpointing.externalized-checkpoint-retention", "RETAIN_ON_CANCELLATION");
    to.setString("execution.checkpointing.incremental", Boolean.toString(onDisk));

    to.setString("state.backend.type", backend);
    if (onDisk) {
      String of = "state.backend." + backend + ".";
      to.setString(of + "use-bloom-filter", arguments.text("use_bloom_filter", "true"));
      to.setString(of + "memory.write-buffer-ratio", arguments.text("write_buffer_ratio", "0.5"));
      to.setString(of + "timer-service.factory", "HEAP");
    }
    if (backend.equals("rocksdb")) {
      to.setString("state.backend.rocksdb.localdir", state.resolve("rocksdb").toString());
      to.setString(
          "state.backend.rocksdb.predefined-options", arguments.text("predefined", "FLASH_SSD_OPTIMIZED"));
    } else if (backend.equals("forst")) {
      to.setString("state.backend.forst.local-dir", state.resolve("forst").toString());
      to.setString("state.backend.forst.primary-dir", "local");
    }
    if (arguments.flag("resume")) {
      Optional<Path> newest = newestCheckpoint(checkpoints);
      if (newest.isPresent()) {
        to.setString("execution.state-recovery.path", newest.get().toUri().toString());
        to.setString("execution.state-recovery.claim-mode", "CLAIM");
      }
    }
    return to;
  }

  /** Of all jobs there: the newest directory whose `_metadata` says that it is complete. */
  private static Optional<Path> newestCheckpoint(Path checkpoints) throws IOException {
    try (Stream<Path> found = Files.find(checkpoints, 3, (path, is) -> path.endsWith("_metadata"))) {
      return found.filter(path -> path.getParent().getFileName().toString().startsWith("chk-"))
          .max(Comparator.comparingLong(path -> path.toFile().lastModified()))
          .map(Path::getParent);
    }
  }

  private ClusterSettings() {}
}
