import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import org.apache.kafka.common.utils.Exit;

/** Runs kafka-acls.sh's class for each line of standard input, its arguments separated by tabs: one JVM for all. */
public class AclShell {
  public static void main(String[] unused) throws Exception {
    Exit.setExitProcedure((status, message) -> {
      throw new IllegalStateException("exit status " + status + ": " + message);
    });
    Method main = command().getMethod("main", String[].class);
    BufferedReader lines = new BufferedReader(new InputStreamReader(System.in));
    for (String line = lines.readLine(); line != null; line = lines.readLine()) {
      String end = "done";
      try {
        main.invoke(null, (Object) line.split("\t"));
      } catch (InvocationTargetException failed) {
        end = "failed " + failed.getCause();
      }
      System.out.println("\nAclShell: " + end.replace('\n', ' '));
      System.out.flush();
    }
  }

  private static Class<?> command() throws ClassNotFoundException {
    try {
      return Class.forName("kafka.admin.AclCommand");
    } catch (ClassNotFoundException since4) {
      return Class.forName("org.apache.kafka.tools.AclCommand");
    }
  }
}
