package seen

import (
	"math"
	"strconv"
	"time"
)

// View is a snapshot with what one request knows besides: ids that also count as seen, and the window's first day.
// It never changes; AlsoSeen and Since give another one.
type View struct {
	snapshot *Snapshot
	when     bounds
	also     map[string]struct{}
	alsoOnly int // how many of `also` the snapshot doesn't hold
}

// Item is a candidate that says when it was created.
type Item struct {
	ID string
	// CreatedAt is when the item could first be shown, or earlier; a later time hides the days it was shown on.
	// The zero time, or any up to 1970, changes nothing.
	CreatedAt time.Time
}

// AlsoSeen is a view in which these ids count as seen as well. It goes by ids: MightContainFingerprint knows nothing
// of them.
func (v *View) AlsoSeen(ids ...string) *View {
	also := make(map[string]struct{}, len(v.also)+len(ids))
	for id := range v.also {
		also[id] = struct{}{}
	}
	for _, id := range ids {
		also[id] = struct{}{}
	}
	only := 0
	for id := range also {
		if !v.snapshot.contains(FingerprintOf(id), bounds{}) {
			only++
		}
	}
	return &View{v.snapshot, v.when, also, only}
}

// Since is a view of the window that begins with the day `first`. A snapshot of the kind DayChain that was made on an
// earlier day leaves out the days before; other kinds can't, and then filter a little too much.
func (v *View) Since(first Day) *View {
	moved := *v
	moved.when.since, moved.when.bounded = first, true
	return &moved
}

// MightContain says whether the item may have been seen. False is certain.
func (v *View) MightContain(id string) bool { return v.contains(FingerprintOf(id), id, v.when) }

// MightContainInt is MightContain for an integer id.
func (v *View) MightContainInt(id int64) bool {
	if len(v.also) != 0 {
		return v.MightContain(strconv.FormatInt(id, 10))
	}
	return v.MightContainFingerprint(FingerprintOfInt(id))
}

// MightContainFingerprint is MightContain for a fingerprint; what AlsoSeen named doesn't count.
func (v *View) MightContainFingerprint(f Fingerprint) bool { return v.snapshot.contains(f, v.when) }

// MightContainItem is MightContain for an item that says when it was created: nobody can have seen it before. Only
// snapshots of the kind DayChain can use that; they then leave out the days before.
func (v *View) MightContainItem(item Item) bool {
	return v.contains(FingerprintOf(item.ID), item.ID, v.when.after(item.CreatedAt))
}

// contains: `f` is the fingerprint of `id`.
func (v *View) contains(f Fingerprint, id string, when bounds) bool {
	if len(v.also) != 0 {
		if _, ok := v.also[id]; ok {
			return true
		}
	}
	return v.snapshot.contains(f, when)
}

// after leaves out the days that had ended when the item was created, as well.
func (b bounds) after(created time.Time) bounds {
	b.created = created.Unix()
	return b
}

// Unseen are the items that have not been seen, in the order given and each once.
func (v *View) Unseen(items []string) []string {
	unseen := make([]string, 0, len(items))
	named := newIDSet(len(items))
	for _, id := range items {
		if f := FingerprintOf(id); !v.contains(f, id, v.when) && named.add(f, id, unseen) {
			unseen = append(unseen, id)
		}
	}
	return unseen
}

// UnseenItems is Unseen for items that say when they were created. An id is one item: given more than once, the latest
// time counts, wherever in the list it stands.
func (v *View) UnseenItems(items []Item) []string {
	ids, latest := make([]string, 0, len(items)), make([]time.Time, 0, len(items))
	named := newIDSet(len(items))
	for _, item := range items {
		if at, found := named.find(FingerprintOf(item.ID), item.ID, ids); !found {
			ids, latest = append(ids, item.ID), append(latest, item.CreatedAt)
		} else if item.CreatedAt.After(latest[at]) {
			latest[at] = item.CreatedAt
		}
	}
	unseen := ids[:0]
	for i, id := range ids {
		if !v.MightContainItem(Item{id, latest[i]}) {
			unseen = append(unseen, id)
		}
	}
	return unseen
}

// RecallSize is how many candidates to recall so that, all but certainly, `want` are left when those that were seen
// are taken out; it allows for all that were seen being among them, and for three standard deviations of false
// positives. 0 where `want` is 0 or less.
func (v *View) RecallSize(want int) int {
	if want <= 0 {
		return 0
	}
	n, p := float64(want), v.snapshot.rate
	margin := float64(3 * math.Sqrt(float64(n*p))) // the conversions keep it from being fused: readers agree to the last bit
	all := float64(v.snapshot.itemCount) + float64(v.alsoOnly) + math.Ceil((n+margin)/(1-p))
	if all >= math.MaxInt {
		return math.MaxInt
	}
	return int(all)
}
