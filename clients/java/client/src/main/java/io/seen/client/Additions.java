package io.seen.client;

import java.util.Arrays;

/**
 * The additions that a reader holds, 16 bytes each besides their users.
 *
 * <ul>
 *   <li>A block is the additions of one section of a record. Its additions stand side by side in chunks.
 *   <li>A queue has the blocks of one generation in the order of their arrival. No chunk serves two queues, so
 *       dropping the oldest blocks gives back whole chunks.
 *   <li>Each user's additions are a chain in the order of their arrival. A table finds it by the user's hash.
 * </ul>
 */
final class Additions {
  static final int NONE = -1;

  private static final int CHUNK_LOG2 = 10;
  private static final int CHUNK_MASK = (1 << CHUNK_LOG2) - 1;
  private static final int WORDS = 4; // of an addition: these
  private static final int FINGERPRINT = 0;
  private static final int BLOCK = 1;
  private static final int USER = 2; // NONE: in no chain any more
  private static final int NEXT = 3;
  private static final int BLOCK_BYTES = 80; // about, of the object and its place in the table
  private static final int FIRST_SIZE = 64;

  private int[][] chunks = new int[FIRST_SIZE][];
  private int[] chunkLive = new int[FIRST_SIZE]; // how many additions of it are still held
  private int[] chunkNext = new int[FIRST_SIZE];
  private final FreeIds chunkIds = new FreeIds();

  private Block[] blocks = new Block[FIRST_SIZE];
  private final FreeIds blockIds = new FreeIds();

  private long[] userHash = new long[FIRST_SIZE];
  private int[] userFirst = new int[FIRST_SIZE];
  private int[] userLast = new int[FIRST_SIZE];
  private final FreeIds userIds = new FreeIds();
  private int[] table = new int[2 * FIRST_SIZE]; // open addressing; a user and 1, or 0

  private long size;
  private Block garbage; // dropped; their space is given back by and by, as ten millions take seconds
  private Block garbageLast;
  private long garbageSize;

  /** How many additions are held. The same one counts as often as it came. */
  long size() {
    return size;
  }

  long memoryBytes() {
    return (long) chunkIds.taken() * Integer.BYTES * WORDS * (CHUNK_MASK + 1) + chunks.length * 16L
        + blockIds.taken() * (long) BLOCK_BYTES + userHash.length * 16L + table.length * 4L
        + chunkIds.memoryBytes() + blockIds.memoryBytes() + userIds.memoryBytes();
  }

  void add(Generation generation, Update.Section section, long record, long to) {
    Block block = new Block(generation, section, record, to);
    Queue queue = generation.queue;
    block.id = blockIds.take();
    blocks = block.id < blocks.length ? blocks : Arrays.copyOf(blocks, 2 * blocks.length);
    blocks[block.id] = block;
    queue.append(block);
    int at = 0;
    for (int entry = 0; entry < section.entries(); ++entry) {
      int user = userOf(section.user(entry));
      for (int left = section.count(entry); left > 0; --left) {
        int slot = place(queue);
        block.first = at == 0 ? slot : block.first;
        int[] chunk = chunks[slot >>> CHUNK_LOG2];
        int word = (slot & CHUNK_MASK) * WORDS;
        chunk[word + FINGERPRINT] = section.fingerprint(at++);
        chunk[word + BLOCK] = block.id;
        chunk[word + USER] = user;
        chunk[word + NEXT] = NONE;
        if (userFirst[user] == NONE) {
          userFirst[user] = slot;
        } else {
          set(userLast[user], NEXT, slot);
        }
        userLast[user] = slot;
      }
    }
    size += section.items();
  }

  private int place(Queue queue) {
    if (queue.chunk == NONE || queue.chunkUsed > CHUNK_MASK) {
      int id = chunkIds.take();
      if (id == chunks.length) {
        chunks = Arrays.copyOf(chunks, 2 * id);
        chunkLive = Arrays.copyOf(chunkLive, 2 * id);
        chunkNext = Arrays.copyOf(chunkNext, 2 * id);
      }
      chunks[id] = new int[(CHUNK_MASK + 1) * WORDS];
      chunkLive[id] = 0;
      if (queue.chunk != NONE) {
        chunkNext[queue.chunk] = id;
      }
      queue.chunk = id;
      queue.chunkUsed = 0;
    }
    ++chunkLive[queue.chunk];
    return queue.chunk << CHUNK_LOG2 | queue.chunkUsed++;
  }

