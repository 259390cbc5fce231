package seen

import (
	"encoding/binary"
	"errors"
	"fmt"
	"sort"
	"strings"
	"sync"
	"testing"
	"time"
)

// followed is a FilterReader of the filter "f" whose records are right.
type followed struct {
	*FilterReader
	t testing.TB
}

const testNowMs = 1763700000000

func follow(t testing.TB, additionsMax int) followed {
	return followed{NewFilterReader(FilterReaderConfig{Filter: "f", SnapshotTopic: "here", AdditionsMax: additionsMax,
		Now: func() time.Time { return time.UnixMilli(testNowMs) }}), t}
}

// testBeat is a beat of a partition; what is below 0, and a generation of 0, is left out.
type testBeat struct{ generation, publishedTo, snapshotsTo, updatesFrom int64 }

// beatValue is the beat's record. `more` are members as text.
func beatValue(partition int32, b testBeat, more ...string) []byte {
	value := fmt.Sprintf(`{"version":1,"partition":%d,"partition_time_ms":1,"next_offset":1,"lag_messages":0,`+
		`"unpublished_users":0,"heartbeat_ms":1,"snapshots_to":{"other":1`, partition)
	if b.snapshotsTo >= 0 {
		value += fmt.Sprintf(`,"f":%d`, b.snapshotsTo)
	}
	value += "}"
	if b.generation > 0 {
		value += fmt.Sprintf(`,"generation":%d`, b.generation)
	}
	if b.publishedTo >= 0 {
		value += fmt.Sprintf(`,"published_to":%d`, b.publishedTo)
	}
	if b.updatesFrom >= 0 {
		value += fmt.Sprintf(`,"updates_from":%d`, b.updatesFrom)
	}
	return []byte(strings.Join(append([]string{value}, more...), ",") + "}")
}

func (r followed) beat(partition int32, b testBeat, more ...string) {
	r.t.Helper()
	if err := r.TakeBeat([]byte(fmt.Sprint(partition)), beatValue(partition, b, more...)); err != nil {
		r.t.Fatal(err)
	}
}

// update is one of partition 0: the user has seen the items.
func (r followed) update(generation, from, to, asOf int64, user string, items ...string) {
	r.t.Helper()
	u := testUpdate{0, generation, from, to, asOf, []string{"f"}, nil, 0}
	if len(items) > 0 {
		u.sections = []testSection{{1, 0, 0, []testEntry{{user, printsOf(items...)}}}}
	}
	r.take(u)
}

func (r followed) take(u testUpdate) {
	r.t.Helper()
	if err := r.TakeUpdate(u.bytes()); err != nil {
		r.t.Fatal(err)
	}
}

func (r followed) snapshot(user string, data []byte) {
	r.t.Helper()
	if err := r.TakeSnapshot(0, user, data); err != nil {
		r.t.Fatal(err)
	}
}

// begun is a reader that has a base of generation 7 at the offset 100, as of 1000.
func begun(t testing.TB, additionsMax int) followed {
	r := follow(t, additionsMax)
	r.beat(0, testBeat{7, 100, 5, -1})
	r.SnapshotsEnd(0, 5)
	r.update(7, 90, 100, 1000, "")
	return r
}

// expect checks complete_to and as_of of partition 0 (-1: not known), and the additions.
func (r followed) expect(what string, completeTo, asOf int64, additions int) {
	r.t.Helper()
	is := [3]int64{-1, -1, int64(r.Additions())}
	if offset, known := r.CompleteTo(0); known {
		is[0] = offset
	}
	if at, known := r.AsOf(0); known {
		is[1] = at.UnixMilli()
	}
	if want := [3]int64{completeTo, asOf, int64(additions)}; is != want {
		r.t.Errorf("%s: complete to, as of, additions: %v, not %v", what, is, want)
	}
}

// hasSeen checks which of the items a to e the user has seen.
func (r followed) hasSeen(what, user, items string) {
	r.t.Helper()
	all, seen := strings.Split("a b c d e", " "), ""
	for _, item := range all {
		if r.MightContain(user, item) {
			seen += item
		}
	}
	if seen != items {
		r.t.Errorf("%s: %s has seen %q, not %q", what, user, seen, items)
	}
	if unseen := r.Unseen(user, append(all, all...), nil); len(unseen) != len(all)-len(seen) {
		r.t.Errorf("%s: %s: %q is unseen, and %q seen", what, user, unseen, seen)
	}
}

