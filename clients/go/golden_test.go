package seen

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"sort"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/cespare/xxhash/v2"
)

const goldenDir = "../../tests/golden/snapshot"

// goldenSnapshot is a row of index.json; what a row doesn't have isn't checked.
type goldenSnapshot struct {
	File              string
	Format            string
	HeaderBytes       int     `json:"header_bytes"`
	ItemCount         int64   `json:"item_count"`
	AsOfMs            int64   `json:"as_of_ms"`
	HorizonDay        int32   `json:"horizon_day"`
	Partition         int32   `json:"partition"`
	InputOffset       int64   `json:"input_offset"`
	FalsePositiveRate float64 `json:"false_positive_rate"`
	PayloadBytes      int     `json:"payload_bytes"`
	Seen, Unseen      []string
	RecallSize        map[string]int `json:"recall_size"`
	Random            *goldenAnswers

	SeenFingerprints   []Fingerprint `json:"seen_fingerprints"`
	UnseenFingerprints []Fingerprint `json:"unseen_fingerprints"`

	// Of a day chain, with some of its days left out.
	CreatedSecond int64          `json:"created_second"`
	RandomCreated *goldenAnswers `json:"random_created"`
	UnseenCreated []string       `json:"unseen_created"`
	FromDay       int32          `json:"from_day"`
	RandomFrom    *goldenAnswers `json:"random_from"`
	UnseenFrom    []string       `json:"unseen_from"`
	Days          []struct {
		Day        Day
		LastSecond int64 `json:"last_second"`
		Seen       []string
	}

	// Of what is similar.
	SimilarFormat string         `json:"similar_format"`
	SimilarCount  int64          `json:"similar_count"`
	RandomNear    *goldenAnswers `json:"random_near"`
	RandomGroups  *goldenAnswers `json:"random_groups"`
	Near, Groups  []string
	NotNear       []string `json:"not_near"`
	NotGroups     []string `json:"not_groups"`

	// Of an indexed cuckoo filter.
	Entries []struct {
		ID     string
		Number uint32
		Day    *Day
		Rank   uint32
	}
}

// goldenAnswers are those for the 100,000 ids that every reader is asked about.
type goldenAnswers struct {
	Count          int
	MightContain   int    `json:"might_contain"`
	XXH64OfAnswers string `json:"xxh64_of_answers"`
}

type goldenIndex struct {
	Hashes []struct {
		ID          string
		OfID        string `json:"xxh64_of_id"`
		Fingerprint uint32
		OfPrint     string `json:"xxh64_of_fingerprint"`
		Near        uint32 `json:"near_fingerprint"`
		Group       uint32 `json:"group_fingerprint"`
	}
	Snapshots []goldenSnapshot
	Refused   []struct {
		File, Why string
		Step      int
	}
}

func readGoldenIndex(t testing.TB) (index goldenIndex) {
	t.Helper()
	readGoldenJSON(t, "index.json", &index)
	if len(index.Hashes) == 0 || len(index.Snapshots) == 0 || len(index.Refused) == 0 {
		t.Fatal("index.json lists nothing")
	}
	return index
}

func readGoldenJSON(t testing.TB, file string, to interface{}) {
	t.Helper()
	if err := json.Unmarshal(readGolden(t, file), to); err != nil {
		t.Fatal(err)
	}
}

func readGolden(t testing.TB, file string) []byte {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(goldenDir, file))
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func TestHashesAreThoseOfTheSpecification(t *testing.T) {
	for _, want := range readGoldenIndex(t).Hashes {
		f := FingerprintOf(want.ID)
		if got := fmt.Sprintf("%016x", xxhash.Sum64String(want.ID)); got != want.OfID {
			t.Errorf("XXH64 of %q is %s, not %s", want.ID, got, want.OfID)
		}
		if f != Fingerprint(want.Fingerprint) {
			t.Errorf("fingerprint of %q is %d, not %d", want.ID, f, want.Fingerprint)
		}
		if got := fmt.Sprintf("%016x", f.hash()); got != want.OfPrint {
			t.Errorf("hash of the fingerprint of %q is %s, not %s", want.ID, got, want.OfPrint)
		}
		if near, group := f.in(nearDomain), f.in(groupDomain); near != Fingerprint(want.Near) || group != Fingerprint(want.Group) {
			t.Errorf("of %q near is %d and group %d, not %d and %d", want.ID, near, group, want.Near, want.Group)
		}
	}
}