  /** Drops the blocks of records that end at {@code to} or before. */
  void dropTo(Generation generation, long to) {
    Queue queue = generation.queue;
    if (queue.first != null && to >= queue.lowestTo) {
      drop(queue.takeTo(to));
    }
  }

  void dropAll(Generation generation) {
    dropTo(generation, Long.MAX_VALUE);
  }

  /** Drops the oldest record's blocks. */
  void dropFirst(Generation generation) {
    drop(generation.queue.takeFirstRecord());
  }

  private void drop(Block dropped) {
    for (Block block = dropped; block != null; ) {
      Block next = block.next;
      block.isDropped = true;
      block.next = null;
      if (garbage == null) {
        garbage = block;
      } else {
        garbageLast.next = block;
      }
      garbageLast = block;
      size -= block.count;
      garbageSize += block.count;
      block = next;
    }
  }

  /** Gives back the space of so many dropped additions. */
  void collect(long count) {
    for (long left = Math.min(count, garbageSize); left > 0; --left) {
      Block block = garbage;
      int slot = block.first;
      unchain(slot);
      int chunk = slot >>> CHUNK_LOG2;
      block.first = (slot & CHUNK_MASK) < CHUNK_MASK ? slot + 1 : chunkNext[chunk] << CHUNK_LOG2;
      if (--chunkLive[chunk] == 0) {
        chunks[chunk] = null;
        chunkIds.give(chunk);
        Queue queue = block.generation.queue;
        queue.chunk = queue.chunk == chunk ? NONE : queue.chunk;
      }
      if (--block.count == 0) {
        blocks[block.id] = null;
        blockIds.give(block.id);
        garbage = block.next;
      }
      --garbageSize;
    }
  }

  /** How many additions are dropped, and still take space. */
  long garbageSize() {
    return garbageSize;
  }

  /** Takes a dropped addition out of its user's chain. As a rule it is the first. */
  private void unchain(int slot) {
    int user = get(slot, USER);
    if (user == NONE) {
      return; // taken out with another
    }
    int first = userFirst[user];
    while (get(slot, USER) != NONE && block(first).isDropped) {
      set(first, USER, NONE);
      first = next(first);
    }
    userFirst[user] = first;
    if (first == NONE) {
      removeUser(user);
    } else if (get(slot, USER) != NONE) {
      unchainBehind(first, user);
    }
  }

  /** Takes all dropped additions out that stand behind one that isn't. */
  private void unchainBehind(int kept, int user) {
    int last = kept;
    for (int slot = next(kept); slot != NONE; slot = next(slot)) {
      if (block(slot).isDropped) {
        set(slot, USER, NONE);
      } else {
        set(last, NEXT, slot);
        last = slot;
      }
    }
    set(last, NEXT, NONE);
    userLast[user] = last;
  }

  /** The user's first addition, or {@link #NONE}. */
  int first(long hash) {
    int user = table[find(hash)] - 1;
    return user < 0 ? NONE : userFirst[user];
  }

  int next(int slot) {
    return get(slot, NEXT);
  }

  int fingerprint(int slot) {
    return get(slot, FINGERPRINT);
  }

  /** Its block, which may have been dropped. */
  Block block(int slot) {
    return blocks[get(slot, BLOCK)];
  }

  private int get(int slot, int word) {
    return chunks[slot >>> CHUNK_LOG2][(slot & CHUNK_MASK) * WORDS + word];
  }

  private void set(int slot, int word, int value) {
    chunks[slot >>> CHUNK_LOG2][(slot & CHUNK_MASK) * WORDS + word] = value;
  }

  /** Where in the table the user stands, or would. */
  private int find(long hash) {
    int mask = table.length - 1;
    int at = (int) hash & mask;
    while (table[at] != 0 && userHash[table[at] - 1] != hash) {
      at = (at + 1) & mask;
    }
    return at;
  }