// exactSnapshot is one of exactly these items, and of these fingerprints of what is similar if there are any, of a
// filter with updates. Generation 0: of a filter without.
func exactSnapshot(partition int32, generation, inputOffset int64, items, similar []Fingerprint) []byte {
	payload := func(prints []Fingerprint) []byte {
		sorted := append([]Fingerprint{}, prints...)
		sort.Slice(sorted, func(i, j int) bool { return sorted[i] < sorted[j] })
		return encodeGolombRice(sorted, 20)
	}
	data := envelope(Fingerprints, len(items), payload(items))
	binary.LittleEndian.PutUint32(data[28:], uint32(partition))
	binary.LittleEndian.PutUint64(data[32:], uint64(inputOffset))
	at := 56
	if len(similar) > 0 {
		data, at = withSimilar(data, Fingerprints, payload(similar)), 72
	}
	if generation != 0 {
		data = append(append(append([]byte{}, data[:at]...), le64(nil, uint64(generation))...), data[at:]...)
		data[7] |= 2
		binary.LittleEndian.PutUint32(data[8:], uint32(at+8))
	}
	return seal(data)
}

func TestOnlyAReaderOfUpdatesTakesTheirSnapshots(t *testing.T) {
	items, similar := printsOf("a", "b"), []Fingerprint{FingerprintOf("x").in(nearDomain)}
	for _, data := range [][]byte{exactSnapshot(3, 1<<40, 100, items, nil), exactSnapshot(3, 1<<40, 100, items, similar)} {
		_, err := Parse(data)
		if !errors.Is(err, ErrUnsupported) ||
			!strings.Contains(err.Error(), "this filter publishes updates; read them as well (FilterReader, schemas/update.md)") {
			t.Errorf("%v", err)
		}
		s, err := parse(data, true)
		if err != nil || s.generation != 1<<40 || !s.MightContain("a") || s.MightContain("c") ||
			s.MightBeNear("x") != s.HasSimilar() {
			t.Errorf("%+v, %v", s, err)
		}
		at := 56
		if s.HasSimilar() {
			at = 72
		}
		for name, c := range map[string]struct {
			field  string
			change func(d []byte) []byte
		}{
			"flags":        {"flags", func(d []byte) []byte { d[7] |= 4; return d }},
			"header_bytes": {"header_bytes", func(d []byte) []byte { d[8] -= 8; return append(d[:at], d[at+8:]...) }},
			"generation 0": {"generation", func(d []byte) []byte { copy(d[at:], make([]byte, 8)); return d }},
			"below 0":      {"generation", func(d []byte) []byte { d[at+7] = 0x80; return d }},
		} {
			_, err := parse(seal(c.change(append([]byte{}, data...))), true)
			var parse *ParseError
			if !errors.As(err, &parse) || parse.Field != c.field {
				t.Errorf("%s: %v", name, err)
			}
		}
	}
}

func TestItIsFreshOnlyAtTheEndOfTheSnapshots(t *testing.T) {
	r := follow(t, 0)
	r.update(7, 90, 120, 1000, "u", "a")
	r.expect("no beat", -1, -1, 1)
	r.SnapshotsEnd(0, 5)
	r.beat(0, testBeat{7, 100, 6, -1})
	r.expect("the snapshots end behind the position", -1, -1, 1)
	r.SnapshotsEnd(0, 6)
	r.expect("the end", 120, 1000, 1)
	r.hasSeen("an addition", "u", "a")
	r.hasSeen("of another user", "v", "")

	r.SnapshotsRestart(0)
	r.beat(0, testBeat{7, 130, 6, -1})
	r.expect("it starts over", -1, -1, 1)
	r.SnapshotsEnd(0, 6)
	r.expect("the base counts", 130, -1, 0)
	r.update(7, 125, 128, 2000, "u", "b")
	r.expect("below the base", 130, -1, 0)
	r.update(7, 128, 130, 3000, "")
	r.expect("a quiet partition", 130, 3000, 0)
}

func TestOnlyTheNewestBeatCounts(t *testing.T) {
	for name, change := range map[string]func(r followed){
		"published_to is taken back":   func(r followed) { r.beat(0, testBeat{7, -1, 5, -1}) },
		"the filter has no valid base": func(r followed) { r.beat(0, testBeat{7, 200, -1, -1}) },
		"another generation":           func(r followed) { r.beat(0, testBeat{8, 200, 6, -1}) },
		"a daemon without updates":     func(r followed) { r.beat(0, testBeat{0, 200, 5, -1}) },
		"a tombstone":                  func(r followed) { _ = r.TakeBeat([]byte("0"), nil) },
	} {
		r := begun(t, 0)
		r.update(7, 110, 150, 2000, "u", "a") // beyond a gap
		r.beat(0, testBeat{7, 120, 6, -1})
		change(r)
		r.SnapshotsEnd(0, 5)
		if offset, known := r.CompleteTo(0); known && offset != 100 || r.Additions() != 1 {
			t.Errorf("%s: an older beat counts: complete to %d, %d additions", name, offset, r.Additions())
		}
		r.beat(0, testBeat{7, 110, 5, -1})
		r.expect(name+", and back", 150, 2000, 1)
	}
}

