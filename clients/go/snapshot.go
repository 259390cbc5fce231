package seen

import (
	"math"
	"time"
)

// Snapshot is what one user has seen. It never changes; any number of goroutines may use it.
type Snapshot struct {
	kind         Kind
	filter       filter // nil: nothing seen
	itemCount    uint32
	asOfMs       int64
	horizon      Day
	partition    int32
	inputOffset  int64
	generation   int64 // of inputOffset; 0 where the snapshot doesn't say
	rate         float64
	payloadBytes int

	similar      filter // nil: nothing is said of it
	similarKind  Kind
	similarCount uint32
}

// Empty is the snapshot of a user of whom nothing is known: one whose record is a tombstone, or who has none. Nothing
// is seen. `partition` is the one that the user's records would be in (see PartitionOf), so that Watermarks can tell
// how fresh that is; -1 where it isn't known.
func Empty(partition int32) *Snapshot { return &Snapshot{partition: partition, horizon: math.MinInt32} }

// MightContain says whether the user may have seen the item. False is certain.
func (s *Snapshot) MightContain(id string) bool { return s.MightContainFingerprint(FingerprintOf(id)) }

// MightContainInt is MightContain for an integer id: 42 is the same as "42".
func (s *Snapshot) MightContainInt(id int64) bool {
	return s.MightContainFingerprint(FingerprintOfInt(id))
}

// MightContainFingerprint is MightContain for who keeps the fingerprints of a catalogue: they are the same for every
// user.
func (s *Snapshot) MightContainFingerprint(f Fingerprint) bool { return s.contains(f, bounds{}) }

func (s *Snapshot) contains(f Fingerprint, when bounds) bool {
	return s.filter != nil && s.filter.contains(f, f.hash(), when)
}

// Unseen are the items that the user has not seen, in the order given and each once, as seend's HTTP answers.
func (s *Snapshot) Unseen(items []string) []string { return s.view().Unseen(items) }

// UnseenItems is Unseen for items that say when they were created; View.UnseenItems has the rules.
func (s *Snapshot) UnseenItems(items []Item) []string { return s.view().UnseenItems(items) }

// AlsoSeen is a view in which the ids count as seen besides the snapshot's, such as those of the request's own
// earlier pages.
func (s *Snapshot) AlsoSeen(ids ...string) *View { return s.view().AlsoSeen(ids...) }

// Since is a view of the window that begins with the day: see View.Since.
func (s *Snapshot) Since(first Day) *View { return s.view().Since(first) }

func (s *Snapshot) view() *View { return &View{snapshot: s} }

// RecallSize is how many candidates to recall so that, all but certainly, `want` are left when those that were seen
// are taken out. 0 where `want` is 0 or less.
func (s *Snapshot) RecallSize(want int) int { return s.view().RecallSize(want) }

// Kind is the kind of filter.
func (s *Snapshot) Kind() Kind { return s.kind }

// ItemCount is how many different items (fingerprints) are in the filter.
func (s *Snapshot) ItemCount() int64 { return int64(s.itemCount) }

// AsOf is the greatest Kafka timestamp that was read of the input partition: the stream's time, not the user's. It is
// old also where the stream is quiet; Watermarks tells the two apart. The zero time for an Empty one.
func (s *Snapshot) AsOf() time.Time {
	if s.filter == nil {
		return time.Time{}
	}
	return time.UnixMilli(s.asOfMs).UTC()
}

// Horizon is the first day of the window when the snapshot was made. What has a window of its own may be older.
func (s *Snapshot) Horizon() Day { return s.horizon }

// Partition is the input partition that the user's events are in.
func (s *Snapshot) Partition() int32 { return s.partition }

// InputOffset: every record of that partition below it has been applied. Don't order snapshots by it.
func (s *Snapshot) InputOffset() int64 { return s.inputOffset }

// FalsePositiveRate is the rate asked for in the configuration, in (0, 0.5]; 0 for an Empty one.
func (s *Snapshot) FalsePositiveRate() float64 { return s.rate }

// PayloadBytes is the size of the filter without its envelope; with that of what is similar, where there is one.
func (s *Snapshot) PayloadBytes() int { return s.payloadBytes }
