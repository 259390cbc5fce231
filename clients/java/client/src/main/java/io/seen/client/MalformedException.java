package io.seen.client;

/** Damaged, cut off, or never a snapshot or watermark at all. */
public final class MalformedException extends RefusedException {
  private static final long serialVersionUID = 1L;

  MalformedException(String message) {
    super(message);
  }

  MalformedException(String message, Throwable cause) {
    super(message, cause);
  }
}
