package seen

import (
	"fmt"
	"math/rand"
	"testing"
)

// model is a reader of the filter "f" by "The reader" of schemas/update.md, word by word: sets and lists, and a
// list of all that it was told. -1 is what isn't known.
type model struct {
	topic        string // of the snapshots; empty: not told
	additionsMax int
	partitions   map[int32]*modelPartition
	additions    []modelAddition              // in the order in which they came
	snapshots    map[string]*[2]modelSnapshot // by the topic's partition
	records      int
}

type modelPartition struct {
	current                            int64 // 0: none
	publishedTo, snapshotsTo, standsAt int64
	beatLog, log                       int64
	more                               modelMembers   // of the newest beat
	named                              map[int64]bool // by a beat, ever
	complete, asOf, settled            map[int64]int64
	runs                               map[int64]run
	parts                              map[int64]knownParts
	beats                              map[int64]int // since the last record, of a generation that no beat named
	dropped                            []modelAddition
}

// modelMembers are those that a beat may have besides a testBeat's. An empty topic, and what is below 0, is left out.
type modelMembers struct {
	topic              string
	log, completeSince int64
}

func (m modelMembers) text() (members []string) {
	if m.topic != "" {
		members = append(members, fmt.Sprintf(`"snapshots_topic":{"f":%q}`, m.topic))
	}
	if m.log >= 0 {
		members = append(members, fmt.Sprintf(`"snapshots_log":{"f":%d}`, m.log))
	}
	if m.completeSince >= 0 {
		members = append(members, fmt.Sprintf(`"complete_since_ms":{"f":%d}`, m.completeSince))
	}
	return members
}

type modelAddition struct {
	record         int
	partition      int32
	user           string
	kind           byte
	print          Fingerprint
	generation, to int64
	until          uint32
	asOfBefore     int64
}

type modelSnapshot struct {
	refused               bool
	partition             int32
	generation, offset    int64
	items, similar        map[Fingerprint]bool
	itemList, similarOnes []Fingerprint
}

func newModel(topic string, additionsMax int) *model {
	return &model{topic, additionsMax, map[int32]*modelPartition{}, nil, map[string]*[2]modelSnapshot{}, 0}
}

func (m *model) at(partition int32) *modelPartition {
	if m.partitions[partition] == nil {
		m.partitions[partition] = &modelPartition{0, -1, -1, -1, -1, -1, modelMembers{"", -1, -1}, map[int64]bool{},
			map[int64]int64{}, map[int64]int64{}, map[int64]int64{}, map[int64]run{}, map[int64]knownParts{}, map[int64]int{}, nil}
	}
	return m.partitions[partition]
}

func (m *model) keep(is func(a modelAddition) bool) {
	var kept []modelAddition
	for _, a := range m.additions {
		if is(a) {
			kept = append(kept, a)
		}
	}
	m.additions = kept
}

func (m *model) beat(partition int32, b testBeat, more modelMembers) {
	p := m.at(partition)
	p.current, p.publishedTo, p.snapshotsTo = b.generation, b.publishedTo, b.snapshotsTo
	p.more = modelMembers{"", -1, -1}
	if b.generation != 0 {
		p.named[b.generation] = true
		p.more = more
		p.beatLog = greater(more.log, 0)
		if p.log == -1 {
			p.log = p.beatLog
		}
	}
	for g := range p.beats {
		p.beats[g]++
		if p.beats[g] == 60 && !p.named[g] {
			m.forget(partition, g)
		}
	}
	m.settle(partition)
}

func (m *model) forget(partition int32, g int64) {
	p := m.at(partition)
	delete(p.complete, g)
	delete(p.asOf, g)
	delete(p.settled, g)
	delete(p.runs, g)
	delete(p.parts, g)
	delete(p.beats, g)
	m.keep(func(a modelAddition) bool { return a.partition != partition || a.generation != g })
	var dropped []modelAddition
	for _, a := range p.dropped {
		if a.generation != g {
			dropped = append(dropped, a)
		}
	}
	p.dropped = dropped
}

