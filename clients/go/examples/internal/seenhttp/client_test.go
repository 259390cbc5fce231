package seenhttp

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"reflect"
	"strings"
	"sync"
	"testing"
	"time"
)

// server answers as `answer` does, and counts the connections it was asked over.
func server(t *testing.T, answer http.HandlerFunc) (*Client, func() int) {
	var mu sync.Mutex
	connections := map[string]bool{}
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/v1/routes" {
			http.NotFound(w, r)
			return
		}
		mu.Lock()
		connections[r.RemoteAddr] = true
		mu.Unlock()
		answer(w, r)
	}))
	t.Cleanup(s.Close)
	client := New([]string{s.URL + "/"}, "de/fault", 300*time.Millisecond, 4)
	t.Cleanup(client.Close)
	return client, func() int {
		mu.Lock()
		defer mu.Unlock()
		return len(connections)
	}
}

func TestUnseenKeepsTheConnection(t *testing.T) {
	client, connections := server(t, func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		const want = `{"also_seen":[],"items":["n1","n2"]}`
		if r.URL.EscapedPath() != "/v1/filters/de%2Ffault/users/%E7%94%A8%2F1+/unseen" || string(body) != want || r.Method != "POST" {
			http.Error(w, fmt.Sprintf("%s %s: %s", r.Method, r.URL.EscapedPath(), body), http.StatusBadRequest)
		}
		fmt.Fprint(w, `{"unseen":["n2"]}`)
	})
	for i := 0; i < 5; i++ {
		unseen, _, err := client.Unseen(context.Background(), "用/1+", []string{"n1", "n2"}, nil)
		if err != nil || !reflect.DeepEqual(unseen, []string{"n2"}) {
			t.Fatal(unseen, err)
		}
	}
	if connections() != 1 {
		t.Errorf("%d connections", connections())
	}
}

func TestAnErrorSaysWhatSeendSays(t *testing.T) {
	client, connections := server(t, func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusServiceUnavailable)
		fmt.Fprint(w, `{"status":503,"detail":"partition 3 is catching up"}`)
	})
	for i := 0; i < 3; i++ {
		if _, _, err := client.Unseen(context.Background(), "u1", nil, nil); err == nil || !strings.Contains(err.Error(), "catching up") {
			t.Error(err)
		}
	}
	if connections() != 1 {
		t.Errorf("%d connections: one is kept after an error, too", connections())
	}
}

func TestItWaitsNoLongerThanTold(t *testing.T) {
	release := make(chan struct{})
	client, _ := server(t, func(_ http.ResponseWriter, r *http.Request) {
		select {
		case <-release:
		case <-r.Context().Done():
		}
	})
	defer close(release)
	begun := time.Now()
	if _, _, err := client.Snapshot(context.Background(), "u1"); err == nil {
		t.Error("no answer is an error")
	}
	ctx, cancel := context.WithTimeout(context.Background(), 50*time.Millisecond)
	defer cancel()
	if _, _, err := client.Unseen(ctx, "u1", nil, nil); err == nil {
		t.Error("no answer is an error")
	}
	if waited := time.Since(begun); waited < 300*time.Millisecond || waited > 3*time.Second {
		t.Errorf("it waited for %v", waited)
	}
}

func TestASnapshotThatIsNoneIsRefused(t *testing.T) {
	client, _ := server(t, func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "hello") })
	if s, _, err := client.Snapshot(context.Background(), "u1"); err == nil || s != nil {
		t.Error(s, err)
	}
}
