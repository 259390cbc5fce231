package io.seen.examples;

/** Whom to ask. */
final class Daemon {
  /** {@code http://HOST:PORT}. */
  final String address;
  /** Who must answer there; empty: anybody may. */
  final String instance;

  Daemon(String address, String instance) {
    this.address = address;
    this.instance = instance;
  }

  @Override
  public String toString() {
    return address;
  }
}
