// Tail answers which items a user has not seen from a local cache of snapshots, which it keeps up to date by reading
// their topic. It asks over HTTP where the cache has no such user, or is too old. Of a filter with updates (-updates) it
// keeps the snapshots of all users, and knows what was shown a moment ago.
//
//	echo '{"user":"u1","items":["n1","n2"]}' | go run ./tail -brokers 127.0.0.1:9092 -http http://127.0.0.1:8080
package main

import (
	"context"
	"flag"
	"log"
	"os"
	"sort"
	"strings"
	"time"

	"seen"
	"seen/examples/internal/cache"
	"seen/examples/internal/follow"
	"seen/examples/internal/lines"
	"seen/examples/internal/seenhttp"
)

func main() {
	brokers := flag.String("brokers", "127.0.0.1:9092", "of Kafka, separated by commas")
	snapshots := flag.String("snapshots", "seen-filters", "the topic of snapshots")
	watermarks := flag.String("watermarks", "seen-watermarks", "the topic of watermarks")
	addresses := flag.String("http", "http://127.0.0.1:8080", "where seend answers: one or several, with commas")
	filter := flag.String("filter", "default", "which filter to ask over HTTP: that of the topic")
	timeout := flag.Duration("timeout", 50*time.Millisecond, "how long to wait for an answer over HTTP")
	usersMax := flag.Int("users-max", 1_000_000, "how many users to keep")
	bytesMax := flag.Int64("bytes-max", 1<<30, "how many bytes to keep")
	staleMax := flag.Duration("stale-max", 10*time.Second, "how old an answer of the cache may be")
	updates := flag.String("updates", "", "the topic of updates, where the filter has them")
	additionsMax := flag.Int("additions-max", 0, "how many additions of updates to keep; 0: the client's default")
	flag.Parse()

	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	client := seenhttp.New(strings.Split(*addresses, ","), *filter, *timeout, 64)
	defer client.Close()
	config := follow.Config{
		Brokers: strings.Split(*brokers, ","), SnapshotTopic: *snapshots, WatermarkTopic: *watermarks}
	var unseen func(ctx context.Context, user string, items, alsoSeen []string) lines.Answer
	if *updates == "" {
		users := cache.New(*usersMax, *bytesMax)
		follower, err := follow.New(config, users)
		if err != nil {
			log.Fatal(err)
		}
		go follower.Run(ctx)
		unseen = (&recommender{users, follower, client, *staleMax}).unseen
	} else {
		follower, err := follow.NewUpdates(config, *updates,
			seen.FilterReaderConfig{Filter: *filter, AdditionsMax: *additionsMax})
		if err != nil {
			log.Fatal(err)
		}
		go follower.Run(ctx)
		unseen = (&readerRecommender{follower.FilterReader, client, *staleMax}).unseen
	}
	err := lines.Serve(os.Stdin, os.Stdout, func(user string, items, alsoSeen []string) lines.Answer {
		return unseen(ctx, user, items, alsoSeen)
	})
	if err != nil {
		log.Fatal(err)
	}
}

// A reader is a *seen.FilterReader.
type reader interface {
	OldestAsOf() (time.Time, bool)
	IsRefused(user string) bool
	Unseen(user string, candidates, alsoSeen []string) []string
	MightBeNear(user, item string) bool
}

// readerRecommender goes by updates, too. It may be asked by any number of goroutines.
type readerRecommender struct {
	reader   reader
	http     *seenhttp.Client
	staleMax time.Duration
}

func (r *readerRecommender) unseen(ctx context.Context, user string, items, alsoSeen []string) lines.Answer {
	stale := r.isStale(user)
	answer := lines.Answer{Unseen: r.reader.Unseen(user, items, alsoSeen), From: "cache"}
	sortByNear(answer.Unseen, func(id string) bool { return r.reader.MightBeNear(user, id) })
	if stale || r.isStale(user) { // meanwhile the reader may have started over: with older snapshots
		unseen, by, err := r.http.Unseen(ctx, user, items, alsoSeen)
		if err == nil {
			return lines.Answer{Unseen: unseen, From: "http", By: by}
		}
		answer.From, answer.Error = "stale cache", err.Error() // what is known, and what this request knows
	}
	return answer
}

func (r *readerRecommender) isStale(user string) bool {
	asOf, known := r.reader.OldestAsOf()
	return !known || time.Since(asOf) > r.staleMax || r.reader.IsRefused(user)
}

// sortByNear puts what is like something seen last.
func sortByNear(unseen []string, near func(id string) bool) {
	sort.SliceStable(unseen, func(i, j int) bool { return !near(unseen[i]) && near(unseen[j]) })
}

// recommender may be asked by any number of goroutines.
type recommender struct {
	users    *cache.Cache
	follower *follow.Follower
	http     *seenhttp.Client
	staleMax time.Duration
}

func (r *recommender) unseen(ctx context.Context, user string, items, alsoSeen []string) lines.Answer {
	snapshot, held := r.users.Get(user)
	from, err := "cache", error(nil)
	switch {
	case !held:
		// Nothing seen, or no room: seend tells the two apart, and the cache then has it.
		from = "http"
		snapshot, err = r.users.Fetch(user, func() (*seen.Snapshot, int, error) { return r.http.Snapshot(ctx, user) })
		if err != nil {
			snapshot, from = seen.Empty(-1), "request" // what this request itself knows, rather than no answer
		}
	case r.follower.StaleBy(snapshot, time.Now()) > r.staleMax:
		var unseen []string
		var by string
		if unseen, by, err = r.http.Unseen(ctx, user, items, alsoSeen); err == nil {
			return lines.Answer{Unseen: unseen, From: "http", By: by}
		}
		from = "stale cache" // what was seen up to then, and what this request knows
	}
	answer := lines.Answer{Unseen: snapshot.AlsoSeen(alsoSeen...).Unseen(items), From: from}
	sortByNear(answer.Unseen, snapshot.MightBeNear)
	if err != nil {
		answer.Error = err.Error()
	}
	return answer
}
