package seen

import (
	"encoding/json"
	"math"
	"strconv"
	"sync"
	"time"
)

// Watermark is how far the stream of one input partition has come, as its daemon says about once a second on the
// topic of watermarks (`watermarks.topic`, by default seen-watermarks).
type Watermark struct {
	Partition        int32
	PartitionTime    time.Time // the greatest Kafka timestamp read
	NextOffset       int64     // every record below it has been read
	LagMessages      int64     // how many are there to read
	UnpublishedUsers int64     // whose snapshot is still to be sent, or acknowledged
	Heartbeat        time.Time // when this was written, by the daemon's clock
}

const watermarkBytesMax = 64 << 10

// ParseWatermark reads the value of a record of the topic of watermarks. Errors are as Parse's.
func ParseWatermark(value []byte) (Watermark, error) {
	if len(value) > watermarkBytesMax {
		return Watermark{}, malformed("watermark", "%d bytes; at most %d", len(value), watermarkBytesMax)
	}
	// A map: a struct's members would be found by names of another case as well.
	var members map[string]json.RawMessage
	if err := json.Unmarshal(value, &members); err != nil {
		return Watermark{}, malformed("watermark", "%v; it is a JSON object", err)
	}
	// The version first, alone: what another one says of the others isn't known.
	if v := string(members["version"]); v != "1" {
		if v == "" {
			return Watermark{}, malformed("watermark.version", "missing")
		}
		return Watermark{}, unsupported("watermark.version", "%.20s; this reader knows 1", v)
	}
	names := [...]string{"partition", "partition_time_ms", "next_offset", "lag_messages", "unpublished_users",
		"heartbeat_ms"}
	var numbers [len(names)]int64
	for i, name := range names {
		text := string(members[name])
		if text == "" || text == "null" {
			return Watermark{}, malformed("watermark."+name, "missing")
		}
		number, err := strconv.ParseInt(text, 10, 64)
		if err != nil {
			return Watermark{}, malformed("watermark."+name, "%.40s; it is an integer of 64 bits", text)
		}
		numbers[i] = number
	}
	if numbers[0] < 0 || numbers[0] > math.MaxInt32 {
		return Watermark{}, malformed("watermark.partition", "%d; it is from 0 to %d", numbers[0], math.MaxInt32)
	}
	return Watermark{
		Partition:        int32(numbers[0]),
		PartitionTime:    time.UnixMilli(numbers[1]).UTC(),
		NextOffset:       numbers[2],
		LagMessages:      numbers[3],
		UnpublishedUsers: numbers[4],
		Heartbeat:        time.UnixMilli(numbers[5]).UTC(),
	}, nil
}

// AsOf: everything up to then has been read. Where nothing is left to read that is the heartbeat's time, however long
// the partition has been quiet.
func (w Watermark) AsOf() time.Time {
	if w.LagMessages == 0 || w.Heartbeat.Before(w.PartitionTime) {
		return w.Heartbeat
	}
	return w.PartitionTime
}

// StaleBy is how long before `now` that was, at least 0. A daemon that has died writes no heartbeats, so it grows.
func (w Watermark) StaleBy(now time.Time) time.Duration { return staleBy(w.AsOf(), now) }

func staleBy(asOf, now time.Time) time.Duration {
	if stale := now.Sub(asOf); stale > 0 {
		return stale
	}
	return 0
}

// Watermarks holds the last watermark of each partition. The zero value is empty and ready; any number of goroutines
// may use it.
type Watermarks struct {
	mu   sync.RWMutex
	last map[int32]Watermark
}

// Apply takes in one record of the topic of watermarks; a nil value forgets the partition. After an error what was
// known is unchanged.
func (w *Watermarks) Apply(key, value []byte) error {
	partition, err := strconv.ParseUint(string(key), 10, 31)
	if err != nil || strconv.FormatUint(partition, 10) != string(key) {
		return malformed("watermark key", "%.20q; it is a partition's number", key)
	}
	if value == nil {
		w.mu.Lock()
		defer w.mu.Unlock()
		delete(w.last, int32(partition))
		return nil
	}
	mark, err := ParseWatermark(value)
	if err != nil {
		return err
	}
	if uint64(mark.Partition) != partition {
		return malformed("watermark.partition", "%d; the key says %d", mark.Partition, partition)
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.last == nil {
		w.last = make(map[int32]Watermark)
	}
	w.last[mark.Partition] = mark
	return nil
}

// Last is the partition's last watermark, and whether there is one.
func (w *Watermarks) Last(partition int32) (Watermark, bool) {
	w.mu.RLock()
	defer w.mu.RUnlock()
	mark, ok := w.last[partition]
	return mark, ok
}

// AsOf is how fresh a snapshot is for who has read its topic to the end: the later of its own time and its partition's
// watermark. A user's own changes take up to the filter's `debounce_ms` longer.
func (w *Watermarks) AsOf(s *Snapshot) time.Time {
	mark, ok := w.Last(s.Partition())
	if asOf := s.AsOf(); !ok || asOf.After(mark.AsOf()) {
		return asOf
	}
	return mark.AsOf()
}

// StaleBy is how long before `now` AsOf is, at least 0.
func (w *Watermarks) StaleBy(s *Snapshot, now time.Time) time.Duration {
	return staleBy(w.AsOf(s), now)
}
