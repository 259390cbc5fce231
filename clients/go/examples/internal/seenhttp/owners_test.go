package seenhttp

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"reflect"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"seen"
)

func TestRoutesNameTheReadyOwnerAndThenReadyReplicas(t *testing.T) {
	r, err := parseRoutes([]byte(`{"topic":"t","partitioner":"murmur2","partitions":3,"routes":[
		{"partition":0,"instance":"r1","address":"r:1","state":"ready","role":"replica"},
		{"partition":0,"instance":"o1","address":"o:1","state":"ready","role":"owner"},
		{"partition":0,"instance":"r2","address":"r:2","state":"catching_up","role":"replica"},
		{"partition":1,"instance":"o2","address":"o:2","state":"catching_up"},
		{"partition":1,"instance":"r1","address":"r:1","state":"ready","role":"replica"},
		{"partition":2,"instance":"o3","address":null,"state":"ready"}]}`))
	if err != nil {
		t.Fatal(err)
	}
	want := map[int32][]daemon{0: {{"http://o:1", "o1"}, {"http://r:1", "r1"}}, 1: {{"http://r:1", "r1"}}}
	for i := 0; i < 20; i++ {
		user := fmt.Sprint("u", i)
		partition := seen.PartitionOf([]byte(user), 3)
		if got := r.of(user); !reflect.DeepEqual(got, want[partition]) {
			t.Errorf("%s of partition %d: %v", user, partition, got)
		}
	}
	if len(r.addresses) != 4 {
		t.Error(r.addresses)
	}
}

func TestRoutesGoByThePartitionerThatTheyName(t *testing.T) {
	const answer = `{"partitioner":%q,"partitions":%d,"routes":[
		{"partition":0,"instance":"o0","address":"o:0","state":"ready"},
		{"partition":1,"instance":"o1","address":"o:1","state":"ready"}]}`
	r, err := parseRoutes([]byte(fmt.Sprintf(answer, "crc32", 2)))
	if err != nil {
		t.Fatal(err)
	}
	for _, user := range []string{"u1", "u2", "用户"} {
		want := fmt.Sprint("o", seen.PartitionOfCRC32([]byte(user), 2))
		if got := r.of(user); len(got) != 1 || got[0].instance != want {
			t.Error(user, got, want)
		}
	}
	for _, wrong := range []string{fmt.Sprintf(answer, "random", 2), fmt.Sprintf(answer, "murmur2", 0), "[]", ""} {
		if _, err := parseRoutes([]byte(wrong)); err == nil {
			t.Error(wrong)
		}
	}
}

// fake is a daemon whose answers change.
type fake struct {
	name, routes          atomic.Value // strings
	answer                atomic.Value // http.HandlerFunc
	questions, routeReads atomic.Int64
	address               string
}

func newFake(t *testing.T, name string) *fake {
	f := &fake{}
	f.name.Store(name)
	f.routes.Store("")
	f.answer.Store(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { fmt.Fprintf(w, `{"unseen":[%q]}`, name) }))
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/v1/routes" {
			f.routeReads.Add(1)
			fmt.Fprint(w, f.routes.Load())
			return
		}
		f.questions.Add(1)
		if ms, err := strconv.Atoi(r.Header.Get("Seen-Deadline-Ms")); err != nil || ms < 1 || ms > 5_000 {
			t.Errorf("Seen-Deadline-Ms: %q", r.Header.Get("Seen-Deadline-Ms"))
		}
		w.Header().Set("Seen-Answered-By", f.name.Load().(string))
		f.answer.Load().(http.HandlerFunc)(w, r)
	}))
	t.Cleanup(s.Close)
	f.address = strings.TrimPrefix(s.URL, "http://")
	return f
}

// routesTo says that the first daemon owns the partition of "u", and the second one the other partition.
func routesTo(owner, other *fake) string {
	mine := seen.PartitionOf([]byte("u"), 2)
	const route = `{"partition":%d,"instance":%q,"address":%q,"state":"ready"}`
	return fmt.Sprintf(`{"partitioner":"murmur2","partitions":2,"routes":[`+route+`,`+route+`]}`,
		mine, owner.name.Load(), owner.address, 1-mine, other.name.Load(), other.address)
}

func ask(t *testing.T, client *Client) (unseen, by string) {
	t.Helper()
	items, by, err := client.Unseen(context.Background(), "u", nil, nil)
	if err != nil || len(items) != 1 {
		t.Fatal(items, err)
	}
	return items[0], by
}

func until(t *testing.T, condition func() bool) {
	t.Helper()
	for end := time.Now().Add(10 * time.Second); !condition(); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("not in time")
		}
	}
}

func TestTheOwnerIsAskedAndTheOthersWhereItIsAwayOrHasChanged(t *testing.T) {
	a, b := newFake(t, "a"), newFake(t, "b")
	gone, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	gone.Close()
	route := func(routes string) { a.routes.Store(routes); b.routes.Store(routes) }
	route(routesTo(b, a))
	client := New([]string{"http://" + gone.Addr().String(), "http://" + a.address}, "default", 5*time.Second, 4)
	t.Cleanup(client.Close) // b is known by the routes alone
	until(t, func() bool { _, by := ask(t, client); return by == "b" })
	asked := a.questions.Load()
	for i := 0; i < 20; i++ {
		if unseen, by := ask(t, client); unseen != "b" || by != "b" {
			t.Fatal(unseen, by)
		}
	}
	if a.questions.Load() != asked {
		t.Error("nobody but the owner is asked")
	}

	// The partition moves: b passes questions on.
	route(routesTo(a, b))
	b.name.Store("a")
	until(t, func() bool { unseen, _ := ask(t, client); return unseen == "a" })
	b.name.Store("b")

	// The owner says that it isn't ready, then it is silent: another one answers, and few routes are read.
	read, begun := a.routeReads.Load()+b.routeReads.Load(), time.Now()
	a.answer.Store(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusServiceUnavailable) }))
	for i := 0; i < 50; i++ {
		if unseen, _ := ask(t, client); unseen != "b" {
			t.Fatal(unseen)
		}
	}
	if more := a.routeReads.Load() + b.routeReads.Load() - read; more > 1+int64(time.Since(begun)/refreshPause) {
		t.Errorf("routes were read %d times", more)
	}
	a.answer.Store(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		select {
		case <-r.Context().Done():
		case <-time.After(3 * time.Second):
		}
	}))
	quick := New([]string{"http://" + a.address, "http://" + b.address}, "default", 2*time.Second, 4)
	t.Cleanup(quick.Close)
	until(t, func() bool {
		_, by := ask(t, quick)
		return by == "b" && len(quick.owners.routes.Load().addresses) == 2
	})
	slow := 0
	for i := 0; i < 10; i++ {
		begun := time.Now()
		ask(t, quick)
		if took := time.Since(begun); took > 2*time.Second {
			t.Error(took)
		} else if took > 900*time.Millisecond {
			slow++
		}
	}
	if slow > 5 {
		t.Errorf("%d waited for the one that is silent; it is asked last for a while", slow)
	}
}

func TestNobodyWaitsForTheRoutes(t *testing.T) {
	silent, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer silent.Close()
	client := New([]string{"http://" + silent.Addr().String()}, "default", 100*time.Millisecond, 4)
	defer client.Close()
	begun := time.Now()
	if _, _, err := client.Unseen(context.Background(), "u", nil, nil); err == nil || time.Since(begun) > fetchTimeout {
		t.Error(err, time.Since(begun))
	}
}