func TestGoldenSnapshots(t *testing.T) {
	for _, want := range readGoldenIndex(t).Snapshots {
		want := want
		t.Run(want.File, func(t *testing.T) {
			t.Parallel()
			s, err := Parse(readGolden(t, want.File))
			if err != nil {
				t.Fatal(err)
			}
			checkMetadata(t, s, want)
			checkAnswers(t, s, want)
			for text, size := range want.RecallSize {
				if wanted, err := strconv.Atoi(text); err != nil || s.RecallSize(wanted) != size {
					t.Errorf("RecallSize(%s) is %d, not %d", text, s.RecallSize(wanted), size)
				}
			}
			checkRandomAnswers(t, "random", want.Random, func(id uint64) bool {
				might := s.MightContainFingerprint(FingerprintOfUint(id))
				if might != s.MightContain(strconv.FormatUint(id, 10)) {
					t.Fatalf("%d as a string and as an integer differ", id)
				}
				return might
			})
			created := time.Unix(want.CreatedSecond, 0)
			checkRandomAnswers(t, "random_created", want.RandomCreated, func(id uint64) bool {
				return s.view().MightContainItem(Item{strconv.FormatUint(id, 10), created})
			})
			since := s.Since(Day(want.FromDay))
			checkRandomAnswers(t, "random_from", want.RandomFrom, func(id uint64) bool {
				return since.MightContainFingerprint(FingerprintOfUint(id))
			})
			checkDays(t, s, want)
			checkEntries(t, s, want)
			checkSimilar(t, s, want)
		})
	}
}

func checkMetadata(t *testing.T, s *Snapshot, want goldenSnapshot) {
	t.Helper()
	got := goldenSnapshot{
		Format: s.Kind().String(), ItemCount: s.ItemCount(), AsOfMs: s.AsOf().UnixMilli(), HorizonDay: int32(s.Horizon()),
		Partition: s.Partition(), InputOffset: s.InputOffset(), FalsePositiveRate: s.FalsePositiveRate(),
		PayloadBytes: s.PayloadBytes(),
	}
	want = goldenSnapshot{
		Format: want.Format, ItemCount: want.ItemCount, AsOfMs: want.AsOfMs, HorizonDay: want.HorizonDay,
		Partition: want.Partition, InputOffset: want.InputOffset, FalsePositiveRate: want.FalsePositiveRate,
		PayloadBytes: want.PayloadBytes,
	}
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("metadata\n%+v, not\n%+v", got, want)
	}
}

func checkAnswers(t *testing.T, s *Snapshot, want goldenSnapshot) {
	t.Helper()
	for _, id := range want.Seen {
		if !s.MightContain(id) {
			t.Errorf("%q was seen", id)
		}
		if number, err := strconv.ParseInt(id, 10, 64); err == nil && strconv.FormatInt(number, 10) == id && !s.MightContainInt(number) {
			t.Errorf("the integer %d was seen", number)
		}
	}
	for _, id := range want.Unseen {
		if s.MightContain(id) {
			t.Errorf("%q was not seen, and is no false positive", id)
		}
	}
	for _, f := range want.SeenFingerprints {
		if !s.MightContainFingerprint(f) {
			t.Errorf("the fingerprint %d is in", f)
		}
	}
	for _, f := range want.UnseenFingerprints {
		if s.MightContainFingerprint(f) {
			t.Errorf("the fingerprint %d is not in", f)
		}
	}
	both := append(append([]string{}, want.Seen...), want.Unseen...)
	if got := s.Unseen(both); fmt.Sprint(got) != fmt.Sprint(want.Unseen) {
		t.Errorf("Unseen gives %d items, not the %d", len(got), len(want.Unseen))
	}
}

func checkRandomAnswers(t *testing.T, name string, want *goldenAnswers, mightContain func(id uint64) bool) {
	t.Helper()
	if want == nil {
		return
	}
	answers, yes := make([]byte, want.Count), 0
	for i := range answers {
		var number [4]byte
		binary.LittleEndian.PutUint32(number[:], uint32(i))
		if mightContain(xxhash.Sum64(number[:])) {
			answers[i] = 1
			yes++
		}
	}
	if hash := fmt.Sprintf("%016x", xxhash.Sum64(answers)); yes != want.MightContain || hash != want.XXH64OfAnswers {
		t.Errorf("%s: %d of %d random ids, answers %s; not %d, %s", name, yes, want.Count, hash, want.MightContain,
			want.XXH64OfAnswers)
	}
}