func TestBeatsThatAreRefused(t *testing.T) {
	good := string(beatValue(0, testBeat{7, 100, 5, 3}, `"snapshots_topic":{"other":"x","f":"here"}`,
		`"snapshots_log":{"other":2,"f":0}`, `"complete_since_ms":{"other":3,"f":9}`))
	for _, c := range []struct{ key, from, to, field string }{
		{"0", `"generation":7`, `"generation":0`, "watermark.generation"},
		{"0", `"generation":7`, `"generation":"7"`, "watermark.generation"},
		{"0", `"published_to":100`, `"published_to":-1`, "watermark.published_to"},
		{"0", `"published_to":100`, `"published_to":1.5`, "watermark.published_to"},
		{"0", `"updates_from":3`, `"updates_from":-3`, "watermark.updates_from"},
		{"0", `{"other":1,"f":5}`, `[5]`, "watermark.snapshots_to"},
		{"0", `"f":5`, `"f":-5`, "watermark.snapshots_to"},
		{"0", `"other":1`, `"other":-1`, "watermark.snapshots_to"},
		{"0", `{"other":"x","f":"here"}`, `"here"`, "watermark.snapshots_topic"},
		{"0", `"f":"here"`, `"f":1`, "watermark.snapshots_topic"},
		{"0", `"other":"x"`, `"other":["x"]`, "watermark.snapshots_topic"},
		{"0", `{"other":2,"f":0}`, `0`, "watermark.snapshots_log"},
		{"0", `"f":0`, `"f":-1`, "watermark.snapshots_log"},
		{"0", `"f":0`, `"f":"0"`, "watermark.snapshots_log"},
		{"0", `"other":2`, `"other":true`, "watermark.snapshots_log"},
		{"0", `{"other":3,"f":9}`, `[9]`, "watermark.complete_since_ms"},
		{"0", `"f":9`, `"f":-9`, "watermark.complete_since_ms"},
		{"0", `"f":9`, `"f":9.5`, "watermark.complete_since_ms"},
		{"0", `"other":3`, `"other":-1`, "watermark.complete_since_ms"},
		{"0", `"heartbeat_ms":1`, `"heartbeat":1`, "watermark.heartbeat_ms"},
		{"1", "", "", "watermark.partition"},
		{"x", "", "", "watermark key"},
	} {
		r := begun(t, 0)
		err := r.TakeBeat([]byte(c.key), []byte(strings.Replace(good, c.from, c.to, 1)))
		var parse *ParseError
		if !errors.As(err, &parse) || parse.Field != c.field {
			t.Errorf("%s: %v", c.to, err)
		}
		r.update(7, 100, 110, 2000, "")
		r.expect(c.to+" changes nothing", 110, 2000, 0)
	}
	r := begun(t, 0)
	if _, known := r.UpdatesFrom(0); known {
		t.Error("the beat doesn't say where to begin")
	}
	if err := r.TakeBeat([]byte("0"), []byte(good)); err != nil {
		t.Fatal(err)
	}
	if from, known := r.UpdatesFrom(0); !known || from != 3 {
		t.Errorf("updates_from is %d, %v", from, known)
	}
}

func TestGapsAndRuns(t *testing.T) {
	r := begun(t, 0)
	r.update(7, 100, 110, 1100, "u", "a")
	r.expect("the next record", 110, 1100, 1)
	r.update(7, 105, 108, 1200, "u", "b")
	r.expect("one that ends before: an old one", 110, 1100, 2)
	r.update(7, 105, 112, 1050, "")
	r.expect("the newest as_of counts", 112, 1050, 2)
	r.update(7, 112, 113, -1, "")
	r.expect("as_of isn't known", 113, 1050, 2)

	r.update(7, 120, 130, 1300, "u", "c")
	r.hasSeen("beyond a gap", "u", "abc")
	r.expect("beyond a gap", 113, 1050, 3)
	r.update(7, 125, 140, 1400, "")
	r.update(7, 114, 119, 1500, "")
	r.expect("the run stays", 113, 1050, 3)
	r.beat(0, testBeat{7, 119, 5, -1})
	r.expect("the base is below the run", 119, 1050, 1)
	r.beat(0, testBeat{7, 121, 5, -1})
	r.expect("joined", 140, 1400, 1)

	r.update(7, 150, 160, 1600, "")
	r.update(7, 145, 150, 1500, "")
	r.beat(0, testBeat{7, 145, 5, -1})
	r.expect("a record that ends where the run begins", 160, 1600, 0)
	r.update(7, 163, 164, 1640, "u", "c")
	r.update(7, 160, 163, 1630, "")
	r.expect("the gap is closed, and the run with it", 164, 1640, 1)

	r.update(7, 170, 180, 1800, "")
	r.update(7, 190, 200, 2000, "")
	r.beat(0, testBeat{7, 175, 5, -1})
	r.expect("a new run took the place of the old one", 175, 1640, 0)
	r.beat(0, testBeat{7, 210, 5, -1})
	r.expect("the run lies below the base", 210, 1640, 0)
	r.update(7, 209, 211, 2100, "")
	r.expect("on", 211, 2100, 0)
}

