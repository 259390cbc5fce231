package follow

import (
	"context"
	"errors"
	"log"
	"strconv"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kerr"
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
	client      consumer
	admin       admin

	// Run's:
	next      map[place]int64 // every record below it has been read
	begun     bool            // with the updates
	recreated map[string]bool // topics that the client doesn't read on
	again     map[int32]bool  // partitions of the snapshots that lack a record, until they are read from the beginning
	ends      map[int32]int64 // found in the snapshots, and reached. They count once the beats are read up to marksTo
	marksTo   map[int32]int64 // where the watermarks ended after that; nil: not known
	movedTo   string          // the filter's other topic of snapshots that the log names
	refused   refusals
}

type place struct {
	topic     string
	partition int32
}

// A consumer is a *kgo.Client, and admin a *kadm.Client.
type consumer interface {
	poller
	PurgeTopicsFromConsuming(topics ...string)
	AddConsumePartitions(partitions map[string]map[int32]kgo.Offset)
	Close()
}

type admin interface {
	ListTopics(ctx context.Context, topics ...string) (kadm.TopicDetails, error)
	ListStartOffsets(ctx context.Context, topics ...string) (kadm.ListedOffsets, error)
	ListEndOffsets(ctx context.Context, topics ...string) (kadm.ListedOffsets, error)
}

// NewUpdates is one that hasn't begun.
func NewUpdates(config Config, updateTopic string, reader seen.FilterReaderConfig) (*Updates, error) {
	client, err := newClient(config, kgo.FetchMinBytes(1<<20), kgo.FetchMaxWait(10*time.Millisecond),
		kgo.KeepRetryableFetchErrors()) // only they say that a topic was created again
	if err != nil {
		return nil, err
	}
	return newUpdates(config, updateTopic, reader, client, kadm.NewClient(client)), nil
}

func newUpdates(config Config, updateTopic string, reader seen.FilterReaderConfig, client consumer,
	admin admin) *Updates {
	reader.SnapshotTopic = config.SnapshotTopic
	return &Updates{FilterReader: seen.NewFilterReader(reader), config: config, updateTopic: updateTopic, client: client,
		admin: admin, next: map[place]int64{}, recreated: map[string]bool{}, again: map[int32]bool{}}
}

// Run reads until the context ends.
func (u *Updates) Run(ctx context.Context) {
	defer u.client.Close()
	asked, failing := time.Time{}, false
	for poll(ctx, u.client, askEvery, u.fail, u.apply) {
		if time.Since(asked) < askEvery {
			continue
		}
		err := u.ask(ctx)
		if err != nil && !failing {
			log.Printf("some ends of the topics aren't known, so the answers count as stale: %v", err)
		}
		failing, asked = err != nil, time.Now()
	}
}

// fail takes in an error of reading. It comes again and again until the cause is gone.
func (u *Updates) fail(topic string, partition int32, err error) {
	switch {
	case errors.Is(err, kerr.UnknownTopicID), errors.Is(err, kerr.InconsistentTopicID):
		if !u.recreated[topic] {
			log.Printf("%s was created again, so it is read from the beginning", topic)
		}
		u.recreated[topic] = true
	case !kerr.IsRetriable(err):
		reportError(topic, partition, err)
	}
}

