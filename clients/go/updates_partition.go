package seen

const beatsUntilForgotten = 60

// An updatesPartition is what a FilterReader knows of a partition, by "The reader" of schemas/update.md. Its additions
// are in the log of the same number. -1 is an offset or a time that isn't known.
type updatesPartition struct {
	number      int32
	topic       string // that the reader reads the snapshots from; empty: not told
	newest      beat   // of current; its generation is 0 where there is none
	standsAt    int64
	beatLog     int64 // snapshots_log of the newest beat with a generation
	log         int64 // that the reader began to read
	generations map[int64]*generation
	swept       bool // nothing is left to drop, with the base as it is
}

type generation struct {
	named    bool // by a beat. It isn't the newest's any more: a past one
	beats    int  // since the last record; of a generation that no beat named
	complete int64
	asOf     int64
	settled  int64 // the highest published_to: the additions below it are gone
	run      *run
	parts    knownParts
	lost     *lostRecords
}

// Of the event at `offset` the first `count` parts are known.
type knownParts struct {
	offset int64
	count  int
}

// A run lies beyond a gap.
type run struct{ from, to, asOf int64 }

// Of lostRecords the additions were dropped for want of room: `to` is the greatest, asOf the lowest before one came.
type lostRecords struct{ to, asOf int64 }

func newUpdatesPartition(number int32, topic string) *updatesPartition {
	return &updatesPartition{number: number, topic: topic, newest: noBeat, standsAt: -1, beatLog: -1, log: -1,
		generations: map[int64]*generation{}}
}

func (p *updatesPartition) generation(number int64) *generation {
	g := p.generations[number]
	if g == nil {
		g = &generation{complete: -1, asOf: -1, settled: -1}
		p.generations[number] = g
	}
	return g
}

// isPast: a beat named it, and the newest names another one.
func (p *updatesPartition) isPast(number int64) bool {
	g := p.generations[number]
	return g != nil && g.named && number != p.newest.generation
}

// hasBase: the published snapshots have all below published_to, and the reader has read them.
func (p *updatesPartition) hasBase() bool {
	return p.newest.generation != 0 && p.newest.publishedTo >= 0 && p.newest.snapshotsTo >= 0 &&
		p.standsAt >= p.newest.snapshotsTo && !p.mustRestart() && p.movedTo() == nil
}

// mustRestart: the positions in the snapshots are those of another log.
func (p *updatesPartition) mustRestart() bool { return p.log != p.beatLog }

// movedTo is the filter's other topic of snapshots, or nil.
func (p *updatesPartition) movedTo() *string {
	its := p.newest.snapshotsTopic
	if p.topic == "" || p.newest.generation == 0 || its == nil || *its == p.topic {
		return nil
	}
	return its
}

// completeSince is -1 where nothing says that the filter is incomplete.
func (p *updatesPartition) completeSince() int64 {
	if p.newest.generation == 0 {
		return -1
	}
	return p.newest.completeSince
}

// takeBeat gives the generations that are to be forgotten.
func (p *updatesPartition) takeBeat(b beat) (forgotten []int64) {
	if b.generation != p.newest.generation || b.publishedTo != p.newest.publishedTo {
		p.swept = false
	}
	p.newest = b
	if b.generation != 0 {
		p.generation(b.generation).named = true
		if p.beatLog = b.snapshotsLog; p.log < 0 {
			p.log = p.beatLog
		}
	}
	for number, g := range p.generations {
		if g.beats++; !g.named && g.beats >= beatsUntilForgotten {
			forgotten = append(forgotten, number)
			delete(p.generations, number)
		}
	}
	return forgotten
}

// isSettled: a record like this one changes nothing but what the next settling drops.
func (p *updatesPartition) isSettled(generation, to int64) bool {
	return p.hasBase() && (p.isPast(generation) || generation == p.newest.generation && to <= p.newest.publishedTo)
}

// cover takes in the range of a record. If a part before it is missing, it covers only what comes behind its event.
func (g *generation) cover(u *Update) {
	g.beats = 0
	from, to, asOf, part := u.From, u.To, u.AsOfMs, int(u.Part)
	if part > 0 && g.parts != (knownParts{from, part}) {
		if from == to {
			return
		}
		from++
	} else if u.isPart() {
		g.parts = knownParts{from, part + 1}
	}
	switch {
	case g.complete >= 0 && from <= g.complete:
		if to >= g.complete {
			g.complete, g.asOf = to, newer(g.asOf, asOf)
		}
	case g.run == nil || from > g.run.to:
		g.run = &run{from, to, asOf}
	case to >= g.run.from:
		if from < g.run.from {
			g.run.from = from
		}
		if to >= g.run.to {
			g.run.to, g.run.asOf = to, newer(g.run.asOf, asOf)
		}
	}
}

// settle is whether there is a base. All that is below it, and all of past generations, is then to be dropped.
func (p *updatesPartition) settle() bool {
	if !p.hasBase() {
		return false
	}
	g := p.generation(p.newest.generation)
	g.complete = greater(g.complete, p.newest.publishedTo)
	g.settled = greater(g.settled, p.newest.publishedTo)
	if g.lost != nil && g.lost.to <= p.newest.publishedTo {
		g.lost = nil
	}
	for number, past := range p.generations {
		if p.isPast(number) {
			*past = generation{named: true, complete: -1, asOf: -1, settled: -1}
		}
	}
	if g.run != nil && g.run.from <= g.complete {
		if g.run.to >= g.complete {
			g.complete, g.asOf = g.run.to, newer(g.asOf, g.run.asOf)
		}
		g.run = nil
	}
	return true
}

// startOver: older snapshots are about to replace newer ones. The additions still hold what lies beyond `settled`.
func (p *updatesPartition) startOver() {
	p.log, p.standsAt = p.beatLog, -1
	for _, g := range p.generations {
		if g.complete >= 0 && g.run == nil {
			g.run = &run{g.settled, g.complete, g.asOf}
		}
		g.complete, g.asOf, g.settled, g.parts = -1, -1, -1, knownParts{}
	}
}

// lose: the additions of a record were dropped for want of room.
func (g *generation) lose(to, asOfBefore int64) {
	if g.lost == nil {
		g.lost = &lostRecords{to, asOfBefore}
	}
	g.lost.to = greater(g.lost.to, to)
	if asOfBefore < g.lost.asOf {
		g.lost.asOf = asOfBefore
	}
}

// asOf is how fresh the partition is; -1: not at all.
func (p *updatesPartition) asOf() int64 {
	g := p.generations[p.newest.generation]
	switch {
	case g == nil || g.complete < 0:
		return -1
	case g.lost != nil && g.lost.asOf < g.asOf:
		return g.lost.asOf
	}
	return g.asOf
}

// completeTo is -1 where it isn't known.
func (p *updatesPartition) completeTo() int64 {
	if g := p.generations[p.newest.generation]; g != nil {
		return g.complete
	}
	return -1
}

// newer is the newest as_of, even if it is less; -1 replaces none.
func newer(before, asOf int64) int64 {
	if asOf < 0 {
		return before
	}
	return asOf
}

func greater(a, b int64) int64 {
	if a > b {
		return a
	}
	return b
}