func (m *model) update(u testUpdate) {
	bit := uint16(0)
	for i, name := range u.filters {
		if name == "f" {
			bit = 1 << i
		}
	}
	if bit == 0 {
		return
	}
	p, g := m.at(u.partition), u.generation
	before, known := p.asOf[g]
	if !known {
		before = -1
	}
	to := u.to
	if u.from == u.to {
		to++
	}
	for _, s := range u.sections {
		for _, e := range s.entries {
			for _, f := range e.prints {
				if s.mask&bit != 0 {
					m.additions = append(m.additions, modelAddition{m.records, u.partition, e.user, s.kind, f, g, to,
						s.until, before})
				}
			}
		}
	}
	m.records++
	p.beats[g] = 0
	parts, has := p.parts[g]
	if u.part == 0 || has && parts.offset == u.from && parts.count == int(u.part) {
		if u.to == u.from && len(u.sections) > 0 {
			p.parts[g] = knownParts{u.from, int(u.part) + 1}
		}
		p.cover(g, u.from, u.to, u.asOf)
	} else if u.to > u.from {
		p.cover(g, u.from+1, u.to, u.asOf)
	}
	m.settle(u.partition)
	for len(m.additions) > m.additionsMax {
		oldest := m.additions[0].record
		m.keep(func(a modelAddition) bool {
			if a.record == oldest {
				m.at(a.partition).dropped = append(m.at(a.partition).dropped, a)
			}
			return a.record != oldest
		})
	}
}

func (p *modelPartition) cover(g, from, to, asOf int64) {
	run1, hasRun := p.runs[g]
	if complete, known := p.complete[g]; known && from <= complete {
		if to >= complete {
			if p.complete[g] = to; asOf != -1 {
				p.asOf[g] = asOf
			}
		}
	} else if !hasRun || from > run1.to {
		p.runs[g] = run{from, to, asOf}
	} else if to >= run1.from {
		if asOf == -1 || to < run1.to {
			asOf = run1.asOf
		}
		p.runs[g] = run{-greater(-from, -run1.from), greater(to, run1.to), asOf}
	}
}

func (m *model) settle(partition int32) {
	p := m.at(partition)
	if p.current == 0 || p.publishedTo < 0 || p.snapshotsTo < 0 || p.standsAt < p.snapshotsTo || p.log != p.beatLog ||
		m.movedTo(partition) != "" {
		return
	}
	g := p.current
	if complete, known := p.complete[g]; !known || complete < p.publishedTo {
		p.complete[g] = p.publishedTo
	}
	p.settled[g] = greater(p.settled[g], p.publishedTo)
	for past := range p.named {
		if past != g {
			m.forget(partition, past)
		}
	}
	m.keep(func(a modelAddition) bool {
		return a.partition != partition || a.generation != g || a.to > p.publishedTo
	})
	var dropped []modelAddition
	greatest := int64(-1)
	for _, a := range p.dropped {
		if a.generation != g {
			dropped = append(dropped, a)
		} else {
			greatest = greater(greatest, a.to)
		}
	}
	if greatest <= p.publishedTo {
		p.dropped = dropped
	}
	if run1, has := p.runs[g]; has && run1.from <= p.complete[g] {
		if run1.to >= p.complete[g] && run1.asOf != -1 {
			p.asOf[g] = run1.asOf
		}
		p.complete[g] = greater(p.complete[g], run1.to)
		delete(p.runs, g)
	}
}

func (m *model) restart(partition int32) {
	p := m.at(partition)
	p.log, p.standsAt = p.beatLog, -1
	for g, complete := range p.complete {
		asOf, known := p.asOf[g]
		if !known {
			asOf = -1
		}
		if _, has := p.runs[g]; !has {
			p.runs[g] = run{p.settled[g], complete, asOf}
		}
	}
	p.complete, p.asOf, p.settled, p.parts = map[int64]int64{}, map[int64]int64{}, map[int64]int64{}, map[int64]knownParts{}
}

// movedTo is empty where the filter hasn't moved.
func (m *model) movedTo(partition int32) string {
	if other := m.at(partition).more.topic; m.topic != "" && other != m.topic {
		return other
	}
	return ""
}

// fresh is complete_to and as_of.
func (m *model) fresh(partition int32) (int64, int64) {
	p := m.at(partition)
	complete, known := p.complete[p.current]
	if !known {
		return -1, -1
	}
	asOf, known := p.asOf[p.current]
	if !known {
		asOf = -1
	}
	for _, a := range p.dropped {
		if a.generation == p.current && a.asOfBefore < asOf {
			asOf = a.asOfBefore
		}
	}
	return complete, asOf
}

func (m *model) holds(user string, kind byte, f Fingerprint) bool {
	of := m.of(user)
	for _, s := range of {
		if kind == 0 && s.items[f] || kind == 1 && s.similar[f] {
			return true
		}
	}
	for _, a := range m.additions {
		if a.user == user && a.kind == kind && a.print == f && (a.until == 0 || testNowMs/1000 < int64(a.until)) &&
			!of[0].has(a) && !of[1].has(a) {
			return true
		}
	}
	return false
}