func (u *Updates) apply(record *kgo.Record) {
	at := place{record.Topic, record.Partition}
	isBack := record.Offset < u.next[at] // the log is another one
	switch at.topic {
	case u.config.SnapshotTopic:
		if isBack || u.MustRestart(at.partition) {
			u.again[at.partition] = true
			delete(u.ends, at.partition)
			u.SnapshotsRestart(at.partition) // not fresh meanwhile, whichever beats come
		}
		if u.again[at.partition] {
			return // it may be of the log before. What is of this one comes again after startOver
		}
	case u.config.WatermarkTopic:
		if isBack {
			u.marksTo = nil
		}
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

// ask asks where the topics end now. What has been read before the question up to such an end has been read to the end.
// It goes on without the partitions that it can't ask, and gives the first error.
func (u *Updates) ask(ctx context.Context) (failed error) {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	note := func(err error) bool {
		if failed == nil {
			failed = err
		}
		return err == nil
	}
	type lister func(ctx context.Context, topics ...string) (kadm.ListedOffsets, error)
	list := func(by lister, topics ...string) (listed kadm.ListedOffsets, all bool) {
		listed, err := by(ctx, topics...)
		all = note(err)
		return listed, note(listed.Error()) && all
	}
	snapshots, marks := u.config.SnapshotTopic, u.config.WatermarkTopic
	starts, _ := list(u.admin.ListStartOffsets, snapshots, marks)
	isEmpty := func(end kadm.ListedOffset) bool {
		start, known := starts.Lookup(end.Topic, end.Partition)
		return known && start.Err == nil && start.Offset == end.Offset
	}
	u.startOver(ctx, starts[snapshots], note)
	if u.marksTo == nil {
		ends, _ := list(u.admin.ListEndOffsets, snapshots)
		u.ends = map[int32]int64{}
		for partition, end := range ends[snapshots] {
			if at := (place{snapshots, partition}); end.Err == nil && !u.again[partition] &&
				(isEmpty(end) || u.next[at] == end.Offset) {
				u.ends[partition] = end.Offset
			}
		}
		// Asked after those ends: a beat that came before them may say that they are of another log.
		ends, all := list(u.admin.ListEndOffsets, marks)
		if !all {
			return failed // which beats are missing isn't known
		}
		u.marksTo = map[int32]int64{}
		for partition, end := range ends[marks] {
			switch {
			case u.next[place{marks, partition}] > end.Offset: // of the log before
				u.recreated[marks], u.marksTo = true, nil
				return failed
			case !isEmpty(end):
				u.marksTo[partition] = end.Offset
			}
		}
	}
	for partition, end := range u.marksTo {
		if u.next[place{marks, partition}] < end {
			return failed
		}
	}
	if u.begun = u.begun || note(u.begin(ctx)); u.begun {
		for partition, end := range u.ends {
			u.SnapshotsEnd(partition, end)
		}
		u.marksTo = nil
	}
	return failed
}

// begin reads the updates from where the beats say; where that has been deleted, from the beginning.
func (u *Updates) begin(ctx context.Context) error {
	return u.readFrom(ctx, u.updateTopic, func(partition int32) kgo.Offset {
		if !u.MustRestart(partition) {
			u.SnapshotsRestart(partition) // it is followed now, and nothing is known of it
		}
		if offset, known := u.UpdatesFrom(partition); known {
			return kgo.NewOffset().At(offset)
		}
		return kgo.NewOffset().AtStart()
	})
}

// startOver goes to the beginning of the topics that were created again, and of the partitions of snapshots in which the
// reader must start over.
func (u *Updates) startOver(ctx context.Context, partitions map[int32]kadm.ListedOffset, note func(error) bool) {
	snapshots := u.config.SnapshotTopic
	must := u.recreated[snapshots] || len(u.again) > 0
	for partition := range partitions {
		must = must || u.MustRestart(partition)
	}
	if must && note(u.readFrom(ctx, snapshots, func(partition int32) kgo.Offset {
		at := place{snapshots, partition}
		if u.recreated[snapshots] || u.again[partition] || u.MustRestart(partition) {
			delete(u.next, at)
			delete(u.ends, partition)
			u.SnapshotsRestart(partition)
		}
		if next, read := u.next[at]; read {
			return kgo.NewOffset().At(next)
		}
		return kgo.NewOffset().AtStart()
	})) {
		u.again = map[int32]bool{}
	}
	for topic := range u.recreated {
		if topic != snapshots && note(u.readFrom(ctx, topic, func(partition int32) kgo.Offset {
			delete(u.next, place{topic, partition})
			return kgo.NewOffset().AtStart()
		})) && topic == u.config.WatermarkTopic {
			u.marksTo = nil
		}
	}
}

// readFrom reads a topic from these offsets on.
func (u *Updates) readFrom(ctx context.Context, topic string, from func(partition int32) kgo.Offset) error {
	topics, err := u.admin.ListTopics(ctx, topic)
	if err == nil {
		err = topics.Error()
	}
	if err != nil {
		return err
	}
	offsets := map[int32]kgo.Offset{}
	for partition := range topics[topic].Partitions { // all: what has no leader now has one later
		offsets[partition] = from(partition)
	}
	// Of the whole topic: the client reads a topic that was created again only after it has forgotten the one before.
	// With that it also drops what it has fetched.
	u.client.PurgeTopicsFromConsuming(topic)
	u.client.AddConsumePartitions(map[string]map[int32]kgo.Offset{topic: offsets})
	delete(u.recreated, topic)
	return nil
}