func TestTheNewestAsOfCountsInARun(t *testing.T) {
	r := begun(t, 0)
	r.update(7, 110, 120, 900, "")
	r.update(7, 120, 130, 800, "")
	r.update(7, 130, 131, -1, "")
	r.update(7, 110, 115, 2000, "")
	r.beat(0, testBeat{7, 110, 5, -1})
	r.expect("that of the run's end, though the reader knew a greater one", 131, 800, 0)
	r.update(7, 140, 150, -1, "")
	r.beat(0, testBeat{7, 140, 5, -1})
	r.expect("it isn't known in the run", 150, 800, 0)
}

func TestItStartsOverInAnotherLog(t *testing.T) {
	log := func(number int) string { return fmt.Sprintf(`"snapshots_log":{"other":9,"f":%d}`, number) }
	for name, begin := range map[string][]string{"0": {log(0)}, "null by filter": {`"snapshots_log":{"f":null}`},
		"null": {`"snapshots_log":null`}, "absent": nil} {
		r := begun(t, 0)
		must := func(what string, want bool) {
			t.Helper()
			if r.MustRestart(0) != want {
				t.Errorf("%s, %s: it must start over is %v", name, what, !want)
			}
		}
		r.beat(0, testBeat{7, 100, 5, -1}, begin...)
		must("the log is 0", false)
		r.update(7, 100, 110, 1100, "u", "a")
		r.beat(0, testBeat{7, 105, 2, -1}, log(3))
		must("another log", true)
		r.SnapshotsEnd(0, 9)
		r.beat(0, testBeat{7, 110, 2, -1}, log(3))
		r.expect("it doesn't settle", 110, 1100, 1)
		r.beat(0, testBeat{0, 110, 2, -1}, log(0))
		must("a beat without generation says nothing of the log", true)
		_ = r.TakeBeat([]byte("0"), nil)
		must("nor does a tombstone", true)
		r.beat(0, testBeat{7, 110, 2, -1}, log(3))
		r.SnapshotsRestart(0)
		must("it has started over", false)
		r.expect("it isn't at the end", -1, -1, 1)
		r.SnapshotsEnd(0, 2)
		r.expect("at the end of the other log", 110, 1100, 0)
		r.beat(0, testBeat{7, 110, 2, -1}, begin...)
		must("back", true)
		r.beat(0, testBeat{7, 110, 2, -1}, log(3))
		must("and on", false)
		r.SnapshotsRestart(0)
		must("it may start over by itself", false)
	}
	r := follow(t, 0)
	if r.MustRestart(0) {
		t.Error("nothing is known of the partition")
	}
	r.SnapshotsRestart(0)
	r.beat(0, testBeat{7, 100, 5, -1}, log(4))
	if r.MustRestart(0) {
		t.Error("the first log is that which it began to read")
	}
}

func TestAFilterMovesToAnotherTopic(t *testing.T) {
	const there = `"snapshots_topic":{"other":"x","f":"there"}`
	r := begun(t, 0)
	expect := func(what, want string) {
		t.Helper()
		if topic, moved := r.MovedTo(0); topic != want || moved != (want != "") {
			t.Errorf("%s: moved to %q, %v", what, topic, moved)
		}
	}
	expect("the beat doesn't say", "")
	r.beat(0, testBeat{7, 110, 5, -1}, `"snapshots_topic":{"other":"there","f":"here"}`)
	expect("the same", "")
	r.expect("the same", 110, 1000, 0)
	r.beat(0, testBeat{7, 120, 5, -1}, there)
	expect("another one", "there")
	r.SnapshotsEnd(0, 9)
	r.expect("it doesn't settle", 110, 1000, 0)
	for _, other := range []string{`"snapshots_topic":null`, `"snapshots_topic":{"f":null}`, `"snapshots_topic":{}`} {
		r.beat(0, testBeat{7, 120, 5, -1}, other)
		expect(other, "")
		r.expect(other, 120, 1000, 0)
	}
	r.beat(0, testBeat{0, -1, -1, -1}, there)
	expect("a beat without generation", "")
	r.beat(0, testBeat{7, 120, 5, -1}, there)
	_ = r.TakeBeat([]byte("0"), nil)
	expect("a tombstone", "")

	r = followed{NewFilterReader(FilterReaderConfig{Filter: "f"}), t}
	expect("nothing is known of the partition", "")
	r.beat(0, testBeat{7, 120, 5, -1}, there)
	r.SnapshotsEnd(0, 5)
	expect("it isn't told its topic", "")
	r.expect("it isn't told its topic", 120, -1, 0)
}

