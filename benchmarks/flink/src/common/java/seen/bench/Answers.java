package seen.bench;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Base64;

/** The file of what would be answered for the sampled users, a JSON line each. Any thread. */
public final class Answers {
  private final Path file;

  public Answers(String file) {
    this.file = Path.of(file);
  }

  public synchronized void write(String user, String kind, byte[] filter) throws IOException {
    String line = "{\"user\":\"" + user + "\",\"kind\":\"" + kind + "\",\"filter\":\""
        + Base64.getEncoder().encodeToString(filter) + "\"}\n";
    Files.writeString(file, line, StandardOpenOption.CREATE, StandardOpenOption.APPEND);
  }
}
