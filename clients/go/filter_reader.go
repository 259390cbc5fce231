package seen

import (
	"math"
	"sync"
	"time"

	"github.com/cespare/xxhash/v2"
)

// FilterReaderConfig says what a FilterReader follows.
type FilterReaderConfig struct {
	Filter        string           // its name in seend's configuration
	SnapshotTopic string           // the topic of snapshots that is read, for MovedTo. Empty: the reader isn't told
	Partitions    []int32          // the input partitions to follow; records of others don't matter. Empty: all that come
	AdditionsMax  int              // how many additions to hold, of all partitions. 0: 64 Mi, of 12 bytes and more each
	Now           func() time.Time // the clock for what ends by time; nil: time.Now
}

const additionsMaxDefault = 64 << 20

// FilterReader follows one filter by its snapshots and its updates, over several partitions. It knows what was shown
// a moment ago, and since when its answers may miss something (AsOf). It reads no topics itself: give it the records of
// the topics of watermarks, of updates and of snapshots, each topic's partition in order, the three in any order among
// each other. Any number of goroutines may use it.
//
// It holds the last snapshot of every user, and a limited number of additions. MemoryBytes says how much that is.
// The rules are those of schemas/update.md.
type FilterReader struct {
	config FilterReaderConfig

	mu            sync.RWMutex
	logs          map[int32]uint32 // the partition's place in `partitions`, and its log in `additions`
	partitions    []*updatesPartition
	additions     additions
	users         map[string]userSnapshots
	snapshotBytes int64
}

// A userSnapshot is what a partition of the snapshots says of a user.
type userSnapshot struct {
	snapshot  *Snapshot // nil: none
	bytes     int64
	partition int32
	refused   bool // the newest one, and `snapshot` is the one before it
}

// userSnapshots are those of a user, of each partition at most one. As a rule, a user has one partition.
type userSnapshots []userSnapshot

func (of userSnapshots) mightContain(f Fingerprint) bool {
	for i := range of {
		if s := of[i].snapshot; s != nil && s.MightContainFingerprint(f) {
			return true
		}
	}
	return false
}

func (of userSnapshots) holdsSimilar(f Fingerprint) bool {
	for i := range of {
		if s := of[i].snapshot; s != nil && s.holdsSimilar(f) {
			return true
		}
	}
	return false
}

// have is whether one of them has the additions of this section, which came in a record of this partition.
func (of userSnapshots) have(s *heldSection, partition int32) bool {
	for i := range of {
		if its := of[i].snapshot; its != nil && its.generation == s.generation && its.inputOffset >= s.to &&
			its.partition == partition {
			return true
		}
	}
	return false
}

// NewFilterReader is a reader that knows nothing yet.
func NewFilterReader(config FilterReaderConfig) *FilterReader {
	if config.AdditionsMax <= 0 {
		config.AdditionsMax = additionsMaxDefault
	}
	if config.AdditionsMax > additionsMost {
		config.AdditionsMax = additionsMost
	}
	if config.Now == nil {
		config.Now = time.Now
	}
	r := &FilterReader{config: config, logs: map[int32]uint32{}, users: map[string]userSnapshots{}}
	for _, partition := range config.Partitions {
		if _, twice := r.logs[partition]; !twice {
			r.add(partition)
		}
	}
	return r
}

