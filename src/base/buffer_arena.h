#pragma once
// Where the buffers of a thread come from.

namespace seen {

/// From now on, the calling thread allocates from an arena that keeps freed memory for a tenth of a second.
/// For threads that make large buffers all the time. Other threads give pieces of 2 MiB and more back to the
/// system at once (main/seend.cc), and the system clears each page of the next piece. All callers share the
/// arena. Without jemalloc it does nothing.
void KeepFreedBuffers();

}  // namespace seen
