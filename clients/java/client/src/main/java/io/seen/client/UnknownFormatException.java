package io.seen.client;

/**
 * Written in a version or of a kind that this class doesn't read: update the library, or use the class that the message
 * names.
 */
public final class UnknownFormatException extends RefusedException {
  private static final long serialVersionUID = 1L;

  UnknownFormatException(String message) {
    this(message, "update seen-client");
  }

  UnknownFormatException(String message, String remedy) {
    super(message + ": " + remedy);
  }
}
