package seen

import (
	"fmt"
	"strconv"
	"sync"
	"testing"
	"time"
)

func TestALookUpAllocatesNothing(t *testing.T) {
	for _, kind := range allKinds {
		s := mustParse(t, envelope(kind, 100, encode(t, kind, 100)))
		v := s.Since(1).AlsoSeen("n9", "n10")
		allocated := testing.AllocsPerRun(100, func() {
			s.MightContain("an id that is longer than 32 bytes, so that all of the hash is used")
			s.MightContain("7")
			s.MightContainInt(-9007199254740993)
			s.MightContainFingerprint(17)
			v.MightContain("n9")
			v.MightContainInt(8)
			v.MightContainItem(Item{ID: "7"})
		})
		if allocated != 0 {
			t.Errorf("%v: %v allocations", kind, allocated)
		}
	}
}

func TestManyGoroutinesAskAtOnce(t *testing.T) {
	var snapshots []*Snapshot
	for _, kind := range allKinds {
		snapshots = append(snapshots, mustParse(t, envelope(kind, 100, encode(t, kind, 100))))
	}
	var marks Watermarks
	var asking sync.WaitGroup
	for g := 0; g < 4; g++ {
		asking.Add(1)
		go func() {
			defer asking.Done()
			for i := 0; i < 100; i++ {
				for _, s := range snapshots {
					if !s.MightContainInt(int64(i)) || !s.AlsoSeen("x").MightContain("x") {
						t.Errorf("%v: %d was seen", s.Kind(), i)
					}
					marks.AsOf(s)
				}
				if err := marks.Apply([]byte("3"), watermark(int64(i), 1)); err != nil {
					t.Error(err)
				}
			}
		}()
	}
	asking.Wait()
}

func BenchmarkMightContain(b *testing.B) {
	ids := make([]string, 4096)
	for i := range ids {
		ids[i] = "item-" + strconv.Itoa(i)
	}
	for _, kind := range allKinds {
		s := mustParse(b, envelope(kind, 3000, encode(b, kind, 3000)))
		b.Run(fmt.Sprintf("%v/3000", kind), func(b *testing.B) {
			b.ReportAllocs()
			for i := 0; i < b.N; i++ {
				s.MightContain(ids[i%len(ids)])
			}
		})
	}
}

func BenchmarkUnseen2000(b *testing.B) {
	ids := make([]string, 2000)
	for i := range ids {
		ids[i] = strconv.Itoa(2000 + i)
	}
	for _, kind := range []Kind{SplitBlockBloom, Cuckoo, Fingerprints} {
		s := mustParse(b, envelope(kind, 3000, encode(b, kind, 3000)))
		b.Run(kind.String(), func(b *testing.B) {
			b.ReportAllocs()
			for i := 0; i < b.N; i++ {
				s.Unseen(ids)
			}
		})
	}
}

func BenchmarkParse(b *testing.B) {
	for _, kind := range allKinds {
		data := envelope(kind, 3000, encode(b, kind, 3000))
		b.Run(fmt.Sprintf("%v/3000", kind), func(b *testing.B) {
			b.ReportAllocs()
			for i := 0; i < b.N; i++ {
				mustParse(b, data)
			}
		})
	}
}

// manyUpdates are records one after the other, each of so many events of so many items, of so many users.
func manyUpdates(records, events, items, users int) (data [][]byte) {
	random := uint64(1)
	next := func() uint64 { random = random*6364136223846793005 + 1442695040888963407; return random >> 33 }
	for i := 0; i < records; i++ {
		s := testSection{mask: 1}
		for n := 0; n < events; n++ {
			e := testEntry{user: strconv.FormatUint(next()%uint64(users), 10)}
			for len(e.prints) < items {
				e.prints = append(e.prints, Fingerprint(next()))
			}
			s.entries = append(s.entries, e)
		}
		data = append(data, testUpdate{0, 7, int64(100 + i), int64(101 + i), 1, []string{"f"}, []testSection{s}, 0}.bytes())
	}
	return data
}

// BenchmarkTakeUpdate: the time of an addition and its memory, where as many are held as there may be.
func BenchmarkTakeUpdate(b *testing.B) {
	const events, additionsMax = 2000, 5_000_000
	for _, c := range []struct{ items, users int }{{1, 100_000}, {1, 2_000_000}, {10, 2_000_000}} {
		records := manyUpdates(additionsMax/events/c.items, events, c.items, c.users)
		b.Run(fmt.Sprintf("items=%d/users=%d", c.items, c.users), func(b *testing.B) {
			r, begin := begun(b, additionsMax), time.Time{}
			for i := 0; i < b.N+len(records); i++ {
				if i == len(records) { // it is full
					begin = time.Now()
					b.ResetTimer()
				}
				if err := r.TakeUpdate(records[i%len(records)]); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(b.N*events*c.items)/time.Since(begin).Seconds(), "additions/s")
			b.ReportMetric(float64(r.MemoryBytes())/float64(r.Additions()), "bytes/addition")
		})
	}
}

// BenchmarkReaderUnseen500: of a user with a snapshot of 3,000 items and so many additions.
func BenchmarkReaderUnseen500(b *testing.B) {
	ids := make([]string, 500)
	for i := range ids {
		ids[i] = strconv.Itoa(2000 + i*3)
	}
	for _, additions := range []int{0, 20, 200} {
		r := begun(b, 0)
		r.snapshot("u", envelope(SplitBlockBloom, 3000, encode(b, SplitBlockBloom, 3000)))
		for i := 0; i < additions; i++ {
			r.update(7, int64(100+i), int64(101+i), 1, "u", strconv.Itoa(10_000+i))
		}
		b.Run(fmt.Sprintf("additions=%d", additions), func(b *testing.B) {
			b.ReportAllocs()
			for i := 0; i < b.N; i++ {
				r.Unseen("u", ids, nil)
			}
		})
	}
}

func TestALookUpOfAReaderAllocatesNothing(t *testing.T) {
	r := begun(t, 0)
	r.snapshot("u", exactSnapshot(0, 7, 100, printsOf("a"), nil))
	r.update(7, 100, 110, 1100, "u", "b", "c")
	allocated := testing.AllocsPerRun(100, func() {
		r.MightContain("u", "b")
		r.MightContain("u", "an id that is longer than 32 bytes, so that all of the hash is used")
		r.MightBeNear("v", "b")
		r.MightHoldGroup("u", "b")
		r.AsOf(0)
	})
	if allocated != 0 {
		t.Errorf("%v allocations", allocated)
	}
}