func TestAnIncompleteFilterSaysSinceWhenItIsComplete(t *testing.T) {
	since := func(ms int) string { return fmt.Sprintf(`"complete_since_ms":{"other":99,"f":%d}`, ms) }
	r := begun(t, 0)
	expect := func(what string, want ...int64) { // of the partitions 0 and 1, and of all
		t.Helper()
		var is []int64
		add := func(at time.Time, known bool) {
			if is = append(is, -1); known {
				is[len(is)-1] = at.UnixMilli()
			}
		}
		add(r.CompleteSince(0))
		add(r.CompleteSince(1))
		add(r.LatestCompleteSince())
		if fmt.Sprint(is) != fmt.Sprint(want) {
			t.Errorf("%s: complete since %v, not %v", what, is, want)
		}
	}
	expect("whole", -1, -1, -1)
	r.beat(0, testBeat{7, 100, 5, -1}, since(20))
	expect("one of them", 20, -1, 20)
	r.beat(1, testBeat{7, 100, 5, -1}, since(0))
	expect("the latest", 20, 0, 20)
	r.beat(1, testBeat{7, 100, 5, -1}, since(30))
	expect("the latest is the other one's", 20, 30, 30)
	r.beat(1, testBeat{0, -1, -1, -1}, since(30))
	expect("a beat without generation", 20, -1, 20)
	r.beat(0, testBeat{7, 100, 5, -1}, `"complete_since_ms":{"other":99,"f":null}`)
	expect("null", -1, -1, -1)
	r.beat(0, testBeat{7, 100, 5, -1}, since(40))
	_ = r.TakeBeat([]byte("0"), nil)
	expect("a tombstone", -1, -1, -1)
}

func TestASnapshotTakesTheAdditionsThatItHas(t *testing.T) {
	for name, c := range map[string]struct {
		data []byte
		want string
	}{
		"a tombstone":             {nil, "ab"},
		"up to the first":         {exactSnapshot(0, 7, 110, nil, nil), "b"},
		"up to both":              {exactSnapshot(0, 7, 111, nil, nil), ""},
		"before both":             {exactSnapshot(0, 7, 109, nil, nil), "ab"},
		"of another generation":   {exactSnapshot(0, 8, 111, nil, nil), "ab"},
		"of another partition":    {exactSnapshot(1, 7, 111, nil, nil), "ab"},
		"without a generation":    {exactSnapshot(0, 0, 111, nil, nil), "ab"},
		"what it has":             {exactSnapshot(0, 7, 111, printsOf("c", "d"), nil), "cd"},
		"what it has and is new":  {exactSnapshot(0, 7, 109, printsOf("c", "a"), nil), "abc"},
		"of a filter of the past": {exactSnapshot(0, 6, 200, printsOf("e"), nil), "abe"},
	} {
		for _, order := range []bool{true, false} {
			r := begun(t, 0)
			if order {
				r.snapshot("u", c.data)
			}
			r.update(7, 100, 110, 1100, "u", "a")
			r.update(7, 110, 111, 1200, "u", "b")
			if !order {
				r.snapshot("u", exactSnapshot(0, 7, 105, printsOf("e"), nil))
				r.snapshot("u", c.data)
			}
			r.hasSeen(name, "u", c.want)
		}
	}
}

func TestAUserMayHaveASnapshotInEachPartition(t *testing.T) {
	r := begun(t, 0)
	inOne := func(data []byte) {
		if err := r.TakeSnapshot(1, "u", data); err != nil {
			t.Fatal(err)
		}
	}
	near := []Fingerprint{FingerprintOf("a").in(nearDomain), FingerprintOf("a").in(groupDomain)}
	r.update(7, 100, 110, 1100, "u", "d")
	inOne(exactSnapshot(1, 7, 200, printsOf("a"), near))
	inOne(exactSnapshot(1, 7, 200, printsOf("b"), near))
	r.snapshot("u", exactSnapshot(0, 7, 105, printsOf("c"), nil))
	r.hasSeen("either of them, and the addition", "u", "bcd")
	if !r.MightBeNear("u", "a") || !r.MightHoldGroup("u", "a") || r.MightBeNear("u", "b") {
		t.Error("either of them says what is similar")
	}
	if got := r.Unseen("u", []string{"e", "b", "c", "d", "a", "e"}, []string{"a"}); strings.Join(got, "") != "e" {
		t.Errorf("unseen: %v", got)
	}
	r.snapshot("u", exactSnapshot(0, 7, 110, printsOf("c"), nil))
	r.hasSeen("the addition was taken back", "u", "bc")
	if err := r.TakeSnapshot(0, "u", []byte("SEEN")); err == nil || !r.IsRefused("u") {
		t.Error("the newest of partition 0 is refused")
	}
	inOne(exactSnapshot(1, 7, 201, printsOf("a"), nil))
	if !r.IsRefused("u") {
		t.Error("the newest of partition 0 is still refused")
	}
	r.hasSeen("the one before it stays", "u", "ac")
	r.snapshot("u", nil)
	if r.IsRefused("u") {
		t.Error("a tombstone is a user without a snapshot")
	}
	r.hasSeen("of partition 1, and the addition", "u", "ad")
	inOne(nil)
	r.hasSeen("the addition", "u", "d")
	if r.snapshotBytes != 0 || len(r.users) != 0 {
		t.Errorf("%d bytes and %d users are left", r.snapshotBytes, len(r.users))
	}
}

