/**
 * Reads what seend publishes: {@link io.seen.client.Snapshot} says what a user may have seen, {@link
 * io.seen.client.Watermarks} how fresh that is. The formats are schemas/snapshot.md of the project.
 */
package io.seen.client;
