package seen

import (
	"math"
	"reflect"
	"testing"
	"time"
)

func TestUnseenKeepsTheOrderAndNamesEachOnce(t *testing.T) {
	s := mustParse(t, readGolden(t, "one.bin"))
	for _, c := range []struct{ items, want []string }{
		{nil, []string{}},
		{[]string{"n1"}, []string{}},
		{[]string{"n1", "n2", "n1", "7"}, []string{"n2", "7"}},
		{[]string{"n4", "n2", "n4", "n3", "n2"}, []string{"n4", "n2", "n3"}},
		{[]string{"", "n1", ""}, []string{""}},
	} {
		before := append([]string{}, c.items...)
		if got := s.Unseen(c.items); !reflect.DeepEqual(got, c.want) {
			t.Errorf("of %q: %q, not %q", c.items, got, c.want)
		}
		if len(c.items) > 0 && !reflect.DeepEqual(c.items, before) {
			t.Errorf("%q became %q", before, c.items)
		}
	}
}

func TestAlsoSeen(t *testing.T) {
	s := mustParse(t, readGolden(t, "one.bin"))
	v := s.AlsoSeen("n2", "n9", "n2", "42")
	if got := v.Unseen([]string{"n1", "n2", "n3", "n9"}); !reflect.DeepEqual(got, []string{"n3"}) {
		t.Errorf("%q", got)
	}
	if !v.MightContainInt(42) || v.MightContainInt(43) || !v.MightContain("n9") || !v.MightContain("n1") {
		t.Error("42, n9 or n1 isn't seen, or 43 is")
	}
	if v.MightContainFingerprint(FingerprintOf("n9")) || !v.MightContainFingerprint(FingerprintOf("n1")) {
		t.Error("a fingerprint goes by the snapshot alone")
	}
	if s.MightContain("n2") || !v.AlsoSeen("n3").MightContain("n2") || v.MightContain("n3") {
		t.Error("a view changed another")
	}
	if !v.Since(20000).MightContain("n9") {
		t.Error("Since forgot what was also seen")
	}
	if !v.MightContainItem(Item{"n2", time.Now()}) {
		t.Error("what was also seen doesn't go by days")
	}
}

func TestUnseenItemsGoByTheLatestCreation(t *testing.T) {
	s := mustParse(t, envelope(DayChain, 1, encode(t, DayChain, 1))) // the item 0, on the newest day
	early, late := time.Unix(20383*86400, 0), time.Unix(20384*86400, 0)
	for _, c := range []struct {
		items []Item
		want  []string
	}{
		{[]Item{{"0", time.Time{}}, {"a", late}}, []string{"a"}},
		{[]Item{{"0", early}}, []string{}},
		{[]Item{{"0", late}}, []string{"0"}},
		{[]Item{{"0", early}, {"a", early}, {"0", late}}, []string{"0", "a"}},
		{[]Item{{"0", late}, {"a", early}, {"0", time.Time{}}}, []string{"0", "a"}},
	} {
		if got := s.UnseenItems(c.items); !reflect.DeepEqual(got, c.want) {
			t.Errorf("of %v: %q, not %q", c.items, got, c.want)
		}
	}
}

func TestRecallSize(t *testing.T) {
	s := mustParse(t, readGolden(t, "ten.bin")) // 10 items at 1%
	for want, size := range map[int]int{-1: 0, 0: 0, 1: 10 + 2, 100: 10 + 105, 1000: 10 + 1020, 1e9: 10 + 1010110593} {
		if got := s.RecallSize(want); got != size {
			t.Errorf("for %d: %d, not %d", want, got, size)
		}
	}
	if got := s.AlsoSeen("n1", "n2", "x", "y", "x").RecallSize(100); got != 10+2+105 {
		t.Errorf("%d: of the also seen only what the snapshot doesn't hold counts, once", got)
	}
	if s.RecallSize(math.MaxInt) != math.MaxInt {
		t.Error("beyond what an int holds")
	}
}

func TestEmpty(t *testing.T) {
	s := Empty(7)
	if s.MightContain("n1") || s.MightContainInt(1) || s.ItemCount() != 0 || s.Kind().String() != "empty" {
		t.Error("something is in it")
	}
	if s.Partition() != 7 || !s.AsOf().IsZero() || s.RecallSize(5) != 5 {
		t.Error(s.Partition(), s.AsOf(), s.RecallSize(5))
	}
	if got := s.AlsoSeen("n2").Unseen([]string{"n1", "n2"}); !reflect.DeepEqual(got, []string{"n1"}) {
		t.Errorf("%q", got)
	}
}

func TestDay(t *testing.T) {
	for _, c := range []struct {
		second int64
		day    Day
		text   string
	}{
		{0, 0, "1970-01-01"}, {86399, 0, "1970-01-01"}, {86400, 1, "1970-01-02"}, {-1, -1, "1969-12-31"},
		{-86400, -1, "1969-12-31"}, {-86401, -2, "1969-12-30"}, {1763700000, 20413, "2025-11-21"},
	} {
		day := DayOf(time.Unix(c.second, 999).In(time.FixedZone("east", 9*3600)))
		if day != c.day || day.String() != c.text || DayOf(day.Time()) != day {
			t.Errorf("%d: day %d, %v; not %d, %s", c.second, day, day, c.day, c.text)
		}
	}
	if Day(20413).AddDays(-30) != 20383 {
		t.Error("AddDays")
	}
}
