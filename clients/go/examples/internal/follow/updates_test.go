package follow

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"

	"seen"
)

// kafka has the topics "snapshots", "marks" and "updates".
type kafka struct {
	t        *testing.T
	starts   map[string]int64
	ends     map[string][]int64              // by partition
	bad      map[place]error                 // partitions that can't be asked
	down     map[place]bool                  // partitions that no answer mentions
	noTopics error                           // of a question for the topics
	asked    func(topic string)              // comes before the answer of an end
	reads    map[string]map[int32]kgo.Offset // what was added
}

func (k *kafka) PollFetches(ctx context.Context) kgo.Fetches {
	<-ctx.Done()
	return kgo.NewErrFetch(ctx.Err())
}

func (k *kafka) Close() {}

func (k *kafka) PurgeTopicsFromConsuming(topics ...string) {
	for _, topic := range topics {
		delete(k.reads, topic)
	}
}

func (k *kafka) AddConsumePartitions(partitions map[string]map[int32]kgo.Offset) {
	for topic, offsets := range partitions {
		if k.reads[topic] != nil {
			k.t.Errorf("%s: the client hasn't forgotten the topic", topic)
		}
		k.reads[topic] = offsets
	}
}

func (k *kafka) ListTopics(_ context.Context, topics ...string) (kadm.TopicDetails, error) {
	details := kadm.TopicDetails{}
	for _, topic := range topics {
		detail := kadm.TopicDetail{Topic: topic, Partitions: kadm.PartitionDetails{}}
		if k.ends[topic] == nil {
			detail.Err = kerr.UnknownTopicOrPartition
		}
		for partition := range k.ends[topic] {
			detail.Partitions[int32(partition)] = kadm.PartitionDetail{}
		}
		details[topic] = detail
	}
	return details, k.noTopics
}

func (k *kafka) list(topics []string, offset func(topic string, end int64) int64) (listed kadm.ListedOffsets, err error) {
	listed = kadm.ListedOffsets{}
	for _, topic := range topics {
		listed[topic] = map[int32]kadm.ListedOffset{}
		if k.ends[topic] == nil {
			listed[topic][-1] = kadm.ListedOffset{Topic: topic, Partition: -1, Err: kerr.UnknownTopicOrPartition}
		}
		for partition, end := range k.ends[topic] {
			at := place{topic, int32(partition)}
			if k.down[at] {
				err = errors.New("a shard failed")
				continue
			}
			listed[topic][at.partition] = kadm.ListedOffset{Topic: topic, Partition: at.partition, Offset: offset(topic, end),
				Err: k.bad[at]}
		}
	}
	return listed, err
}

func (k *kafka) ListStartOffsets(_ context.Context, topics ...string) (kadm.ListedOffsets, error) {
	return k.list(topics, func(topic string, _ int64) int64 { return k.starts[topic] })
}

func (k *kafka) ListEndOffsets(_ context.Context, topics ...string) (kadm.ListedOffsets, error) {
	for _, topic := range topics {
		k.asked(topic)
	}
	return k.list(topics, func(_ string, end int64) int64 { return end })
}

// following is one of two partitions: its log, and the follower of the filter "f".
type following struct {
	*Updates
	kafka *kafka
	t     *testing.T
}

func follow(t *testing.T) following {
	k := &kafka{t: t, starts: map[string]int64{}, ends: map[string][]int64{"snapshots": {0, 0}, "marks": {0}, "updates": {0, 0}},
		bad: map[place]error{}, down: map[place]bool{}, asked: func(string) {}, reads: map[string]map[int32]kgo.Offset{}}
	config := Config{SnapshotTopic: "snapshots", WatermarkTopic: "marks"}
	return following{newUpdates(config, "updates", seen.FilterReaderConfig{Filter: "f"}, k, k), k, t}
}

// write adds a record to the log, and gives it.
func (f following) write(topic string, partition int32, key, value string) *kgo.Record {
	end := &f.kafka.ends[topic][partition]
	*end++
	record := &kgo.Record{Topic: topic, Partition: partition, Offset: *end - 1, Key: []byte(key)}
	if value != "" {
		record.Value = []byte(value)
	}
	return record
}

func (f following) tombstone(partition int32) *kgo.Record {
	return f.write("snapshots", partition, "u", "")
}

// beat is of generation 7 and of partition 0, whose snapshots ended at 2.
func (f following) beat(log, publishedTo int) *kgo.Record {
	return f.write("marks", 0, "0", fmt.Sprintf(`{"version":1,"partition":0,"partition_time_ms":1,"next_offset":1,`+
		`"lag_messages":0,"unpublished_users":0,"heartbeat_ms":1,"generation":7,"published_to":%d,"updates_from":5,`+
		`"snapshots_to":{"f":2},"snapshots_log":{"f":%d}}`, publishedTo, log))
}

