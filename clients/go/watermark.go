package seen

import (
	"encoding/json"
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
	var members struct {
		Version          *int64 `json:"version"`
		Partition        *int32 `json:"partition"`
		PartitionTimeMs  *int64 `json:"partition_time_ms"`
		NextOffset       *int64 `json:"next_offset"`
		LagMessages      *int64 `json:"lag_messages"`
		UnpublishedUsers *int64 `json:"unpublished_users"`
		HeartbeatMs      *int64 `json:"heartbeat_ms"`
	}
	// The version first, alone: what another one says of the others isn't known.
	var version struct {
		Version json.RawMessage `json:"version"`
	}
	if err := json.Unmarshal(value, &version); err != nil {
		return Watermark{}, malformed("watermark", "%v; it is a JSON object", err)
	}
	if v := string(version.Version); v != "1" {
		if v == "" {
			return Watermark{}, malformed("watermark.version", "missing")
		}
		return Watermark{}, unsupported("watermark.version", "%.20s; this reader knows 1", v)
	}
	if err := json.Unmarshal(value, &members); err != nil {
		return Watermark{}, malformed("watermark", "%v", err)
	}
	if members.Partition == nil {
		return Watermark{}, malformed("watermark.partition", "missing")
	}
	if *members.Partition < 0 {
		return Watermark{}, malformed("watermark.partition", "%d; partitions are numbered from 0", *members.Partition)
	}
	numbers := [...]struct {
		name string
		at   *int64
	}{
		{"partition_time_ms", members.PartitionTimeMs}, {"next_offset", members.NextOffset},
		{"lag_messages", members.LagMessages}, {"unpublished_users", members.UnpublishedUsers},
		{"heartbeat_ms", members.HeartbeatMs},
	}
	for _, number := range numbers {
		if number.at == nil {
			return Watermark{}, malformed("watermark."+number.name, "missing")
		}
	}
	return Watermark{
		Partition:        *members.Partition,
		PartitionTime:    time.UnixMilli(*members.PartitionTimeMs).UTC(),
		NextOffset:       *members.NextOffset,
		LagMessages:      *members.LagMessages,
		UnpublishedUsers: *members.UnpublishedUsers,
		Heartbeat:        time.UnixMilli(*members.HeartbeatMs).UTC(),
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
	if err != nil {
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
