package follow

import (
	"testing"
	"time"
)

func TestAPartitionIsCompleteAsOfWhenItsEndWasAskedFor(t *testing.T) {
	var p progress
	second := func(s int64) time.Time { return time.Unix(s, 0) }
	expect := func(what string, want time.Time) {
		t.Helper()
		if got := p.completeAt(3); !got.Equal(want) {
			t.Errorf("%s: complete as of %v, not %v", what, got, want)
		}
	}
	expect("nothing is known", time.Time{})
	p.read(3, 5)
	expect("its end isn't known", time.Time{})
	p.wanted(3, 10, second(1))
	p.read(3, 9)
	expect("one is left", time.Time{})
	p.wanted(3, 100, second(2)) // a busy partition: its end moves on
	p.read(3, 10)
	expect("read up to the first end", second(1))
	p.wanted(3, 10, second(3))
	expect("already there", second(3))
	p.wanted(4, 0, second(4))
	if !p.completeAt(4).Equal(second(4)) {
		t.Error("an empty partition is complete at once")
	}
}