  private int userOf(long hash) {
    int at = find(hash);
    if (table[at] != 0) {
      return table[at] - 1;
    }
    int user = userIds.take();
    if (user == userHash.length) {
      userHash = Arrays.copyOf(userHash, 2 * user);
      userFirst = Arrays.copyOf(userFirst, 2 * user);
      userLast = Arrays.copyOf(userLast, 2 * user);
    }
    userHash[user] = hash;
    userFirst[user] = NONE;
    table[at] = user + 1;
    if (userIds.taken() > table.length / 2) {
      int[] old = table;
      table = new int[2 * old.length];
      for (int other : old) {
        if (other != 0) {
          table[find(userHash[other - 1])] = other;
        }
      }
    }
    return user;
  }

  /** Those behind move up to where they are looked for: Knuth, volume 3, algorithm 6.4 R. */
  private void removeUser(int user) {
    int mask = table.length - 1;
    int gap = find(userHash[user]);
    for (int at = (gap + 1) & mask; table[at] != 0; at = (at + 1) & mask) {
      int home = (int) userHash[table[at] - 1] & mask;
      if (((at - home) & mask) >= ((at - gap) & mask)) {
        table[gap] = table[at];
        gap = at;
      }
    }
    table[gap] = 0;
    userIds.give(user);
  }

  static final class Block {
    final Generation generation;
    final int kind;
    final long untilSecond;
    final long record; // its number, in the order of arrival
    final long to;
    final long asOfBefore; // of the generation, before the record came
    private int id;
    private int first;
    private int count; // from `first` on
    private boolean isDropped;
    private Block next;

    private Block(Generation generation, Update.Section section, long record, long to) {
      this.generation = generation;
      this.kind = section.kind();
      this.untilSecond = section.untilSecond();
      this.count = section.items();
      this.record = record;
      this.to = to;
      this.asOfBefore = generation.asOfMs;
    }

    boolean isDropped() {
      return isDropped;
    }
  }

  /** The blocks of a generation. */
  static final class Queue {
    private Block first;
    private Block last;
    private boolean ascends = true; // by `to`: only a daemon that starts again repeats lower ones
    private long lowestTo;
    private int chunk = NONE; // is being filled
    private int chunkUsed;

    Block first() {
      return first;
    }

    private void append(Block block) {
      if (first == null) {
        first = block;
        ascends = true;
        lowestTo = block.to;
      } else {
        last.next = block;
        ascends &= block.to >= last.to;
        lowestTo = Math.min(lowestTo, block.to);
      }
      last = block;
    }

    /** Takes out the blocks with at most this {@code to}, and chains them. */
    private Block takeTo(long to) {
      Block all = first;
      boolean ascended = ascends;
      first = null;
      Block dropped = null;
      Block lastDropped = null;
      for (Block block = all; block != null; ) {
        if (ascended && block.to > to) {
          first = block; // with all behind it
          lowestTo = block.to;
          break;
        }
        Block next = block.next;
        if (block.to > to) {
          block.next = null;
          append(block);
        } else {
          block.next = null;
          if (dropped == null) {
            dropped = block;
          } else {
            lastDropped.next = block;
          }
          lastDropped = block;
        }
        block = next;
      }
      return dropped;
    }

    private Block takeFirstRecord() {
      Block taken = first;
      Block end = taken;
      while (end.next != null && end.next.record == taken.record) {
        end = end.next;
      }
      first = end.next;
      end.next = null;
      return taken; // what is left is no lower than lowestTo
    }
  }

  /** Small numbers to be used again. */
  private static final class FreeIds {
    private int[] free = new int[FIRST_SIZE];
    private int count;
    private int past;

    int take() {
      return count > 0 ? free[--count] : past++;
    }

    void give(int id) {
      free = count < free.length ? free : Arrays.copyOf(free, 2 * count);
      free[count++] = id;
    }

    int taken() {
      return past - count;
    }

    long memoryBytes() {
      return free.length * 4L;
    }
  }
}
