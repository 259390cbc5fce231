// Package follow reads the topic of snapshots and that of watermarks, from the beginning, and knows how fresh what it
// has read is.
package follow

import (
	"context"
	"errors"
	"log"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"

	"seen"
	"seen/examples/internal/cache"
)

const checkEvery = time.Second

// Config says what to read.
type Config struct {
	Brokers                       []string
	SnapshotTopic, WatermarkTopic string
}

// Follower feeds a cache. AsOf and StaleBy may be asked by any number of goroutines while Run runs.
type Follower struct {
	config   Config
	client   *kgo.Client
	cache    *cache.Cache
	marks    seen.Watermarks
	progress progress
	refused  refusals // Run's
}

// New is a follower that hasn't begun.
func New(config Config, into *cache.Cache) (*Follower, error) {
	client, err := newClient(config, kgo.FetchMaxWait(500*time.Millisecond))
	if err != nil {
		return nil, err
	}
	return &Follower{config: config, client: client, cache: into}, nil
}

func newClient(config Config, wait ...kgo.Opt) (*kgo.Client, error) {
	return kgo.NewClient(append(wait,
		kgo.SeedBrokers(config.Brokers...),
		kgo.ConsumeTopics(config.SnapshotTopic, config.WatermarkTopic),
		kgo.ConsumeResetOffset(kgo.NewOffset().AtStart()), // no group: every process reads all of it
		kgo.FetchMaxBytes(8<<20),
		kgo.KeepControlRecords(), // they take offsets, too
	)...)
}

// Run reads until the context ends.
func (f *Follower) Run(ctx context.Context) {
	defer f.client.Close()
	go f.check(ctx)
	for poll(ctx, f.client, checkEvery, reportError, f.apply) {
	}
}

type poller interface {
	PollFetches(ctx context.Context) kgo.Fetches
}

// poll waits so long for records, and is false at the context's end.
func poll(ctx context.Context, client poller, most time.Duration, fail func(topic string, partition int32, err error),
	apply func(*kgo.Record)) bool {
	within, cancel := context.WithTimeout(ctx, most)
	defer cancel()
	fetches := client.PollFetches(within)
	if ctx.Err() != nil {
		return false
	}
	fetches.EachError(func(topic string, partition int32, err error) {
		if !errors.Is(err, context.DeadlineExceeded) { // else there is nothing to read
			fail(topic, partition, err)
		}
	})
	fetches.EachRecord(apply)
	return true
}

func reportError(topic string, partition int32, err error) {
	log.Printf("reading %s/%d: %v", topic, partition, err) // the client tries again by itself
}

func (f *Follower) apply(record *kgo.Record) {
	switch {
	case record.Attrs.IsControl():
	case record.Topic == f.config.WatermarkTopic:
		if err := f.marks.Apply(record.Key, record.Value); err != nil {
			f.refused.report(record, err)
		}
	case record.Value == nil: // a tombstone: nothing is known of the user
		f.cache.Forget(string(record.Key))
	default:
		// Of its own: the record's value is a piece of all that was fetched with it.
		value := append([]byte(nil), record.Value...)
		snapshot, err := seen.Parse(value)
		if err != nil {
			f.cache.Forget(string(record.Key)) // unknown, never empty
			f.refused.report(record, err)
			break
		}
		f.cache.Put(string(record.Key), snapshot, len(value))
	}
	if record.Topic == f.config.SnapshotTopic {
		f.progress.read(record.Partition, record.Offset+1)
	}
}

// refusals is how many records couldn't be read.
type refusals int64

func (r *refusals) report(record *kgo.Record, err error) {
	*r++
	if *r&(*r-1) == 0 { // the 1st, 2nd, 4th, 8th...: seldom enough not to flood the log
		log.Printf("%s/%d, offset %d: %v (%d refused so far)", record.Topic, record.Partition, record.Offset, err, *r)
	}
}

// check asks once a second how long the topic of snapshots is. What a watermark tells of has then been read, or not yet.
func (f *Follower) check(ctx context.Context) {
	admin, failing := kadm.NewClient(f.client), false
	for ctx.Err() == nil {
		asked := time.Now()
		within, cancel := context.WithTimeout(ctx, 5*checkEvery)
		starts, err := admin.ListStartOffsets(within, f.config.SnapshotTopic)
		var ends kadm.ListedOffsets
		if err == nil {
			ends, err = admin.ListEndOffsets(within, f.config.SnapshotTopic)
		}
		cancel()
		if err != nil && !failing && ctx.Err() == nil {
			log.Printf("the end of %s isn't known, so the cache counts as stale: %v", f.config.SnapshotTopic, err)
		}
		if failing = err != nil; !failing {
			starts.Each(func(o kadm.ListedOffset) {
				if o.Err == nil {
					f.progress.read(o.Partition, o.Offset)
				}
			})
			ends.Each(func(o kadm.ListedOffset) {
				if o.Err == nil {
					f.progress.wanted(o.Partition, o.Offset, asked)
				}
			})
		}
		select {
		case <-ctx.Done():
		case <-time.After(checkEvery):
		}
	}
}

// StaleBy is how old a snapshot of the cache may be: by how far the stream has come, and by how much of the topic of
// snapshots has been read.
func (f *Follower) StaleBy(s *seen.Snapshot, now time.Time) time.Duration {
	stale := f.marks.StaleBy(s, now)
	if unread := now.Sub(f.progress.completeAt(s.Partition())); unread > stale {
		return unread
	}
	return stale
}
