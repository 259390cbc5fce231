package seen

import (
	"fmt"
	"strconv"
	"sync"
	"testing"
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
