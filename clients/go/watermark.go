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
	members, err := watermarkMembers(value)
	if err != nil {
		return Watermark{}, err
	}
	return watermarkOf(members)
}

// watermarkMembers are those of a record of the version that this reader knows.
func watermarkMembers(value []byte) (map[string]json.RawMessage, error) {
	if len(value) > watermarkBytesMax {
		return nil, malformed("watermark", "%d bytes; at most %d", len(value), watermarkBytesMax)
	}
	// A map: a struct's members would be found by names of another case as well.
	var members map[string]json.RawMessage
	if err := json.Unmarshal(value, &members); err != nil {
		return nil, malformed("watermark", "%v; it is a JSON object", err)
	}
	// The version first, alone: what another one says of the others isn't known.
	if v := string(members["version"]); v != "1" {
		if v == "" {
			return nil, malformed("watermark.version", "missing")
		}
		return nil, unsupported("watermark.version", "%.20s; this reader knows 1", v)
	}
	return members, nil
}

// watermarkNumber is an integer of 64 bits, and whether it is there.
func watermarkNumber(members map[string]json.RawMessage, name string) (number int64, there bool, err error) {
	text := string(members[name])
	if text == "" || text == "null" {
		return 0, false, nil
	}
	if number, err = strconv.ParseInt(text, 10, 64); err != nil {
		return 0, true, malformed("watermark."+name, "%.40s; it is an integer of 64 bits", text)
	}
	return number, true, nil
}

func watermarkOf(members map[string]json.RawMessage) (Watermark, error) {
	names := [...]string{"partition", "partition_time_ms", "next_offset", "lag_messages", "unpublished_users",
		"heartbeat_ms"}
	var numbers [len(names)]int64
	for i, name := range names {
		number, there, err := watermarkNumber(members, name)
		if err != nil {
			return Watermark{}, err
		}
		if !there {
			return Watermark{}, malformed("watermark."+name, "missing")
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
	partition, mark, _, err := parseWatermarkRecord(key, value)
	if err != nil {
		return err
	}
	if value == nil {
		w.mu.Lock()
		defer w.mu.Unlock()
		delete(w.last, partition)
		return nil
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.last == nil {
		w.last = make(map[int32]Watermark)
	}
	w.last[mark.Partition] = mark
	return nil
}

// parseWatermarkRecord checks a record, whose value may be nil, and gives all of its members besides.
func parseWatermarkRecord(key, value []byte) (partition int32, mark Watermark, members map[string]json.RawMessage, err error) {
	number, err := strconv.ParseUint(string(key), 10, 31)
	if err != nil || strconv.FormatUint(number, 10) != string(key) {
		return 0, mark, nil, malformed("watermark key", "%.20q; it is a partition's number", key)
	}
	if value == nil {
		return int32(number), mark, nil, nil
	}
	if members, err = watermarkMembers(value); err != nil {
		return 0, mark, nil, err
	}
	if mark, err = watermarkOf(members); err == nil && uint64(mark.Partition) != number {
		err = malformed("watermark.partition", "%d; the key says %d", mark.Partition, number)
	}
	return int32(number), mark, members, err
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
