package io.seen.client;

/** Written by a newer program, in a version or of a kind this library doesn't know: update the library. */
public final class UnknownFormatException extends RefusedException {
  private static final long serialVersionUID = 1L;

  UnknownFormatException(String message) {
    super(message + ": update seen-client");
  }
}
