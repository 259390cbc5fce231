package io.seen.client;

import java.io.IOException;

/**
 * Bytes that can't be used: the message says which field is wrong. What was refused must never be taken for "nothing
 * seen": keep what was there before it, or treat the user as unknown, and report it.
 */
public abstract class RefusedException extends IOException {
  private static final long serialVersionUID = 1L;

  RefusedException(String message) {
    super(message);
  }

  RefusedException(String message, Throwable cause) {
    super(message, cause);
  }
}
