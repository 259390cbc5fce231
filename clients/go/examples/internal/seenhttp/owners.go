package seenhttp

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"sort"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

const (
	refreshEvery   = 10 * time.Second // the routes are read again
	refreshPause   = time.Second      // and no sooner than this, however much goes wrong
	fetchTimeout   = time.Second
	awayFor        = time.Second // a daemon that didn't answer is asked last for so long
	routesBytesMax = 16 << 20
)

// owners knows which daemon owns a user's partition. It reads the routes in the background: nobody waits for it. Any
// number of goroutines may use it.
type owners struct {
	given  []string // addresses
	http   *http.Client
	routes atomic.Pointer[routes]
	turn   atomic.Uint32
	wanted chan struct{} // has one if the routes seem to be old

	mu        sync.Mutex
	awayUntil map[string]time.Time // by address
}

// newOwners reads routes until the context ends. `addresses`: of some daemons of one group, or of a load balancer.
func newOwners(ctx context.Context, addresses []string, client *http.Client) *owners {
	o := &owners{http: client, wanted: make(chan struct{}, 1), awayUntil: map[string]time.Time{}}
	for _, address := range addresses {
		o.given = append(o.given, strings.TrimRight(strings.TrimSpace(address), "/"))
	}
	o.routes.Store(&routes{})
	o.refresh()
	go o.run(ctx)
	return o
}

// whomToAsk is the owner, then its replicas, then the others, which pass a request on. Those that are away come last.
func (o *owners) whomToAsk(user string) []daemon {
	known := o.routes.Load()
	best := known.of(user)
	if len(best) == 0 && len(known.addresses) > 0 {
		o.refresh()
	}
	return o.awayLast(append(best[:len(best):len(best)], o.all(known, best)...))
}

// failed: it didn't answer.
func (o *owners) failed(d daemon) {
	o.mu.Lock()
	o.awayUntil[d.address] = time.Now().Add(awayFor)
	o.mu.Unlock()
	o.refresh()
}

// refresh: the routes seem to be old. Returns at once.
func (o *owners) refresh() {
	select {
	case o.wanted <- struct{}{}:
	default:
	}
}

// all daemons but some. Those that the routes name were alive a moment ago: they come first. They take turns.
func (o *owners) all(known *routes, but []daemon) []daemon {
	listed := map[string]bool{}
	for _, d := range but {
		listed[d.address] = true
	}
	var others []daemon
	turn := o.turn.Add(1)
	for _, addresses := range [][]string{known.addresses, o.given} {
		var added []daemon
		for _, address := range addresses {
			if !listed[address] {
				listed[address] = true
				added = append(added, daemon{address: address})
			}
		}
		if len(added) > 0 {
			first := int(turn % uint32(len(added)))
			others = append(append(others, added[first:]...), added[:first]...)
		}
	}
	return others
}

func (o *owners) awayLast(daemons []daemon) []daemon {
	o.mu.Lock()
	defer o.mu.Unlock()
	now := time.Now()
	isAway := func(i int) bool { return now.Before(o.awayUntil[daemons[i].address]) }
	sort.SliceStable(daemons, func(i, j int) bool { return !isAway(i) && isAway(j) })
	return daemons
}

func (o *owners) run(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-o.wanted:
		case <-time.After(refreshEvery):
		}
		for _, d := range o.awayLast(o.all(o.routes.Load(), nil)) {
			// A daemon that has heard nobody has no routes: what was known is better.
			if read, err := o.read(ctx, d.address); err == nil && len(read.addresses) > 0 {
				o.routes.Store(read)
				break
			}
		}
		select {
		case <-ctx.Done():
			return
		case <-time.After(refreshPause):
		}
	}
}

func (o *owners) read(ctx context.Context, address string) (*routes, error) {
	ctx, cancel := context.WithTimeout(ctx, fetchTimeout)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, address+"/v1/routes", nil)
	if err != nil {
		return nil, err
	}
	answer, err := o.http.Do(request)
	if err != nil {
		return nil, err
	}
	defer answer.Body.Close()
	body, err := io.ReadAll(io.LimitReader(answer.Body, routesBytesMax))
	if err != nil {
		return nil, err
	}
	if answer.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("status %s", answer.Status)
	}
	return parseRoutes(body)
}