// checkDays: an item of a day is found by its last second in a window from the day on; what was seen on days that are
// left out is not, but for what index.json doesn't name.
func checkDays(t *testing.T, s *Snapshot, want goldenSnapshot) {
	t.Helper()
	for _, day := range want.Days {
		window, last := s.Since(day.Day), time.Unix(day.LastSecond, 999_999_999)
		for _, id := range day.Seen {
			if !window.MightContainItem(Item{id, last}) {
				t.Errorf("%q was seen on day %v", id, day.Day)
			}
		}
	}
	created, since := time.Unix(want.CreatedSecond, 0), s.Since(Day(want.FromDay))
	for _, id := range want.UnseenCreated {
		if s.view().MightContainItem(Item{id, created}) || len(s.UnseenItems([]Item{{id, created}})) != 1 {
			t.Errorf("%q was seen before second %d only", id, want.CreatedSecond)
		}
	}
	for _, id := range want.UnseenFrom {
		if since.MightContain(id) {
			t.Errorf("%q was seen before day %d only", id, want.FromDay)
		}
	}
}

func checkEntries(t *testing.T, s *Snapshot, want goldenSnapshot) {
	t.Helper()
	listed, found := map[string][]string{}, map[string][]string{}
	for _, entry := range want.Entries {
		e := Entry{Number: entry.Number, Rank: entry.Rank}
		if entry.Day != nil {
			e.Dated, e.Day = true, *entry.Day
		}
		listed[entry.ID] = append(listed[entry.ID], fmt.Sprint(e))
	}
	for id := range listed {
		for _, entry := range s.Entries(id) {
			found[id] = append(found[id], fmt.Sprint(entry))
		}
		sort.Strings(listed[id])
		sort.Strings(found[id])
	}
	if !reflect.DeepEqual(listed, found) {
		t.Errorf("entries\n%v, not\n%v", found, listed)
	}
	for _, id := range want.Unseen {
		if entries := s.Entries(id); len(entries) != 0 {
			t.Errorf("%q is not in, but leads to %v", id, entries)
		}
	}
}

func checkSimilar(t *testing.T, s *Snapshot, want goldenSnapshot) {
	t.Helper()
	if s.HasSimilar() != (want.SimilarFormat != "") || s.SimilarCount() != want.SimilarCount {
		t.Errorf("HasSimilar %v, SimilarCount %d; not of %q, %d", s.HasSimilar(), s.SimilarCount(), want.SimilarFormat,
			want.SimilarCount)
	}
	if want.SimilarFormat == "" {
		if s.MightBeNear("n1") || s.MightHoldGroup("n1") {
			t.Error("something is near, but nothing is said of it")
		}
		return
	}
	if s.SimilarKind().String() != want.SimilarFormat {
		t.Errorf("SimilarKind is %v, not %s", s.SimilarKind(), want.SimilarFormat)
	}
	for _, c := range []struct {
		name string
		ids  []string
		want bool
		ask  func([]string) []bool
		one  func(string) bool
	}{
		{"near", want.Near, true, s.MightBeNearEach, s.MightBeNear},
		{"not_near", want.NotNear, false, s.MightBeNearEach, s.MightBeNear},
		{"groups", want.Groups, true, s.MightHoldGroupEach, s.MightHoldGroup},
		{"not_groups", want.NotGroups, false, s.MightHoldGroupEach, s.MightHoldGroup},
	} {
		for i, answer := range c.ask(c.ids) {
			if answer != c.want || answer != c.one(c.ids[i]) {
				t.Errorf("%s: %q is %v", c.name, c.ids[i], answer)
			}
		}
	}
	checkRandomAnswers(t, "random_near", want.RandomNear, func(id uint64) bool {
		return s.MightBeNearFingerprint(FingerprintOfUint(id))
	})
	checkRandomAnswers(t, "random_groups", want.RandomGroups, func(id uint64) bool {
		return s.MightHoldGroupFingerprint(FingerprintOfUint(id))
	})
}

// stepOf is the step of "What to refuse" that found the error.
func stepOf(err *ParseError) int {
	steps := map[string]int{"magic": 1, "version": 2, "header_bytes": 3, "length": 4, "checksum": 5, "format": 6, "hash": 6,
		"flags": 6, "false_positive_rate": 7, "similar_bytes": 8, "similar_format": 8}
	switch {
	case err.Field == "length" && strings.HasPrefix(err.Problem, "cut off"):
		return 1
	case err.Field == "header_bytes" && strings.Contains(err.Problem, "bit 0 of flags"):
		return 8
	case strings.HasPrefix(strings.TrimPrefix(err.Field, "similar "), "payload"):
		return 9
	}
	return steps[err.Field]
}