func TestAUserWhoseSnapshotIsRefusedIsNotFresh(t *testing.T) {
	r := begun(t, 0)
	r.update(7, 100, 110, 1100, "u", "a")
	r.snapshot("u", exactSnapshot(0, 7, 105, printsOf("b"), nil))
	for _, data := range [][]byte{{}, exactSnapshot(0, -1, 105, nil, nil)} {
		if err := r.TakeSnapshot(0, "u", data); !errors.Is(err, ErrMalformed) || !r.IsRefused("u") || r.IsRefused("v") {
			t.Errorf("%v, refused: %v", err, r.IsRefused("u"))
		}
	}
	r.hasSeen("the one before it, and the additions", "u", "ab")
	r.snapshot("u", exactSnapshot(0, 7, 106, printsOf("c"), nil))
	if r.IsRefused("u") {
		t.Error("the next one is right")
	}
	r.hasSeen("the next one", "u", "ac")
	_ = r.TakeSnapshot(0, "u", []byte("SEEN"))
	r.snapshot("u", nil)
	if r.IsRefused("u") {
		t.Error("a tombstone is a user without a snapshot")
	}
	r.hasSeen("a tombstone leaves the additions", "u", "a")
}

func TestAdditionsOfOtherFiltersDontMatter(t *testing.T) {
	r := begun(t, 0)
	r.take(testUpdate{0, 7, 100, 110, 1100, []string{"g"}, []testSection{{1, 0, 0, []testEntry{{"u", printsOf("a")}}}}, 0})
	r.expect("a record that doesn't name it", 100, 1000, 0)
	r.take(testUpdate{0, 7, 100, 110, 1100, []string{"g", "f"}, []testSection{
		{1, 0, 0, []testEntry{{"u", printsOf("a")}}}, {2, 0, 0, []testEntry{{"u", printsOf("b")}}},
		{3, 0, 0, []testEntry{{"u", printsOf("c")}}}}, 0})
	r.expect("a record of both", 110, 1100, 2)
	r.hasSeen("a record of both", "u", "bc")
}

func TestWhatIsSimilarIsAskedApart(t *testing.T) {
	near, group := FingerprintOf("a").in(nearDomain), FingerprintOf("g").in(groupDomain)
	r := begun(t, 0)
	ask := func(what string, want ...bool) {
		t.Helper()
		is := []bool{r.MightBeNear("u", "a"), r.MightBeNear("u", "b"), r.MightHoldGroup("u", "g"), r.MightHoldGroup("u", "a")}
		if fmt.Sprint(is) != fmt.Sprint(want) {
			t.Errorf("%s: near a, near b, group g, group a: %v, not %v", what, is, want)
		}
	}
	ask("nothing", false, false, false, false)
	r.take(testUpdate{0, 7, 100, 110, 1100, []string{"f"}, []testSection{
		{1, 1, 0, []testEntry{{"u", []Fingerprint{near, group}}}}, {1, 0, 0, []testEntry{{"u", []Fingerprint{
			FingerprintOf("b").in(nearDomain), FingerprintOf("e")}}}}}, 0})
	ask("additions", true, false, true, false)
	r.hasSeen("apart from what is similar", "u", "e")
	r.snapshot("u", exactSnapshot(0, 7, 110, nil, nil))
	ask("a snapshot took them", false, false, false, false)
	r.snapshot("u", exactSnapshot(0, 7, 110, nil, []Fingerprint{FingerprintOf("b").in(nearDomain), near}))
	ask("of the snapshot", true, true, false, false)
}

