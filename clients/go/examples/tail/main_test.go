package main

import (
	"context"
	"testing"
	"time"

	"seen/examples/internal/seenhttp"
)

// restarting is a reader that starts over while it answers.
type restarting struct{ fresh bool }

func (r *restarting) OldestAsOf() (time.Time, bool) { return time.Now(), r.fresh }
func (r *restarting) IsRefused(string) bool         { return false }
func (r *restarting) MightBeNear(_, _ string) bool  { return false }
func (r *restarting) Unseen(_ string, candidates, _ []string) []string {
	r.fresh = false
	return candidates
}

func TestAnAnswerIsAsFreshAsTheReaderIsBeforeAndAfterIt(t *testing.T) {
	http := seenhttp.New([]string{"http://127.0.0.1:1"}, "default", 100*time.Millisecond, 1) // nobody answers
	defer http.Close()
	for _, freshBefore := range []bool{true, false} {
		recommender := readerRecommender{&restarting{freshBefore}, http, time.Minute}
		answer := recommender.unseen(context.Background(), "u", []string{"a"}, nil)
		if answer.From != "stale cache" || answer.Error == "" || len(answer.Unseen) != 1 {
			t.Errorf("fresh before it: %v: %+v", freshBefore, answer)
		}
	}
}