func TestGoldenRefused(t *testing.T) {
	for _, row := range readGoldenIndex(t).Refused {
		_, err := Parse(readGolden(t, row.File))
		var parse *ParseError
		if !errors.As(err, &parse) || errors.Is(err, ErrMalformed) == errors.Is(err, ErrUnsupported) {
			t.Errorf("%s (%s): %v", row.File, row.Why, err)
			continue
		}
		if step := stepOf(parse); step != row.Step {
			t.Errorf("%s (%s): refused at step %d, not %d: %v", row.File, row.Why, step, row.Step, err)
		}
		newer := row.Step == 2 || row.Step == 6 || parse.Field == "similar_format"
		if errors.Is(err, ErrUnsupported) != newer {
			t.Errorf("%s (%s): whether a newer reader may read it: %v", row.File, row.Why, err)
		}
	}
}

func TestGoldenWatermarks(t *testing.T) {
	type expected struct {
		Partition int32
		File      string
		AsOfMs    int64 `json:"as_of_ms"`
		StaleByMs int64 `json:"stale_by_ms"`
	}
	var golden struct {
		Cases []struct {
			Note    string
			Records []struct {
				Key, Value *string
				Spaces     int
				Refused    bool
			}
			NowMs                 int64 `json:"now_ms"`
			Watermarks, Snapshots []expected
		}
	}
	readGoldenJSON(t, "watermarks.json", &golden)
	bytesOf := func(text *string, spaces int) []byte {
		if text == nil {
			return nil
		}
		return append(append([]byte{}, *text...), bytes.Repeat([]byte(" "), spaces)...)
	}
	for _, c := range golden.Cases {
		var marks Watermarks
		for _, record := range c.Records {
			key, value := bytesOf(record.Key, 0), bytesOf(record.Value, record.Spaces)
			before := fmt.Sprint(marks.last)
			if err := marks.Apply(key, value); (err != nil) != record.Refused {
				t.Errorf("%s %q %.200q: %v", c.Note, key, value, err)
			} else if err != nil && fmt.Sprint(marks.last) != before {
				t.Errorf("%s %q %.200q: refused, and something has changed", c.Note, key, value)
			}
		}
		now := time.UnixMilli(c.NowMs)
		if len(marks.last) != len(c.Watermarks) {
			t.Errorf("%s: %v", c.Note, marks.last)
		}
		for _, want := range c.Watermarks {
			mark, ok := marks.Last(want.Partition)
			stale := time.Duration(want.StaleByMs) * time.Millisecond
			if !ok || mark.AsOf().UnixMilli() != want.AsOfMs || mark.StaleBy(now) != stale && want.StaleByMs < 1<<43 {
				t.Errorf("%s: partition %d as of %v, stale by %v", c.Note, want.Partition, mark.AsOf(), mark.StaleBy(now))
			}
		}
		for _, want := range c.Snapshots {
			s := mustParse(t, readGolden(t, want.File))
			stale := time.Duration(want.StaleByMs) * time.Millisecond
			if marks.AsOf(s).UnixMilli() != want.AsOfMs || marks.StaleBy(s, now) != stale {
				t.Errorf("%s: %s as of %v, stale by %v", c.Note, want.File, marks.AsOf(s), marks.StaleBy(s, now))
			}
		}
	}
}

func TestGoldenAlsoSeen(t *testing.T) {
	var golden struct {
		Cases []struct {
			Note, File         string
			AlsoSeen           []string `json:"also_seen"`
			Candidates, Unseen []string
			RecallSize         map[string]int `json:"recall_size"`
		}
	}
	readGoldenJSON(t, "also_seen.json", &golden)
	for _, c := range golden.Cases {
		v := mustParse(t, readGolden(t, c.File)).AlsoSeen(c.AlsoSeen...)
		if got := v.Unseen(c.Candidates); !reflect.DeepEqual(got, c.Unseen) {
			t.Errorf("%s: %q, not %q", c.Note, got, c.Unseen)
		}
		for text, size := range c.RecallSize {
			if want, err := strconv.Atoi(text); err != nil || v.RecallSize(want) != size {
				t.Errorf("%s: RecallSize(%s) is %d, not %d", c.Note, text, v.RecallSize(want), size)
			} else if cut := v.Since(math.MaxInt32).AlsoSeen(); cut.RecallSize(want) != size {
				t.Errorf("%s: days that are left out change RecallSize(%s)", c.Note, text)
			}
		}
	}
}