func TestServedItemsEndByTheReadersClock(t *testing.T) {
	now := time.UnixMilli(testNowMs)
	r := begun(t, 0)
	r.config.Now = func() time.Time { return now }
	r.take(testUpdate{0, 7, 100, 110, 1100, []string{"f"}, []testSection{
		{1, 0, testNowMs/1000 + 1, []testEntry{{"u", printsOf("a")}}}, {1, 0, 0, []testEntry{{"u", printsOf("b")}}}}, 0})
	now = now.Add(999 * time.Millisecond)
	r.hasSeen("before its second", "u", "ab")
	now = now.Add(time.Millisecond)
	r.hasSeen("in its second", "u", "b")
	r.expect("it is still held", 110, 1100, 2)
}

func TestGenerations(t *testing.T) {
	r := begun(t, 0)
	r.update(7, 100, 110, 1100, "u", "a")
	r.update(8, 3, 5, 1200, "u", "b") // before the first beat of its generation
	r.hasSeen("of any generation", "u", "ab")
	r.expect("of any generation", 110, 1100, 2)
	r.beat(0, testBeat{8, -1, -1, -1})
	r.expect("nothing is known of it", -1, -1, 2)
	for i := 0; i < 2*beatsUntilForgotten; i++ {
		r.beat(0, testBeat{8, -1, -1, -1})
	}
	r.expect("a past one stays until the next has a base", -1, -1, 2)
	r.beat(0, testBeat{8, 4, 5, -1})
	r.expect("the past is dropped", 5, 1200, 1)
	r.hasSeen("the past is dropped", "u", "b")
	r.update(7, 110, 120, 1300, "u", "c")
	r.expect("a zombie's record", 5, 1200, 1)
	r.beat(0, testBeat{7, -1, -1, -1})
	r.expect("all that was known of it is dropped", -1, -1, 1)
	r.beat(0, testBeat{7, 4, 5, -1})
	r.expect("another generation, with the same base", 4, -1, 0)
}

func TestAGenerationThatNoBeatNamesIsForgotten(t *testing.T) {
	r := begun(t, 0)
	base := testBeat{7, 100, 5, -1}
	r.update(9, 0, 10, 1100, "u", "a")
	for i := 0; i < beatsUntilForgotten-1; i++ {
		r.beat(0, base)
	}
	r.update(9, 10, 20, 1200, "u", "b")
	for i := 0; i < beatsUntilForgotten-1; i++ {
		r.beat(0, base)
	}
	r.expect("59 beats", 100, 1000, 2)
	r.beat(0, base)
	r.expect("60 beats", 100, 1000, 0)
	r.beat(0, testBeat{9, 5, 5, -1})
	r.expect("its run went, too", 5, -1, 0)
}

func TestALimitOfAdditions(t *testing.T) {
	r := begun(t, 3)
	r.update(7, 100, 110, 1100, "u", "a", "b")
	r.update(7, 110, 120, 1200, "v", "c")
	r.expect("as many as there may be", 120, 1200, 3)
	r.update(7, 120, 130, 1300, "u", "d")
	r.expect("the oldest record went", 130, 1000, 2)
	r.hasSeen("the oldest record went", "u", "d")
	r.take(testUpdate{1, 7, 0, 1, 1, []string{"f"}, []testSection{{1, 0, 0, []testEntry{{"w", printsOf("a", "b")}}}}, 0})
	r.expect("those of all partitions count", 130, 1000, 3)
	r.hasSeen("the oldest of all partitions", "v", "")
	r.beat(0, testBeat{7, 110, 5, -1})
	r.expect("the second one is still missing: as fresh as before the first", 130, 1000, 3)
	r.beat(0, testBeat{7, 119, 5, -1})
	r.expect("not yet", 130, 1000, 3)
	r.beat(0, testBeat{7, 120, 5, -1})
	r.expect("the base has what went", 130, 1300, 3)
	r.update(7, 130, 140, 1400, "u", "a", "b", "c", "d")
	r.expect("a record that is too long drops all, and itself", 140, 1200, 0)
}

func TestAnEventOfSeveralRecords(t *testing.T) {
	r := begun(t, 0)
	r.update(7, 100, 105, 1100, "u", "a")
	r.update(7, 105, 105, 1100, "u", "b") // the first part of the event at 105
	r.update(7, 105, 106, 1200, "u", "c")
	r.expect("of the event", 106, 1200, 3)
	r.snapshot("u", exactSnapshot(0, 7, 105, printsOf("a"), nil))
	r.hasSeen("the snapshot hasn't the event", "u", "abc")
	r.beat(0, testBeat{7, 105, 5, -1})
	r.expect("nor has the base", 106, 1200, 2)
	r.snapshot("u", exactSnapshot(0, 7, 106, nil, nil))
	r.hasSeen("the snapshot has it", "u", "")
	r.beat(0, testBeat{7, 106, 5, -1})
	r.expect("the base has it", 106, 1200, 0)
}

