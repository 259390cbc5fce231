package seen

import (
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"
	"time"
)

const heartbeat = int64(1763700010000)

// watermark is a record's value: partition 3 of one.bin, which is of 1763700000123.
func watermark(timeMs, lag int64) []byte {
	return []byte(fmt.Sprintf(`{"version":1,"partition":3,"partition_time_ms":%d,"next_offset":100,"lag_messages":%d,`+
		`"unpublished_users":0,"heartbeat_ms":%d,"later":{"version":2}}`, timeMs, lag, heartbeat))
}

func TestWatermarksTellStaleFromQuiet(t *testing.T) {
	s := mustParse(t, readGolden(t, "one.bin"))
	for _, c := range []struct {
		name        string
		timeMs, lag int64
		wantMs      int64
	}{
		{"quiet: nothing is left to read", 1763600000000, 0, heartbeat},
		{"behind, but further than the snapshot", 1763700005000, 9, 1763700005000},
		{"behind, the snapshot is later", 1763699999999, 9, 1763700000123},
		{"timestamps ahead of the daemon's clock", heartbeat + 5000, 9, heartbeat},
	} {
		var marks Watermarks
		if err := marks.Apply([]byte("3"), watermark(c.timeMs, c.lag)); err != nil {
			t.Fatal(c.name, err)
		}
		if got := marks.AsOf(s).UnixMilli(); got != c.wantMs {
			t.Errorf("%s: as of %d, not %d", c.name, got, c.wantMs)
		}
		now := time.UnixMilli(c.wantMs + 2500)
		if got := marks.StaleBy(s, now); got != 2500*time.Millisecond {
			t.Errorf("%s: stale by %v", c.name, got)
		}
		if got := marks.StaleBy(s, now.Add(-time.Hour)); got != 0 {
			t.Errorf("%s: stale by %v an hour before", c.name, got)
		}
	}
}

func TestTimesAtTheEndsOfTime(t *testing.T) {
	for _, timeMs := range []int64{math.MinInt64, math.MaxInt64} {
		mark, err := ParseWatermark(watermark(timeMs, 1))
		if err != nil {
			t.Fatal(err)
		}
		if stale := mark.StaleBy(time.UnixMilli(heartbeat)); stale != 0 && stale != math.MaxInt64 {
			t.Errorf("of %d: stale by %v", timeMs, stale)
		}
	}
}

func TestWatermarksAreByPartition(t *testing.T) {
	var marks Watermarks
	if err := marks.Apply([]byte("3"), watermark(1, 0)); err != nil {
		t.Fatal(err)
	}
	if mark, ok := marks.Last(3); !ok || mark.NextOffset != 100 || mark.AsOf().UnixMilli() != heartbeat {
		t.Errorf("%+v", mark)
	}
	if _, ok := marks.Last(4); ok || !marks.AsOf(Empty(4)).IsZero() {
		t.Error("another partition's")
	}
	if got := marks.AsOf(Empty(3)).UnixMilli(); got != heartbeat {
		t.Errorf("a user of whom nothing is known: as of %d", got)
	}
	if err := marks.Apply([]byte("3"), nil); err != nil {
		t.Fatal(err)
	}
	if _, ok := marks.Last(3); ok {
		t.Error("a tombstone forgets")
	}
}

func TestWatermarksThatAreRefused(t *testing.T) {
	good := string(watermark(1, 0))
	for _, c := range []struct {
		key, value, names string
		reason            error
	}{
		{"3", strings.Replace(good, `"version":1`, `"version":2`, 1), "version: 2", ErrUnsupported},
		{"3", strings.Replace(good, `"version":1`, `"version":"1"`, 1), "version", ErrUnsupported},
		{"3", strings.Replace(good, `"version":1,`, ``, 1), "version: missing", ErrMalformed},
		{"3", strings.Replace(good, `"lag_messages":0,`, ``, 1), "lag_messages: missing", ErrMalformed},
		{"3", strings.Replace(good, `"lag_messages":0`, `"lag_messages":null`, 1), "lag_messages: missing", ErrMalformed},
		{"3", strings.Replace(good, `"lag_messages":0`, `"lag_messages":"0"`, 1), "lag_messages", ErrMalformed},
		{"3", strings.Replace(good, `"heartbeat_ms"`, `"heartbeat"`, 1), "heartbeat_ms: missing", ErrMalformed},
		{"3", strings.Replace(good, `"partition":3`, `"partition":3000000000`, 1), "partition", ErrMalformed},
		{"4", good, "partition: 3; the key says 4", ErrMalformed},
		{"x", good, "key", ErrMalformed},
		{"", good, "key", ErrMalformed},
		{"-3", strings.Replace(good, `"partition":3`, `"partition":-3`, 1), "key", ErrMalformed},
		{"3", strings.Replace(good, `"partition":3`, `"partition":-3`, 1), "partition: -3", ErrMalformed},
		{"3", good + strings.Repeat(" ", watermarkBytesMax), "bytes", ErrMalformed},
		{"3", "", "JSON", ErrMalformed},
		{"3", "null", "version: missing", ErrMalformed},
		{"3", "[1]", "JSON", ErrMalformed},
	} {
		var marks Watermarks
		if err := marks.Apply([]byte("3"), []byte(good)); err != nil {
			t.Fatal(err)
		}
		err := marks.Apply([]byte(c.key), []byte(c.value))
		if !errors.Is(err, c.reason) || !strings.Contains(err.Error(), c.names) {
			t.Errorf("%s: %v", c.value, err)
		}
		if _, ok := marks.Last(3); !ok {
			t.Error("the last one is forgotten")
		}
	}
}

// The values are those of kafka-clients' own Utils.murmur2.
func TestPartitionsAreThoseOfJavasClients(t *testing.T) {
	for key, want := range map[string]int32{
		"21": -973932308, "foobar": -790332482, "a-little-bit-long-string": -985981536,
		"a-little-bit-longer-string":                       -1486304829,
		"lkjh234lh9fiuh90y23oiuhsafujhadof229phr9h19h89h8": -58897971,
		"abc": 479470107,
	} {
		hash := murmur2([]byte(key))
		if int32(hash) != want {
			t.Errorf("murmur2 of %q is %d, not %d", key, int32(hash), want)
		}
		if got := PartitionOf([]byte(key), 12); got != int32(hash&0x7fffffff)%12 || got < 0 {
			t.Errorf("partition of %q is %d", key, got)
		}
	}
	if PartitionOf(nil, 1) != 0 {
		t.Error("an empty key")
	}
}