// asks is whether it gives no error.
func (f following) asks(what string, want bool) {
	f.t.Helper()
	if err := f.ask(context.Background()); (err == nil) != want {
		f.t.Errorf("%s: %v", what, err)
	}
}

// expect checks up to where partition 0 is complete; -1: not known.
func (f following) expect(what string, want int64) {
	f.t.Helper()
	is, known := f.CompleteTo(0)
	if !known {
		is = -1
	}
	if is != want {
		f.t.Errorf("%s: complete to %d, not %d", what, is, want)
	}
}

// reads checks from where the topic's partition 0 is read since the last call; -1: it hasn't changed, -2: the beginning.
func (f following) reads(what, topic string, want int64) {
	f.t.Helper()
	is := int64(-1)
	if offset, added := f.kafka.reads[topic][0]; added {
		is = offset.EpochOffset().Offset
	}
	if is != want || is != -1 && len(f.kafka.reads[topic]) != len(f.kafka.ends[topic]) {
		f.t.Errorf("%s: %s is read from %v, not from %d", what, topic, f.kafka.reads[topic], want)
	}
	delete(f.kafka.reads, topic)
}

// begun is one that stands at the end of two snapshots.
func begun(t *testing.T) following {
	f := follow(t)
	f.apply(f.beat(1, 100))
	f.apply(f.tombstone(0))
	f.apply(f.tombstone(0))
	f.asks("begin", true)
	f.reads("begin", "updates", 5)
	f.reads("begin", "snapshots", -1)
	f.expect("begin", 100)
	return f
}

func TestTheBeatsAreReadBeforeTheEndOfTheSnapshots(t *testing.T) {
	f := begun(t)
	f.apply(f.beat(1, 110))
	var late *kgo.Record
	f.kafka.asked = func(topic string) {
		if topic == "marks" && late == nil {
			late = f.beat(2, 120) // of another log, which has as many snapshots
		}
	}
	f.SnapshotsRestart(0)
	f.asks("a beat is unread", true)
	f.expect("a beat is unread", -1)
	f.apply(late)
	f.asks("it is of another log", true)
	f.reads("it is of another log", "snapshots", -2)
	f.expect("it is of another log", -1)
	f.apply(&kgo.Record{Topic: "snapshots", Key: []byte("u"), Offset: 0})
	f.asks("one is left", true)
	f.expect("one is left", -1)
	f.apply(&kgo.Record{Topic: "snapshots", Key: []byte("u"), Offset: 1})
	f.asks("the end", true)
	f.expect("the end", 120)
	f.reads("once", "snapshots", -1)
}

func TestAnEndThatWasReachedCountsThoughMoreSnapshotsAndBeatsCome(t *testing.T) {
	f := begun(t)
	f.SnapshotsRestart(0)
	var late *kgo.Record
	f.kafka.asked = func(topic string) {
		if topic == "marks" {
			late = f.beat(1, 130)
		}
	}
	f.asks("a beat is unread", true)
	f.expect("a beat is unread", -1)
	f.apply(late)
	f.apply(f.tombstone(0))
	f.tombstone(0)
	f.beat(1, 140)
	f.asks("the end is two snapshots further", true)
	f.expect("the end is two snapshots further", 130)
}

func TestAnEndOfTheLogBeforeDoesntCount(t *testing.T) {
	f := begun(t)
	var late *kgo.Record
	f.kafka.asked = func(topic string) {
		if topic == "marks" {
			late = f.beat(1, 130)
		}
	}
	f.asks("a beat is unread", true)
	f.apply(&kgo.Record{Topic: "snapshots", Key: []byte("u"), Offset: 0})
	f.apply(late)
	f.kafka.noTopics = errors.New("nobody answers")
	for i := 0; i < 3; i++ {
		f.asks("it can't start over now", false)
		f.expect("it can't start over now", -1)
		f.kafka.asked = func(string) {} // no more beats
		f.apply(late)
	}
	f.kafka.noTopics = nil
	f.asks("it can", true)
	f.reads("it can", "snapshots", -2)
}

func TestBeatsThatHaveAllBeenDeletedAreRead(t *testing.T) {
	f := follow(t)
	f.kafka.starts["marks"], f.kafka.ends["marks"][0] = 9, 9
	f.asks("begin", true)
	f.reads("begin", "updates", -2)
}