func TestAReaderIsAsFreshAsItsOldestPartition(t *testing.T) {
	r := NewFilterReader(FilterReaderConfig{Filter: "f", Partitions: []int32{0, 1}})
	expect := func(what string, want int64) {
		t.Helper()
		if at, known := r.OldestAsOf(); known != (want >= 0) || known && at.UnixMilli() != want {
			t.Errorf("%s: as of %v, %v, not %d", what, at, known, want)
		}
	}
	expect("nothing came", -1)
	for partition, asOf := range []int64{2000, 1000} {
		followed{r, t}.beat(int32(partition), testBeat{7, 100, 0, -1})
		r.SnapshotsEnd(int32(partition), 0)
		expect("one isn't known", -1)
		followed{r, t}.take(testUpdate{int32(partition), 7, 100, 100, asOf, []string{"f"}, nil, 0})
	}
	expect("the oldest", 1000)
	if _, known := r.AsOf(5); known {
		t.Error("nothing is known of partition 5")
	}
}

func TestPartitionsOfOthersDontMatter(t *testing.T) {
	r := followed{NewFilterReader(FilterReaderConfig{Filter: "f", Partitions: []int32{0}}), t}
	r.beat(0, testBeat{7, 100, 0, -1})
	r.SnapshotsEnd(0, 0)
	r.update(7, 100, 100, 1000, "")
	for what, take := range map[string]func(){
		"a beat": func() { r.beat(2, testBeat{7, 100, 0, -1}, `"complete_since_ms":{"f":9}`) },
		"an update": func() {
			r.take(testUpdate{2, 7, 100, 101, 3000, []string{"f"}, []testSection{{1, 0, 0, []testEntry{{"u", printsOf("a")}}}}, 0})
		},
		"a snapshot": func() {
			for _, data := range [][]byte{exactSnapshot(2, 7, 100, printsOf("b"), nil), []byte("?")} {
				if err := r.TakeSnapshot(2, "u", data); err != nil || r.IsRefused("u") {
					t.Error(err)
				}
			}
		},
		"the end":   func() { r.SnapshotsEnd(2, 0) },
		"a restart": func() { r.SnapshotsRestart(2) },
	} {
		take()
		if at, known := r.OldestAsOf(); !known || at.UnixMilli() != 1000 {
			t.Errorf("%s: as of %v, %v", what, at, known)
		}
	}
	if _, known := r.LatestCompleteSince(); known || r.MustRestart(2) {
		t.Error("nothing is known of partition 2")
	}
	r.expect("partition 0", 100, 1000, 0)
	r.hasSeen("nothing of partition 0", "u", "")
}

func TestARefusedUpdateChangesNothing(t *testing.T) {
	r := begun(t, 0)
	data := testUpdate{0, 7, 100, 110, 1100, []string{"f"}, []testSection{{1, 0, 0, []testEntry{{"u", printsOf("a")}}}}, 0}.bytes()
	data[len(data)-1] ^= 1
	if err := r.TakeUpdate(data); !errors.Is(err, ErrMalformed) {
		t.Errorf("%v", err)
	}
	r.expect("refused", 100, 1000, 0)
	r.update(7, 110, 120, 1200, "u", "b")
	r.expect("it becomes a gap", 100, 1000, 1)
	r.beat(0, testBeat{7, 110, 6, -1})
	r.SnapshotsEnd(0, 6)
	r.expect("until a later base", 120, 1200, 1)
}

func TestUnseenOfAReader(t *testing.T) {
	r := begun(t, 0)
	r.snapshot("u", exactSnapshot(0, 7, 100, printsOf("a", "7"), nil))
	r.update(7, 100, 110, 1100, "u", "b")
	candidates := []string{"d", "a", "b", "c", "d", "7", "e"}
	if got := fmt.Sprint(r.Unseen("u", candidates, []string{"c"})); got != "[d e]" {
		t.Errorf("unseen: %s", got)
	}
	if got := fmt.Sprint(r.Unseen("v", candidates, []string{"c"})); got != "[d a b 7 e]" {
		t.Errorf("unseen of one of whom nothing is known: %s", got)
	}
}

func TestAReaderMayBeAskedWhileItReads(t *testing.T) {
	r := begun(t, 1000)
	var asking sync.WaitGroup
	for i := 0; i < 4; i++ {
		asking.Add(1)
		go func() {
			defer asking.Done()
			for n := 0; n < 300; n++ {
				r.MightContain("u", "a")
				r.Unseen("u", []string{"a", "b"}, []string{"c"})
				r.OldestAsOf()
				r.MemoryBytes()
			}
		}()
	}
	for i := int64(0); i < 300; i++ {
		r.update(7, 100+i, 101+i, 1001+i, "u", "a", "b", "c", "d", "e")
		r.snapshot("u", exactSnapshot(0, 7, 100+i, printsOf("a"), nil))
	}
	asking.Wait()
	r.expect("all of them came, and the oldest went", 400, 1000, 1000)
}