func (m *model) of(user string) *[2]modelSnapshot {
	if m.snapshots[user] == nil {
		m.snapshots[user] = &[2]modelSnapshot{}
	}
	return m.snapshots[user]
}

func (s *modelSnapshot) has(a modelAddition) bool {
	return s.generation == a.generation && s.partition == a.partition && s.offset >= a.to
}

var (
	modelUsers = []string{"u", "v", "w", "x", "y", "z", "曝光", ""}
	modelItems = []string{"a", "b", "c", "d", "e", "1", "2", "3", "4", "5"}
)

func printOf(item string, kind byte, domain byte) Fingerprint {
	if f := FingerprintOf(item); kind == 0 {
		return f
	} else {
		return f.in(domain)
	}
}

func compare(t *testing.T, r followed, m *model) {
	t.Helper()
	if r.Additions() != len(m.additions) {
		t.Errorf("%d additions, not %d", r.Additions(), len(m.additions))
	}
	latest := int64(-1)
	for partition, p := range m.partitions {
		if r.MustRestart(partition) != (p.log != p.beatLog) {
			t.Errorf("partition %d: it must start over is %v", partition, r.MustRestart(partition))
		}
		if topic, moved := r.MovedTo(partition); topic != m.movedTo(partition) || moved != (topic != "") {
			t.Errorf("partition %d: moved to %q, %v, not %q", partition, topic, moved, m.movedTo(partition))
		}
		latest = greater(latest, p.more.completeSince)
		if since, known := r.CompleteSince(partition); known != (p.more.completeSince >= 0) ||
			known && since.UnixMilli() != p.more.completeSince {
			t.Errorf("partition %d: complete since %v, %v, not %d", partition, since, known, p.more.completeSince)
		}
		complete, asOf := int64(-1), int64(-1)
		if offset, known := r.CompleteTo(partition); known {
			complete = offset
		}
		if at, known := r.AsOf(partition); known {
			asOf = at.UnixMilli()
		}
		if wantComplete, wantAsOf := m.fresh(partition); complete != wantComplete || asOf != wantAsOf {
			t.Errorf("partition %d: complete to %d as of %d, not %d, %d", partition, complete, asOf, wantComplete, wantAsOf)
		}
	}
	if since, known := r.LatestCompleteSince(); known != (latest >= 0) || known && since.UnixMilli() != latest {
		t.Errorf("complete since %v, %v, not %d", since, known, latest)
	}
	for _, user := range modelUsers {
		of := m.of(user)
		if r.IsRefused(user) != (of[0].refused || of[1].refused) {
			t.Errorf("%q: refused is %v", user, r.IsRefused(user))
		}
		var unseen []string
		for _, item := range modelItems {
			seen := m.holds(user, 0, printOf(item, 0, 0))
			if !seen {
				unseen = append(unseen, item)
			}
			if r.MightContain(user, item) != seen || r.MightBeNear(user, item) != m.holds(user, 1, printOf(item, 1, 1)) ||
				r.MightHoldGroup(user, item) != m.holds(user, 1, printOf(item, 1, 2)) {
				t.Errorf("%q, %q: seen %v, near %v, group %v", user, item, r.MightContain(user, item),
					r.MightBeNear(user, item), r.MightHoldGroup(user, item))
			}
		}
		if got := r.Unseen(user, modelItems, nil); fmt.Sprint(got) != fmt.Sprint(unseen) {
			t.Errorf("%q: unseen %v, not %v", user, got, unseen)
		}
	}
}

