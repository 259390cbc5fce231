// Ask answers which items a user has not seen by asking seend over HTTP: over kept connections, within a time limit,
// and where there is no answer in time it shows what it would rather than fail.
//
//	echo '{"user":"u1","items":["n1","n2"]}' | go run ./ask -http http://127.0.0.1:8080 -timeout 50ms
package main

import (
	"context"
	"flag"
	"log"
	"os"
	"time"

	"seen"
	"seen/examples/internal/lines"
	"seen/examples/internal/seenhttp"
)

func main() {
	base := flag.String("http", "http://127.0.0.1:8080", "where seend answers")
	filter := flag.String("filter", "default", "which filter to ask")
	timeout := flag.Duration("timeout", 50*time.Millisecond, "how long to wait for an answer")
	connections := flag.Int("connections-max", 64, "how many connections to keep at most")
	flag.Parse()

	client := seenhttp.New(*base, *filter, *timeout, *connections)
	err := lines.Serve(os.Stdin, os.Stdout, func(user string, items, alsoSeen []string) lines.Answer {
		unseen, err := client.Unseen(context.Background(), user, items, alsoSeen)
		if err != nil {
			// An item shown twice is better than none: what this request itself knows is all that is taken out.
			unseen = seen.Empty(-1).AlsoSeen(alsoSeen...).Unseen(items)
			return lines.Answer{Unseen: unseen, From: "request", Error: err.Error()}
		}
		return lines.Answer{Unseen: unseen, From: "http"}
	})
	if err != nil {
		log.Fatal(err)
	}
}