// TakeBeat takes in a record of the topic of watermarks. A nil value forgets the partition's beat. Errors are as
// Watermarks.Apply's; a refused record changes nothing.
func (r *FilterReader) TakeBeat(key, value []byte) error {
	partition, b, err := parseBeat(key, value, r.config.Filter)
	if err != nil {
		return err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	log, followed := r.follow(partition)
	if !followed {
		return nil
	}
	for _, generation := range r.partitions[log].takeBeat(b) {
		r.additions.drop(log, func(s *heldSection) bool { return s.generation == generation })
	}
	r.settle(log)
	return nil
}

// TakeUpdate takes in the value of a record of the topic of updates, and doesn't keep it. Errors are as ParseUpdate's.
// A refused record changes nothing, so it becomes a gap: report it.
func (r *FilterReader) TakeUpdate(data []byte) error {
	update, err := ParseUpdate(data)
	if err != nil {
		return err
	}
	bit := uint16(0)
	for i, name := range update.Filters {
		if name == r.config.Filter {
			bit = 1 << i
		}
	}
	if bit == 0 {
		return nil
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	log, followed := r.follow(update.Partition)
	if !followed {
		return nil
	}
	p := r.partitions[log]
	g := p.generation(update.Generation)
	to := update.To
	if update.From == to && to < math.MaxInt64 {
		to++ // of an event in several records: what has all below the event's own offset has not the event
	}
	if !p.isSettled(update.Generation, to) {
		shared := heldSection{generation: update.Generation, to: to, asOfBefore: g.asOf, record: r.additions.records}
		r.additions.records++
		for i := range update.Sections {
			if section := &update.Sections[i]; section.Mask&bit != 0 {
				shared.similar, shared.until = section.Similar, section.Until
				r.additions.take(log, shared, section)
			}
		}
		p.swept = p.swept && p.hasBase()
	}
	g.cover(update)
	r.settle(log)
	r.makeRoom()
	return nil
}

// TakeSnapshot takes in a record of the topic of snapshots: the user of its key, and its value; nil is a tombstone. A
// user may have one in each partition. `data` must not change afterwards. Errors are as Parse's: the user is then not
// fresh (IsRefused) until the partition's next one, and the snapshot before it stays.
func (r *FilterReader) TakeSnapshot(partition int32, user string, data []byte) error {
	var snapshot *Snapshot
	var err error
	if data != nil {
		snapshot, err = parse(data, true)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if _, followed := r.follow(partition); !followed {
		return nil
	}
	now := userSnapshot{snapshot, int64(len(user)+len(data)) + userBytes, partition, err != nil}
	var others userSnapshots
	for _, before := range r.users[user] {
		if before.partition != partition {
			others = append(others, before)
			continue
		}
		r.snapshotBytes -= before.bytes
		if err != nil {
			now.snapshot, now.bytes = before.snapshot, before.bytes
		}
	}
	if now.snapshot != nil || now.refused {
		others = append(others, now)
		r.snapshotBytes += now.bytes
	}
	if others == nil {
		delete(r.users, user)
	} else {
		r.users[user] = others
	}
	return err
}

// userBytes is about what a user takes besides id and snapshot.
const userBytes = 320

// SnapshotsEnd: the reader has taken all of the partition's snapshots below this position, and it was their end after
// the last of them. It must be the broker's word: a fetch that found nothing more, or a question for the end that was
// asked after the last record. A high watermark that a client remembers isn't enough. Read the beats to their end first:
// to one that was found after that of the snapshots.
func (r *FilterReader) SnapshotsEnd(partition int32, position int64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if log, followed := r.follow(partition); followed {
		r.partitions[log].standsAt = position
		r.settle(log)
	}
}

// MustRestart: the caller must start over in the partition's snapshots, since their topic was created again or lost its
// end. Ask after each beat. Go to the partition's beginning and call SnapshotsRestart. The reader never settles before.
func (r *FilterReader) MustRestart(partition int32) bool {
	r.mu.RLock()
	defer r.mu.RUnlock()
	log, known := r.logs[partition]
	return known && r.partitions[log].mustRestart()
}

// MovedTo is the filter's topic of snapshots by the partition's newest beat, if it is another one than SnapshotTopic:
// begin with a new reader there. This one never settles meanwhile. False: the filter hasn't moved, as far as is known.
func (r *FilterReader) MovedTo(partition int32) (topic string, moved bool) {
	r.mu.RLock()
	defer r.mu.RUnlock()
	if log, known := r.logs[partition]; known {
		if other := r.partitions[log].movedTo(); other != nil {
			return *other, true
		}
	}
	return "", false
}

// SnapshotsRestart: the reader starts over in the partition's snapshots. Call it before the first TakeSnapshot. The
// partition isn't fresh until SnapshotsEnd.
func (r *FilterReader) SnapshotsRestart(partition int32) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if log, followed := r.follow(partition); followed {
		r.partitions[log].startOver()
	}
}

// follow is the partition's place. False: it isn't among those to follow.
func (r *FilterReader) follow(partition int32) (log uint32, followed bool) {
	if log, followed = r.logs[partition]; !followed && len(r.config.Partitions) == 0 {
		return r.add(partition), true
	}
	return log, followed
}

func (r *FilterReader) add(partition int32) uint32 {
	log := uint32(len(r.partitions))
	r.logs[partition] = log
	r.partitions = append(r.partitions, newUpdatesPartition(partition, r.config.SnapshotTopic))
	r.additions.logs = append(r.additions.logs, additionLog{})
	return log
}

func (r *FilterReader) settle(log uint32) {
	p := r.partitions[log]
	if !p.settle() || p.swept {
		return
	}
	r.additions.drop(log, func(s *heldSection) bool { return p.isSettled(s.generation, s.to) })
	p.swept = true
}

// makeRoom keeps the limit. Also what no longer counts takes room, where it came behind what still does.
func (r *FilterReader) makeRoom() {
	most := r.config.AdditionsMax
	for r.additions.count > most || r.additions.held > most+most/4+1<<16 {
		log, oldest := r.additions.dropOldest()
		r.partitions[log].generation(oldest.generation).lose(oldest.to, oldest.asOfBefore)
	}
}

// MightContain says whether the user may have seen the item. False is certain up to AsOf, if not IsRefused.
func (r *FilterReader) MightContain(user, item string) bool {
	f := FingerprintOf(item)
	r.mu.RLock()
	defer r.mu.RUnlock()
	of := r.users[user]
	return of.mightContain(f) || r.isAdded(user, of, f, false)
}

// MightBeNear says whether an item like this one may have been seen: see Snapshot.MightBeNear.
func (r *FilterReader) MightBeNear(user, item string) bool {
	return r.holdsSimilar(user, FingerprintOf(item).in(nearDomain))
}

// MightHoldGroup says whether an item of this group may have been seen: see Snapshot.MightHoldGroup.
func (r *FilterReader) MightHoldGroup(user, group string) bool {
	return r.holdsSimilar(user, FingerprintOf(group).in(groupDomain))
}

func (r *FilterReader) holdsSimilar(user string, f Fingerprint) bool {
	r.mu.RLock()
	defer r.mu.RUnlock()
	of := r.users[user]
	return of.holdsSimilar(f) || r.isAdded(user, of, f, true)
}

// Unseen are the candidates that the user has not seen, in the order given and each once. The ids of `alsoSeen` count
// as seen as well.
func (r *FilterReader) Unseen(user string, candidates, alsoSeen []string) []string {
	r.mu.RLock()
	defer r.mu.RUnlock()
	of := r.users[user]
	var added map[Fingerprint]struct{}
	r.additions.any(xxhash.Sum64String(user), func(log uint32, s *heldSection, f Fingerprint) bool {
		if !s.similar && r.counts(log, s, of) {
			if added == nil {
				added = map[Fingerprint]struct{}{}
			}
			added[f] = struct{}{}
		}
		return false // all of them
	})
	first, others := Empty(-1), of
	if len(of) > 0 && of[0].snapshot != nil {
		first, others = of[0].snapshot, of[1:]
	}
	unseen := first.AlsoSeen(alsoSeen...).Unseen(candidates)
	if len(added) == 0 && len(others) == 0 {
		return unseen
	}
	left := unseen[:0]
	for _, id := range unseen {
		f := FingerprintOf(id)
		if _, seen := added[f]; !seen && !others.mightContain(f) {
			left = append(left, id)
		}
	}
	return left
}

// isAdded is whether an addition of this fingerprint counts.
func (r *FilterReader) isAdded(user string, of userSnapshots, want Fingerprint, wantSimilar bool) bool {
	return r.additions.any(xxhash.Sum64String(user), func(log uint32, s *heldSection, f Fingerprint) bool {
		return f == want && s.similar == wantSimilar && r.counts(log, s, of)
	})
}

// counts: the additions haven't ended, and no snapshot of the user has them.
func (r *FilterReader) counts(log uint32, s *heldSection, of userSnapshots) bool {
	if s.until != 0 && r.config.Now().Unix() >= int64(s.until) {
		return false
	}
	return !of.have(s, r.partitions[log].number)
}

// IsRefused is whether the user's newest snapshot in one of the partitions was refused: the answers about the user may miss anything.
func (r *FilterReader) IsRefused(user string) bool {
	r.mu.RLock()
	defer r.mu.RUnlock()
	for _, its := range r.users[user] {
		if its.refused {
			return true
		}
	}
	return false
}

// AsOf is since when answers about the partition's users may miss something: they know all that was shown before. False
// where that isn't known. They may then miss anything.
func (r *FilterReader) AsOf(partition int32) (time.Time, bool) {
	r.mu.RLock()
	defer r.mu.RUnlock()
	if log, known := r.logs[partition]; known {
		return timeOf(r.partitions[log].asOf())
	}
	return time.Time{}, false
}

// OldestAsOf is the oldest AsOf of the partitions followed.
func (r *FilterReader) OldestAsOf() (time.Time, bool) {
	r.mu.RLock()
	defer r.mu.RUnlock()
	oldest := int64(-1)
	for i, p := range r.partitions {
		if asOf := p.asOf(); i == 0 || asOf < oldest {
			oldest = asOf
		}
	}
	return timeOf(oldest)
}

// CompleteSince: what was shown before may be missing, however fresh the reader is, by the partition's newest beat. False
// where the beat says nothing of it.
func (r *FilterReader) CompleteSince(partition int32) (time.Time, bool) {
	r.mu.RLock()
	defer r.mu.RUnlock()
	if log, known := r.logs[partition]; known {
		return timeOf(r.partitions[log].completeSince())
	}
	return time.Time{}, false
}

// LatestCompleteSince is the latest CompleteSince of the partitions followed.
func (r *FilterReader) LatestCompleteSince() (time.Time, bool) {
	r.mu.RLock()
	defer r.mu.RUnlock()
	latest := int64(-1)
	for _, p := range r.partitions {
		latest = greater(latest, p.completeSince())
	}
	return timeOf(latest)
}

func timeOf(ms int64) (time.Time, bool) {
	if ms < 0 {
		return time.Time{}, false
	}
	return time.UnixMilli(ms).UTC(), true
}

// CompleteTo: every live event of the input partition below this offset is known. False where there is none.
func (r *FilterReader) CompleteTo(partition int32) (int64, bool) {
	return r.offsetOf(partition, (*updatesPartition).completeTo)
}

// UpdatesFrom is the offset of the topic of updates at which to begin, by the partition's newest beat. False where the
// beat says nothing of it: begin at the beginning.
func (r *FilterReader) UpdatesFrom(partition int32) (int64, bool) {
	return r.offsetOf(partition, func(p *updatesPartition) int64 { return p.newest.updatesFrom })
}

func (r *FilterReader) offsetOf(partition int32, is func(*updatesPartition) int64) (int64, bool) {
	r.mu.RLock()
	defer r.mu.RUnlock()
	if log, known := r.logs[partition]; known {
		if offset := is(r.partitions[log]); offset >= 0 {
			return offset, true
		}
	}
	return 0, false
}

// Additions is how many additions the reader holds. The same one may count several times.
func (r *FilterReader) Additions() int {
	r.mu.RLock()
	defer r.mu.RUnlock()
	return r.additions.count
}

// MemoryBytes is about how much memory the reader takes, the snapshots included.
func (r *FilterReader) MemoryBytes() int64 {
	r.mu.RLock()
	defer r.mu.RUnlock()
	return r.additions.memoryBytes() + r.snapshotBytes
}
