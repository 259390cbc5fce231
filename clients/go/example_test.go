package seen_test

import (
	"errors"
	"fmt"
	"os"
	"time"

	"seen"
)

// one.bin is a snapshot of a user who has seen n1.
func oneSeen() *seen.Snapshot {
	value, err := os.ReadFile("../../tests/golden/snapshot/one.bin")
	if err != nil {
		panic(err)
	}
	snapshot, err := seen.Parse(value)
	if err != nil {
		panic(err)
	}
	return snapshot
}

func ExampleParse() {
	value, err := os.ReadFile("../../tests/golden/snapshot/one.bin") // or a record's value, or the body of an answer
	if err != nil {
		panic(err)
	}
	snapshot, err := seen.Parse(value)
	switch {
	case errors.Is(err, seen.ErrUnsupported):
		fmt.Println("written by a newer seend: update this reader:", err)
	case err != nil:
		fmt.Println("damaged: treat the user as unknown:", err)
	default:
		fmt.Println(snapshot.Unseen([]string{"n1", "n2", "n3", "n2"}))
	}
	// Output: [n2 n3]
}

func ExampleParse_newerVersion() {
	_, err := seen.Parse([]byte("SEEN\x02 and what a later version may have, at least fifty-six bytes"))
	fmt.Println(errors.Is(err, seen.ErrUnsupported), err)
	// Output: true seen: version: 2; this reader knows 1; update the reader
}

func ExampleSnapshot() {
	s := oneSeen()
	fmt.Println(s.Kind(), s.ItemCount(), s.AsOf(), s.Horizon(), s.FalsePositiveRate())
	// Output: split_block_bloom 1 2025-11-21 04:40:00.123 +0000 UTC 2025-10-22 0.01
}

func ExampleSnapshot_AlsoSeen() {
	earlierPages := []string{"n4", "n5"}
	fmt.Println(oneSeen().AlsoSeen(earlierPages...).Unseen([]string{"n1", "n2", "n5"}))
	// Output: [n2]
}

func ExampleSnapshot_MightBeNear() {
	value, err := os.ReadFile("../../tests/golden/snapshot/similar_bloom.bin")
	if err != nil {
		panic(err)
	}
	snapshot, err := seen.Parse(value)
	if err != nil {
		panic(err)
	}
	fmt.Println(snapshot.MightContain("near-0"), snapshot.MightBeNear("near-0"), snapshot.MightHoldGroup("group-0"))
	// Output: false true true
}

func ExampleSnapshot_RecallSize() {
	fmt.Println(oneSeen().RecallSize(100))
	// Output: 106
}

func ExampleSnapshot_Since() {
	const windowDays = 30
	today := seen.DayOf(time.Now())
	window := oneSeen().Since(today.AddDays(-windowDays))
	items := []seen.Item{{ID: "n1"}, {ID: "n2", CreatedAt: time.Now().Add(-time.Hour)}}
	fmt.Println(window.UnseenItems(items))
	// Output: [n2]
}

func ExampleWatermarks() {
	var marks seen.Watermarks // fed with every record of the topic of watermarks
	err := marks.Apply([]byte("3"), []byte(`{"version":1,"partition":3,"partition_time_ms":1763700000123,
		"next_offset":123456789,"lag_messages":0,"unpublished_users":0,"heartbeat_ms":1763703600000}`))
	if err != nil {
		panic(err)
	}
	now := time.UnixMilli(1763703602000)
	fmt.Println(marks.StaleBy(oneSeen(), now)) // an hour without events, but nothing is missing
	// Output: 2s
}