// randomUpdate goes on from the log's end, mostly. `parts` are those of the event at the end.
func randomUpdate(chance *rand.Rand, end map[[2]int64]int64, parts map[[2]int64]int) testUpdate {
	u := testUpdate{partition: int32(chance.Intn(2)), generation: 1 + int64(chance.Intn(12))/5, filters: []string{"g", "f"}}
	if chance.Intn(20) == 0 {
		u.filters = []string{"g", "h"}
	}
	log := [2]int64{int64(u.partition), u.generation}
	u.from = end[log]
	switch chance.Intn(8) {
	case 0:
		u.from += int64(chance.Intn(6)) // a gap
	case 1:
		if u.from -= int64(chance.Intn(12)); u.from < 0 { // a repetition
			u.from = 0
		}
	}
	if u.to = u.from + int64(chance.Intn(5)); chance.Intn(3) == 0 {
		u.to = u.from
	}
	if u.from == end[log] {
		u.part = uint8(parts[log])
	}
	if chance.Intn(8) == 0 {
		u.part = uint8(chance.Intn(4))
	}
	if end[log] < u.to {
		end[log] = u.to
	}
	switch u.asOf = u.to*10 + int64(chance.Intn(20)); chance.Intn(8) {
	case 0:
		u.asOf = -1
	case 1:
		u.asOf = greater(u.asOf-100, -1) // of a clock that was ahead
	}
	for n := chance.Intn(3); n > 0; n-- {
		s := testSection{mask: uint16(1 + chance.Intn(3)), kind: byte(chance.Intn(2))}
		if chance.Intn(4) == 0 {
			s.until = uint32(testNowMs/1000 + chance.Intn(3) - 1)
		}
		for users := 1 + chance.Intn(3); users > 0; users-- {
			e := testEntry{user: modelUsers[chance.Intn(len(modelUsers))]}
			for items := 1 + chance.Intn(3); items > 0; items-- {
				e.prints = append(e.prints, printOf(modelItems[chance.Intn(len(modelItems))], s.kind, byte(1+chance.Intn(2))))
			}
			s.entries = append(s.entries, e)
		}
		u.sections = append(u.sections, s)
	}
	if parts[log] = 0; u.to == u.from && len(u.sections) > 0 {
		parts[log] = int(u.part) + 1
	}
	return u
}

// randomMembers mostly leaves the log and the topic as they are.
func randomMembers(chance *rand.Rand, log int64) modelMembers {
	more := modelMembers{"", log, int64(chance.Intn(100)) - 50}
	if chance.Intn(10) == 0 {
		more.log = int64(chance.Intn(4)) - 1
	}
	if chance.Intn(2) == 0 {
		more.topic = "here"
	}
	if chance.Intn(10) == 0 {
		more.topic = "there"
	}
	return more
}

func randomSnapshot(chance *rand.Rand, end map[[2]int64]int64) modelSnapshot {
	s := modelSnapshot{partition: int32(chance.Intn(2)), generation: int64(chance.Intn(12)) / 4,
		items: map[Fingerprint]bool{}, similar: map[Fingerprint]bool{}}
	s.offset = end[[2]int64{int64(s.partition), s.generation}] - int64(chance.Intn(5))
	if s.offset < 0 {
		s.offset = 0
	}
	for n := chance.Intn(4); n > 0; n-- {
		s.items[FingerprintOf(modelItems[chance.Intn(len(modelItems))])] = true
		s.similar[printOf(modelItems[chance.Intn(len(modelItems))], 1, byte(1+chance.Intn(2)))] = true
	}
	for f := range s.items {
		s.itemList = append(s.itemList, f)
	}
	for f := range s.similar {
		s.similarOnes = append(s.similarOnes, f)
	}
	return s
}