func TestATopicThatWasCreatedAgainIsReadFromTheBeginning(t *testing.T) {
	for topic, says := range map[string]error{"snapshots": kerr.UnknownTopicID, "marks": kerr.InconsistentTopicID,
		"updates": kerr.InconsistentTopicID} {
		f := begun(t)
		f.fail(topic, 0, kerr.NotLeaderForPartition) // no reason
		f.asks(topic+" has a new leader", true)
		f.reads(topic+" has a new leader", topic, -1)
		before := f.kafka.ends[topic]
		f.kafka.ends[topic] = nil
		f.fail(topic, 0, says)
		f.asks(topic+" isn't there", false)
		f.reads(topic+" isn't there", topic, -1)
		f.kafka.ends[topic] = make([]int64, len(before))
		f.asks(topic+" is there again", true)
		f.reads(topic+" is there again", topic, -2)
		f.asks(topic+" is read", true)
		for _, each := range []string{"snapshots", "marks", "updates"} {
			f.reads("once", each, -1)
		}
	}
}

func TestBeatsThatAreFewerThanWereReadAreReadAgain(t *testing.T) {
	f := begun(t)
	f.apply(f.beat(1, 110))
	f.SnapshotsRestart(0)
	f.kafka.ends["marks"][0] = 0 // no error says so
	newest := f.beat(1, 120)
	f.asks("they are of another log", true)
	f.asks("they are read again", true)
	f.reads("they are read again", "marks", -2)
	f.asks("one is unread", true)
	f.expect("one is unread", -1)
	f.reads("once", "marks", -1)
	f.apply(newest)
	f.asks("they are read", true)
	f.expect("they are read", 120)
}

func TestSnapshotsThatGoBackAreReadFromTheBeginning(t *testing.T) {
	f := begun(t)
	f.apply(f.write("snapshots", 1, "v", ""))
	f.apply(&kgo.Record{Topic: "snapshots", Key: []byte("u"), Offset: 1})
	f.expect("it goes back", -1)
	f.apply(f.tombstone(0))
	f.apply(f.beat(1, 110))
	f.expect("the beats are right", -1)
	f.asks("it starts over", true)
	if other := f.kafka.reads["snapshots"][1]; other.EpochOffset().Offset != 1 {
		t.Errorf("partition 1 goes on at %v", other)
	}
	f.reads("it starts over", "snapshots", -2)
	f.expect("it starts over", -1)
	for offset := int64(0); offset < 3; offset++ {
		f.apply(&kgo.Record{Topic: "snapshots", Key: []byte("u"), Offset: offset})
	}
	f.asks("the end", true)
	f.expect("the end", 110)
	f.reads("once", "snapshots", -1)
}

func TestSnapshotsThatWereLeftOutAreReadAgain(t *testing.T) {
	f := begun(t)
	f.apply(f.beat(2, 110))
	f.apply(f.tombstone(0)) // of which log?
	f.apply(f.beat(1, 120))
	f.apply(f.tombstone(0))
	f.asks("the log is the first one again", true)
	f.reads("the log is the first one again", "snapshots", -2)
	f.expect("one is missing", -1)
}

func TestABadPartitionDoesntHinderTheOthers(t *testing.T) {
	its, other, marks := place{"snapshots", 0}, place{"snapshots", 1}, place{"marks", 0}
	for _, c := range []struct {
		what  string
		spoil func(k *kafka)
		want  int64
	}{
		{"another one has an error", func(k *kafka) { k.bad[other] = kerr.LeaderNotAvailable }, 110},
		{"another one is missing", func(k *kafka) { k.down[other] = true }, 110},
		{"it has an error itself", func(k *kafka) { k.bad[its] = kerr.LeaderNotAvailable }, -1},
		{"the beats have an error: some may be unread", func(k *kafka) { k.bad[marks] = kerr.LeaderNotAvailable }, -1},
		{"the beats are missing", func(k *kafka) { k.down[marks] = true }, -1},
	} {
		f := begun(t)
		c.spoil(f.kafka)
		f.apply(f.beat(1, 110))
		f.SnapshotsRestart(0)
		f.asks(c.what, false)
		f.expect(c.what, c.want)
		f.fail("snapshots", 0, kerr.UnknownTopicID)
		f.asks(c.what+", and it starts over", false)
		f.reads(c.what+", and it starts over", "snapshots", -2) // and all the others: it checks that, too
	}
}

func TestItAsksAlsoWhileNothingComes(t *testing.T) {
	f := follow(t)
	ctx, stop := context.WithTimeout(context.Background(), 10*time.Second)
	defer stop()
	f.kafka.asked = func(string) { stop() }
	f.Run(ctx)
	if !errors.Is(ctx.Err(), context.Canceled) {
		t.Error("it didn't ask")
	}
}
