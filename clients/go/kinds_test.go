package seen

import (
	"fmt"
	"strconv"
	"testing"
	"time"
)

func mustParse(t testing.TB, data []byte) *Snapshot {
	t.Helper()
	s, err := Parse(data)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestEveryKindHoldsWhatWasPutInAndLittleElse(t *testing.T) {
	for _, kind := range allKinds {
		for _, n := range []int{0, 1, 2, 10, 100, 1000} {
			kind, n := kind, n
			t.Run(fmt.Sprintf("%v/%d", kind, n), func(t *testing.T) {
				t.Parallel()
				s := mustParse(t, envelope(kind, n, encode(t, kind, n)))
				if s.Kind() != kind || s.ItemCount() != int64(n) {
					t.Fatalf("%v of %d items", s.Kind(), s.ItemCount())
				}
				for i := 0; i < n; i++ {
					if !s.MightContain(strconv.Itoa(i)) || !s.MightContainInt(int64(i)) || !s.MightContainFingerprint(FingerprintOfInt(int64(i))) {
						t.Fatalf("%d was seen", i)
					}
				}
				const others = 20000
				wrong := 0
				for i := 0; i < others; i++ {
					if s.MightContainInt(int64(-1 - i)) {
						wrong++
					}
				}
				if limit := others / 30; wrong > limit || n == 0 && wrong > 0 {
					t.Errorf("%d false positives of %d", wrong, others)
				}
			})
		}
	}
}

func TestAQuotientFilterIsTheSetOfItsQuotientsAndRemainders(t *testing.T) {
	const r, quotients = 3, 200
	of := func(i int) uint64 {
		hi, _ := hashOf(FingerprintOfInt(int64(i)))
		return hi * quotients >> (32 - r)
	}
	for _, n := range []int{0, 5, 60, 150, 190} {
		set, prints := map[uint64]bool{}, []Fingerprint{}
		for i := 0; i < n; i++ {
			set[of(i)] = true
			prints = append(prints, FingerprintOfInt(int64(i)))
		}
		s := mustParse(t, envelope(Quotient, n, encodeQuotient(prints, r, quotients)))
		for i := 0; i < 10000; i++ {
			if s.MightContainInt(int64(i)) != set[of(i)] {
				t.Fatalf("of %d items: %v of %d", n, !set[of(i)], i)
			}
		}
	}
}

func TestAnIndexedCuckooTellsDayAndRank(t *testing.T) {
	const n = 30 // numbers from 2^32 - 10 on, by ascending fingerprint; day 20381 from there, day 20382 from number 5 on
	s := mustParse(t, envelope(IndexedCuckoo, n, encode(t, IndexedCuckoo, n)))
	byNumber := map[uint32]Entry{}
	for i := 0; i < n; i++ {
		for _, e := range s.Entries(strconv.Itoa(i)) {
			byNumber[e.Number] = e
		}
	}
	if len(byNumber) != n {
		t.Fatalf("%d different numbers of %d items", len(byNumber), n)
	}
	for number, e := range byNumber {
		order := number + 10
		want := Entry{number, true, 20381, order}
		if order >= 15 {
			want = Entry{number, true, 20382, order - 15}
		}
		if e != want {
			t.Errorf("%+v, not %+v", e, want)
		}
	}
	if s.Entries("never") != nil {
		t.Error("details of what was not seen")
	}
	if other := mustParse(t, envelope(Cuckoo, n, encode(t, Cuckoo, n))); other.Entries("1") != nil {
		t.Error("details of a kind that has none")
	}
}

func TestAnIndexedCuckooLeavesOutWhatIsTooOld(t *testing.T) {
	const n, capacity = 30, 12
	payload := encode(t, IndexedCuckoo, n)
	payload[10] = capacity
	s := mustParse(t, envelope(IndexedCuckoo, capacity, payload))
	left := 0
	for i := 0; i < n; i++ {
		if s.MightContainInt(int64(i)) {
			left++
		}
	}
	if left != capacity {
		t.Errorf("%d items, not the newest %d", left, capacity)
	}
	payload[14] = 0 // no days: an entry then has a number alone
	payload = append(payload[:16:16], payload[32:]...)
	s = mustParse(t, envelope(IndexedCuckoo, capacity, payload))
	for i := 0; i < n; i++ {
		for _, e := range s.Entries(strconv.Itoa(i)) {
			if e.Dated || e.Day != 0 || e.Rank != 0 || e.Number == 0 {
				t.Errorf("%+v without a table of days", e)
			}
		}
	}
}

func TestADayChainLeavesOutDays(t *testing.T) {
	const n = 300
	s := mustParse(t, envelope(DayChain, n, encode(t, DayChain, n)))
	days := s.Days()
	if len(days) != 3 || days[0] != (ChainDay{20383, 100, 20383*86400 + 100, 20383*86400 + 200}) {
		t.Fatalf("%+v", days)
	}
	count := func(might func(id string) bool) (held int) {
		for i := 0; i < n; i++ {
			if might(strconv.Itoa(i)) {
				held++
			}
		}
		return held
	}
	about := func(what string, got, want int) {
		t.Helper()
		if got < want || got > want+5 {
			t.Errorf("%s: %d items, not about %d", what, got, want)
		}
	}
	about("all", count(s.MightContain), 300)
	about("since the first day", count(s.Since(20381).MightContain), 300)
	about("since the second", count(s.Since(20382).MightContain), 200)
	about("since the last", count(s.Since(20383).MightContain), 100)
	about("since later", count(s.Since(20384).MightContain), 0)

	at := func(second int64, ms int) int {
		created := time.Unix(second, int64(ms)*1e6)
		return count(func(id string) bool { return s.view().MightContainItem(Item{id, created}) })
	}
	about("created in the last second of the second day", at(20382*86400+200, 999), 200)
	about("created a second after it", at(20382*86400+201, 0), 100)
	about("created after all", at(20383*86400+201, 0), 0)
	about("created in 1970", at(0, 0), 300)
	about("created before", at(-1, 0), 300)
	about("no creation", count(func(id string) bool { return s.view().MightContainItem(Item{ID: id}) }), 300)
	about("both", count(func(id string) bool {
		return s.Since(20382).MightContainItem(Item{id, time.Unix(20381*86400, 0)})
	}), 200)
	if s.Since(20384).RecallSize(0) != 0 || mustParse(t, envelope(Bloom, n, encode(t, Bloom, n))).Days() != nil {
		t.Error("days of another kind")
	}
}
