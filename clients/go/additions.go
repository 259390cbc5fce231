package seen

import (
	"encoding/binary"
	"math/bits"
)

// additions holds what updates brought, of all partitions. It has no pointer for an addition: the garbage collector
// looks at one for each chunk.
//
//	users:   (hash, partition) -> the user's newest addition --older--> ... --older--> itself
//	logs[p]: additions in the order in which they came, in chunks; what is dropped leaves at the front
//
// Positions in a log count on and wrap. Links may lead to what has left: a position outside of the log is an end.
type additions struct {
	logs    []additionLog
	users   userTable
	count   int    // those that count
	held    int    // with those that were dropped behind one that still counts
	records uint64 // that brought additions
}

const (
	chunkBits   = 12
	chunkLength = 1 << chunkBits
	chunkMask   = 1<<(32-chunkBits) - 1

	additionsMost = 1 << 30 // then positions that lie apart stay apart, although they wrap
)

// An addition is 12 bytes.
type addition struct{ fingerprint, older, section uint32 }

// A heldSection is what the additions of one section share.
type heldSection struct {
	generation, to int64  // what has all below `to` has the additions
	asOfBefore     int64  // as_of of the generation before the record came; -1: not known
	record         uint64 // in the order in which they came, over all partitions
	until          uint32
	additions      uint32
	similar        bool
	dropped        bool
}

type additionLog struct {
	chunks       []*[chunkLength]addition
	begin, end   uint32
	sections     []heldSection
	firstSection uint32 // the number of sections[0]; they count on and wrap, too
}

func (l *additionLog) holds(at uint32) bool { return at-l.begin < l.end-l.begin }

func (l *additionLog) chunkOf(at uint32) uint32 {
	return (at>>chunkBits - l.begin>>chunkBits) & chunkMask
}

func (l *additionLog) at(at uint32) *addition { return &l.chunks[l.chunkOf(at)][at%chunkLength] }

func (l *additionLog) sectionOf(a *addition) *heldSection {
	return &l.sections[a.section-l.firstSection]
}

// take keeps the additions of a section, in the log of a partition.
func (a *additions) take(log uint32, shared heldSection, from *UpdateSection) {
	l := &a.logs[log]
	number := l.firstSection + uint32(len(l.sections))
	shared.additions = uint32(from.Additions())
	l.sections = append(l.sections, shared)
	rest := from.fingerprints
	for i := 0; i < from.Entries(); i++ {
		if a.users.full() {
			a.users.sweep(a.logs)
		}
		head, isNew := a.users.find(from.user(i), log)
		older := *head
		if isNew || !l.holds(older) {
			older = l.end // itself: the end
		}
		for n := from.count(i); n > 0; n, rest = n-1, rest[4:] {
			if int(l.chunkOf(l.end)) == len(l.chunks) {
				l.chunks = append(l.chunks, new([chunkLength]addition))
			}
			*l.at(l.end) = addition{binary.LittleEndian.Uint32(rest), older, number}
			older = l.end
			l.end++
		}
		*head = older
	}
	a.users.taken += int(shared.additions)
	a.count += int(shared.additions)
	a.held += int(shared.additions)
}

// any is whether any of the user's additions is as asked for. `log` is the partition's.
func (a *additions) any(user uint64, is func(log uint32, s *heldSection, fingerprint Fingerprint) bool) bool {
	for slot := a.users.first(user); ; slot = a.users.next(slot) {
		entry := a.users.at(slot)
		if entry == nil {
			return false
		}
		if entry.user != user {
			continue
		}
		l := &a.logs[entry.log-1]
		for at := entry.newest; l.holds(at); {
			found := l.at(at)
			if s := l.sectionOf(found); !s.dropped && is(entry.log-1, s, Fingerprint(found.fingerprint)) {
				return true
			}
			if found.older == at {
				break
			}
			at = found.older
		}
	}
}

// drop drops the sections of a partition that are as asked for.
func (a *additions) drop(log uint32, is func(*heldSection) bool) {
	l := &a.logs[log]
	for i := range l.sections {
		if s := &l.sections[i]; !s.dropped && is(s) {
			s.dropped = true
			a.count -= int(s.additions)
		}
	}
	a.leave(l)
}

// leave gives up the memory of what was dropped at the front.
func (a *additions) leave(l *additionLog) {
	n, to := 0, l.begin
	for ; n < len(l.sections) && l.sections[n].dropped; n++ {
		to += l.sections[n].additions
	}
	a.held -= int(to - l.begin)
	for i := range l.chunks[:l.chunkOf(to)] {
		l.chunks[i] = nil
	}
	l.chunks = l.chunks[l.chunkOf(to):]
	l.begin, l.firstSection, l.sections = to, l.firstSection+uint32(n), l.sections[n:]
}

// dropOldest drops the additions of the oldest record, and gives one of its sections.
func (a *additions) dropOldest() (log uint32, of heldSection) {
	of.record = ^uint64(0)
	for i := range a.logs {
		if l := &a.logs[i]; len(l.sections) > 0 && l.sections[0].record < of.record {
			log, of = uint32(i), l.sections[0]
		}
	}
	l := &a.logs[log]
	for i := 0; i < len(l.sections) && l.sections[i].record == of.record; i++ {
		l.sections[i].dropped = true
		a.count -= int(l.sections[i].additions)
	}
	a.leave(l)
	return log, of
}

func (a *additions) memoryBytes() int64 {
	bytes := int64(cap(a.users.entries)) * 16
	for i := range a.logs {
		l := &a.logs[i]
		bytes += int64(len(l.chunks))*(chunkLength*12+8) + int64(cap(l.sections))*48 + 80
	}
	return bytes
}

// userTable finds a user's newest addition in each partition: open addressing by the XXH64 of the id.
type userTable struct {
	entries []userEntry // a power of two
	used    int
	taken   int // additions since the last sweep
}

type userEntry struct {
	user   uint64
	newest uint32
	log    uint32 // plus 1; 0: free
}

// full: a search would be slow, or the positions of what has left could be taken for those of what came much later.
func (t *userTable) full() bool { return 4*(t.used+1) > 3*len(t.entries) || t.taken > additionsMost/2 }

// find is the user's newest addition in this partition, to be set. There is room for it.
func (t *userTable) find(user uint64, log uint32) (newest *uint32, isNew bool) {
	for slot := t.first(user); ; slot = t.next(slot) {
		switch entry := &t.entries[slot]; {
		case entry.log == 0:
			t.used++
			entry.user, entry.log = user, log+1
			return &entry.newest, true
		case entry.user == user && entry.log == log+1:
			return &entry.newest, false
		}
	}
}

func (t *userTable) first(user uint64) int { return int(user & uint64(len(t.entries)-1)) }
func (t *userTable) next(slot int) int     { return (slot + 1) & (len(t.entries) - 1) }

// at is the entry in the slot; nil: free, so the search ends.
func (t *userTable) at(slot int) *userEntry {
	if len(t.entries) == 0 || t.entries[slot].log == 0 {
		return nil
	}
	return &t.entries[slot]
}

// sweep makes room: users of whom nothing is left go.
func (t *userTable) sweep(logs []additionLog) {
	old, left := t.entries, 0
	for i := range old {
		if e := &old[i]; e.log != 0 && logs[e.log-1].holds(e.newest) {
			left++
		}
	}
	*t = userTable{entries: make([]userEntry, 1<<bits.Len(uint(2*left+15)))}
	for i := range old {
		if e := &old[i]; e.log != 0 && logs[e.log-1].holds(e.newest) {
			newest, _ := t.find(e.user, e.log-1)
			*newest = e.newest
		}
	}
}
