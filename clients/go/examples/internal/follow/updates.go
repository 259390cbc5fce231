package follow

import (
	"context"
	"log"
	"strconv"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"

	"seen"
)

const askEvery = 200 * time.Millisecond

// Updates follows a filter with updates: the topics of watermarks and of snapshots from the beginning, and that of
// updates from where the newest beats say. Its FilterReader may be asked by any number of goroutines while Run runs.
type Updates struct {
	*seen.FilterReader
	config      Config
	updateTopic string
	client      *kgo.Client
	admin       *kadm.Client

	// Run's:
	next    map[place]int64 // every record below it has been read
	begun   bool            // with the updates
	movedTo string          // the filter's other topic of snapshots that the log names
	refused refusals
}

type place struct {
	topic     string
	partition int32
}

// NewUpdates is one that hasn't begun.
func NewUpdates(config Config, updateTopic string, reader seen.FilterReaderConfig) (*Updates, error) {
	client, err := newClient(config, kgo.FetchMinBytes(1<<20), kgo.FetchMaxWait(10*time.Millisecond))
	if err != nil {
		return nil, err
	}
	reader.SnapshotTopic = config.SnapshotTopic
	return &Updates{FilterReader: seen.NewFilterReader(reader), config: config, updateTopic: updateTopic, client: client,
		admin: kadm.NewClient(client), next: map[place]int64{}}, nil
}

// Run reads until the context ends.
func (u *Updates) Run(ctx context.Context) {
	defer u.client.Close()
	asked, failing := time.Time{}, false
	for poll(ctx, u.client, u.apply) { // each partition has a beat a second
		if time.Since(asked) < askEvery {
			continue
		}
		err := u.ask(ctx)
		if err != nil && !failing {
			log.Printf("the ends of the topics aren't known, so the answers count as stale: %v", err)
		}
		failing, asked = err != nil, time.Now()
	}
}

func (u *Updates) apply(record *kgo.Record) {
	at := place{record.Topic, record.Partition}
	if at.topic == u.config.SnapshotTopic && u.MustRestart(at.partition) {
		return // of the log before: it was fetched before startOver
	}
	if at.topic == u.config.SnapshotTopic && record.Offset < u.next[at] {
		u.SnapshotsRestart(at.partition) // the topic is another one
	}
	u.next[at] = record.Offset + 1
	var err error
	switch {
	case record.Attrs.IsControl():
	case record.Topic == u.config.WatermarkTopic:
		err = u.TakeBeat(record.Key, record.Value)
		u.reportMove(record.Key)
	case record.Topic == u.updateTopic:
		err = u.TakeUpdate(record.Value)
	case record.Value == nil:
		err = u.TakeSnapshot(record.Partition, string(record.Key), nil)
	default:
		// Of its own: the record's value is a piece of all that was fetched with it.
		err = u.TakeSnapshot(record.Partition, string(record.Key), append([]byte{}, record.Value...))
	}
	if err != nil {
		u.refused.report(record, err)
	}
}

// reportMove says once where the filter's snapshots are now. The key is a beat's.
func (u *Updates) reportMove(key []byte) {
	partition, err := strconv.ParseInt(string(key), 10, 32)
	if topic, moved := u.MovedTo(int32(partition)); err == nil && moved && topic != u.movedTo {
		log.Printf("the filter has moved from %s to %s: begin anew with -snapshots %s", u.config.SnapshotTopic, topic, topic)
		u.movedTo = topic
	}
}

// startOver goes to the beginning of the partitions of snapshots in which the reader must start over.
func (u *Updates) startOver(partitions map[int32]kadm.ListedOffset) {
	topic := u.config.SnapshotTopic
	from, must := map[int32]kgo.Offset{}, false
	for partition := range partitions {
		from[partition] = kgo.NewOffset().AtStart()
		if next, read := u.next[place{topic, partition}]; u.MustRestart(partition) {
			must = true
		} else if read {
			from[partition] = kgo.NewOffset().At(next)
		}
	}
	if !must {
		return
	}
	// Of the whole topic: the client reads a topic that was created again only after it has forgotten the one before.
	// With that it also drops what it has fetched.
	u.client.PurgeTopicsFromConsuming(topic)
	for partition := range from {
		if u.MustRestart(partition) {
			delete(u.next, place{topic, partition})
			u.SnapshotsRestart(partition)
		}
	}
	u.client.AddConsumePartitions(map[string]map[int32]kgo.Offset{topic: from})
}

// ask asks where the topics end now. What has been read before the question up to such an end has been read to the end.
func (u *Updates) ask(ctx context.Context) error {
	within, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	starts, err := u.admin.ListStartOffsets(within, u.config.SnapshotTopic, u.config.WatermarkTopic, u.updateTopic)
	if err == nil {
		err = starts.Error()
	}
	var ends kadm.ListedOffsets
	if err == nil {
		ends, err = u.admin.ListEndOffsets(within, u.config.SnapshotTopic, u.config.WatermarkTopic)
	}
	if err == nil {
		err = ends.Error()
	}
	if err != nil {
		return err
	}
	u.startOver(starts[u.config.SnapshotTopic])
	stands := func(end kadm.ListedOffset) bool {
		start, known := starts.Lookup(end.Topic, end.Partition)
		return known && (start.Offset == end.Offset || u.next[place{end.Topic, end.Partition}] == end.Offset)
	}
	if mark, known := ends.Lookup(u.config.WatermarkTopic, 0); !u.begun && known && stands(mark) {
		u.begun = true
		u.begin(starts[u.updateTopic])
	}
	for partition, end := range ends[u.config.SnapshotTopic] {
		if stands(end) {
			u.SnapshotsEnd(partition, end.Offset)
		}
	}
	return nil
}

// begin reads the updates from where the beats say; where that has been deleted, from the beginning.
func (u *Updates) begin(partitions map[int32]kadm.ListedOffset) {
	from := map[int32]kgo.Offset{}
	for partition := range partitions {
		if !u.MustRestart(partition) {
			u.SnapshotsRestart(partition) // it is followed now, and nothing is known of it
		}
		from[partition] = kgo.NewOffset().AtStart()
		if offset, known := u.UpdatesFrom(partition); known {
			from[partition] = kgo.NewOffset().At(offset)
		}
	}
	u.client.AddConsumePartitions(map[string]map[int32]kgo.Offset{u.updateTopic: from})
}