// TestAReaderIsAsTheSpecification: after any records in any order it answers as the page says.
func TestAReaderIsAsTheSpecification(t *testing.T) {
	fresh, limited, forgotten, restarted, moved := 0, 0, 0, 0, 0
	for seed := int64(0); seed < 150 && !t.Failed(); seed++ {
		chance := rand.New(rand.NewSource(seed))
		additionsMax := []int{1 << 20, 20, 5}[seed%3]
		r, end := follow(t, additionsMax), map[[2]int64]int64{}
		if seed%4 == 3 {
			r.config.SnapshotTopic = ""
		}
		m := newModel(r.config.SnapshotTopic, additionsMax)
		parts := map[[2]int64]int{}
		for step := 0; step < 150 && !t.Failed(); step++ {
			partition := int32(chance.Intn(2))
			switch chance.Intn(8) {
			default:
				u := randomUpdate(chance, end, parts)
				if chance.Intn(12) == 0 {
					continue // lost
				}
				r.take(u)
				m.update(u)
			case 0, 1:
				b := testBeat{1 + int64(chance.Intn(11))/10 + seed%2, -1, int64(chance.Intn(5)) - 1, -1}
				if b.publishedTo = end[[2]int64{int64(partition), b.generation}] - int64(chance.Intn(9)); b.publishedTo < -1 {
					b.publishedTo = -1
				}
				if chance.Intn(20) == 0 {
					b.generation = 0
				}
				more := randomMembers(chance, m.at(partition).beatLog)
				times := 1
				if chance.Intn(20) == 0 {
					times, forgotten = 60, forgotten+1
				}
				for ; times > 0; times-- {
					r.beat(partition, b, more.text()...)
					m.beat(partition, b, more)
				}
				if m.movedTo(partition) != "" {
					moved++
				}
				if r.MustRestart(partition) && chance.Intn(3) > 0 {
					r.SnapshotsRestart(partition)
					m.restart(partition)
					restarted++
				}
			case 2:
				user := modelUsers[chance.Intn(len(modelUsers))]
				var data []byte
				s := &m.of(user)[partition]
				switch chance.Intn(6) {
				case 0:
					*s = modelSnapshot{}
				case 1:
					data = []byte("SEEN")
					s.refused = true // the one before it stays
				default:
					*s = randomSnapshot(chance, end)
					data = exactSnapshot(s.partition, s.generation, s.offset, s.itemList, s.similarOnes)
				}
				if err := r.TakeSnapshot(partition, user, data); (err != nil) != (string(data) == "SEEN") {
					t.Error(err)
				}
			case 3:
				position := int64(chance.Intn(5))
				r.SnapshotsEnd(partition, position)
				m.at(partition).standsAt = position
				m.settle(partition)
				if chance.Intn(4) == 0 {
					r.SnapshotsRestart(partition)
					m.restart(partition)
				}
			}
			if step%5 == 4 {
				compare(t, r, m)
			}
			if _, asOf := m.fresh(partition); asOf > 0 {
				fresh++
			}
			limited += len(m.at(partition).dropped)
		}
		if t.Failed() {
			t.Errorf("with the seed %d", seed)
		}
	}
	if fresh < 1000 || limited < 1000 || forgotten < 50 || restarted < 100 || moved < 100 {
		t.Errorf("%d steps were fresh, %d additions dropped by the limit, %d times 60 beats, %d restarts, %d times moved: "+
			"the test tries too little", fresh, limited, forgotten, restarted, moved)
	}
}

// TestAReaderOfManyAdditions: chunks are filled and given up, and tables swept.
func TestAReaderOfManyAdditions(t *testing.T) {
	chance := rand.New(rand.NewSource(5))
	for _, additionsMax := range []int{1 << 20, 9_000} {
		r, at := begun(t, additionsMax), int64(100)
		log := &r.additions.logs[0] // positions and numbers of sections wrap soon
		log.begin, log.end, log.firstSection = ^uint32(40_000), ^uint32(40_000), ^uint32(20)
		type seen struct {
			user, item string
			to         int64
		}
		var all []seen
		base, lost := int64(100), 0
		for round := 0; round < 60; round++ {
			u := testUpdate{0, 7, at, at + 10, at, []string{"f"}, []testSection{{mask: 1}}, 0}
			s := &u.sections[0]
			for i := 0; i < 500; i++ {
				e := testEntry{user: fmt.Sprint(chance.Intn(20_000))}
				for n := 1 + chance.Intn(5); n > 0; n-- {
					item := fmt.Sprint(chance.Intn(100))
					e.prints = append(e.prints, FingerprintOf(item))
					all = append(all, seen{e.user, item, u.to})
				}
				s.entries = append(s.entries, e)
			}
			r.take(u)
			if at += 10; round%7 == 6 {
				base = at - 10*int64(chance.Intn(5))
				r.beat(0, testBeat{7, base, 5, -1})
			}
			kept := map[seen]bool{}
			left := all[:0]
			for _, a := range all {
				if a.to > base {
					left = append(left, a)
				}
			}
			all = left
			for len(all) > additionsMax {
				oldest := all[0].to
				for len(all) > 0 && all[0].to == oldest {
					all, lost = all[1:], lost+1
				}
			}
			if r.Additions() != len(all) {
				t.Fatalf("round %d: %d additions, not %d", round, r.Additions(), len(all))
			}
			for _, a := range all {
				if kept[seen{a.user, a.item, 0}] = true; !r.MightContain(a.user, a.item) {
					t.Fatalf("round %d: %v is missing", round, a)
				}
			}
			for i := 0; i < 2000; i++ {
				user, item := fmt.Sprint(chance.Intn(20_000)), fmt.Sprint(chance.Intn(100))
				if r.MightContain(user, item) != kept[seen{user, item, 0}] {
					t.Fatalf("round %d: %s has seen %s: %v", round, user, item, r.MightContain(user, item))
				}
			}
		}
		if r.MemoryBytes() > 4<<20 {
			t.Errorf("%d additions take %d bytes", r.Additions(), r.MemoryBytes())
		}
		if (lost > 0) != (additionsMax == 9_000) {
			t.Errorf("%d were lost", lost)
		}
	}
}
