// Ask answers which items a user has not seen by asking seend over HTTP: over kept connections, within a time limit,
// and where there is no answer in time it shows what it would rather than fail. Of several daemons it asks the one that
// owns the user's partition.
//
//	echo '{"user":"u1","items":["n1","n2"]}' | go run ./ask -http http://127.0.0.1:8080 -timeout 50ms
package main

import (
	"context"
	"flag"
	"log"
	"os"
	"strings"
	"time"

	"seen"
	"seen/examples/internal/lines"
	"seen/examples/internal/seenhttp"
)

func main() {
	addresses := flag.String("http", "http://127.0.0.1:8080", "where seend answers: one or several, with commas")
	filter := flag.String("filter", "default", "which filter to ask")
	timeout := flag.Duration("timeout", 50*time.Millisecond, "how long to wait for an answer")
	connections := flag.Int("connections-max", 64, "how many connections to keep at most, to each daemon")
	flag.Parse()

	client := seenhttp.New(strings.Split(*addresses, ","), *filter, *timeout, *connections)
	defer client.Close()
	err := lines.Serve(os.Stdin, os.Stdout, func(user string, items, alsoSeen []string) lines.Answer {
		unseen, by, err := client.Unseen(context.Background(), user, items, alsoSeen)
		if err != nil {
			// An item shown twice is better than none: what this request itself knows is all that is taken out.
			unseen = seen.Empty(-1).AlsoSeen(alsoSeen...).Unseen(items)
			return lines.Answer{Unseen: unseen, From: "request", Error: err.Error()}
		}
		return lines.Answer{Unseen: unseen, From: "http", By: by}
	})
	if err != nil {
		log.Fatal(err)
	}
}
