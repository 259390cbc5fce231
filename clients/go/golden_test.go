package seen

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strconv"
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

	// Of a day chain, with some of its days left out.
	CreatedSecond int64          `json:"created_second"`
	RandomCreated *goldenAnswers `json:"random_created"`
	FromDay       int32          `json:"from_day"`
	RandomFrom    *goldenAnswers `json:"random_from"`

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
		Day    Day
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
	Refused   []struct{ File, Why string }
}

func readGoldenIndex(t testing.TB) (index goldenIndex) {
	t.Helper()
	if err := json.Unmarshal(readGolden(t, "index.json"), &index); err != nil {
		t.Fatal(err)
	}
	if len(index.Hashes) == 0 || len(index.Snapshots) == 0 || len(index.Refused) == 0 {
		t.Fatal("index.json lists nothing")
	}
	return index
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

func checkEntries(t *testing.T, s *Snapshot, want goldenSnapshot) {
	t.Helper()
	listed, found := map[string]map[Entry]bool{}, map[string]map[Entry]bool{}
	for _, entry := range want.Entries {
		if listed[entry.ID] == nil {
			listed[entry.ID], found[entry.ID] = map[Entry]bool{}, map[Entry]bool{}
		}
		listed[entry.ID][Entry{entry.Number, true, entry.Day, entry.Rank}] = true
	}
	for id := range listed {
		for _, entry := range s.Entries(id) {
			found[id][entry] = true
		}
	}
	if !reflect.DeepEqual(listed, found) {
		t.Errorf("entries\n%v, not\n%v", found, listed)
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

func TestGoldenRefused(t *testing.T) {
	for _, row := range readGoldenIndex(t).Refused {
		_, err := Parse(readGolden(t, row.File))
		var parse *ParseError
		if !errors.As(err, &parse) || errors.Is(err, ErrMalformed) == errors.Is(err, ErrUnsupported) {
			t.Errorf("%s (%s): %v", row.File, row.Why, err)
			continue
		}
		t.Logf("%s (%s): %v", row.File, row.Why, err)
	}
}
