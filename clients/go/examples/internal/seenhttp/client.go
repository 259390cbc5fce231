// Package seenhttp asks seend over HTTP (docs/HTTP.md), over connections that are kept. Of several daemons it asks the
// one that owns the user's partition.
package seenhttp

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"seen"
)

const (
	answerBytesMax = 64 << 20
	daemonsMax     = 3 // asked about one question
)

// Client asks one filter of one group of daemons. Any number of goroutines may use it.
type Client struct {
	owners  *owners
	close   context.CancelFunc
	users   string // the path that user ids are added to
	timeout time.Duration
	http    *http.Client
}

// New is a client of the filter, such as "default", of the daemons at some addresses, such as "http://127.0.0.1:8080".
// `timeout` is for a whole question; connections are kept, up to `connectionsMax` to each daemon.
func New(addresses []string, filter string, timeout time.Duration, connectionsMax int) *Client {
	transport := http.DefaultTransport.(*http.Transport).Clone()
	transport.MaxIdleConns = 0                     // no limit beside the next one
	transport.MaxIdleConnsPerHost = connectionsMax // 2 by default: the others would be opened anew each time
	transport.MaxConnsPerHost = connectionsMax
	transport.IdleConnTimeout = 50 * time.Second // seend closes idle ones after 60 s
	forRoutes := transport.Clone()               // routes need no place among the connections for questions
	forRoutes.DisableKeepAlives = true
	ctx, stop := context.WithCancel(context.Background())
	return &Client{
		owners:  newOwners(ctx, addresses, &http.Client{Transport: forRoutes}),
		close:   stop,
		users:   "/v1/filters/" + url.PathEscape(filter) + "/users/",
		timeout: timeout,
		http:    &http.Client{Transport: transport},
	}
}

// Close ends what goes on in the background.
func (c *Client) Close() {
	c.close()
	c.http.CloseIdleConnections()
}

// Unseen asks which of at most 20,000 items the user has not seen; `alsoSeen` count as seen besides. In their order,
// each once. `by` is the name of the daemon that answered.
func (c *Client) Unseen(ctx context.Context, user string, items, alsoSeen []string) (unseen []string, by string, err error) {
	question, err := json.Marshal(map[string][]string{"items": notNil(items), "also_seen": notNil(alsoSeen)})
	if err != nil {
		return nil, "", err
	}
	body, by, err := c.ask(ctx, http.MethodPost, user, "/unseen", question)
	if err != nil {
		return nil, "", err
	}
	var answer struct{ Unseen []string }
	if err := json.Unmarshal(body, &answer); err != nil {
		return nil, "", fmt.Errorf("seend's answer: %w", err)
	}
	return answer.Unseen, by, nil
}

// Snapshot asks for the user's snapshot, made at that moment, and says how many bytes it has. That of a user never
// heard of is empty.
func (c *Client) Snapshot(ctx context.Context, user string) (*seen.Snapshot, int, error) {
	body, _, err := c.ask(ctx, http.MethodGet, user, "", nil)
	if err != nil {
		return nil, 0, err
	}
	snapshot, err := seen.Parse(body)
	return snapshot, len(body), err
}

// ask is the owner's answer, or else another daemon's, and who gave it.
func (c *Client) ask(caller context.Context, method, user, what string, question []byte) (body []byte, by string, err error) {
	ctx, cancel := context.WithTimeout(caller, c.timeout)
	defer cancel()
	end, _ := ctx.Deadline()
	daemons := c.owners.whomToAsk(user)
	if len(daemons) > daemonsMax {
		daemons = daemons[:daemonsMax]
	}
	var problems []string
	for i, d := range daemons {
		// Each but the last may take half of the time that is left: so there is time to ask another one.
		left := time.Until(end)
		if left <= 0 {
			problems = append(problems, "no time is left")
			break
		}
		if i+1 < len(daemons) {
			left /= 2
		}
		status, by, body, err := c.askOne(ctx, left, method, d.address+c.users+url.PathEscape(user)+what, question)
		if caller.Err() != nil {
			return nil, "", caller.Err() // that isn't the daemon's fault
		}
		if err != nil {
			c.owners.failed(d)
			problems = append(problems, err.Error())
			continue
		}
		if status >= http.StatusInternalServerError || d.instance != "" && d.instance != by {
			c.owners.refresh() // the partition may have moved
		}
		if status == http.StatusOK {
			return body, by, nil
		}
		var problem struct{ Detail string }
		_ = json.Unmarshal(body, &problem) // without a detail the status has to do
		problems = append(problems, fmt.Sprintf("seend at %s answers %d: %s", d.address, status, problem.Detail))
		if status < http.StatusInternalServerError {
			break // the question is wrong, for all of them
		}
	}
	return nil, "", errors.New(strings.Join(problems, "; "))
}

func (c *Client) askOne(ctx context.Context, timeout time.Duration, method, address string,
	question []byte) (status int, by string, body []byte, err error) {
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, method, address, bytes.NewReader(question))
	if err != nil {
		return 0, "", nil, err
	}
	// Asking changes nothing, so it may be asked again where a kept connection turns out to be closed. net/http knows by
	// this key, which isn't sent.
	request.Header["X-Idempotency-Key"] = nil
	// A daemon that passes the question on stops before this one does: its 503 says that it is there itself.
	request.Header.Set("Seen-Deadline-Ms", strconv.FormatInt(timeout.Milliseconds()*3/4+1, 10))
	answer, err := c.http.Do(request)
	if err != nil {
		return 0, "", nil, err
	}
	defer answer.Body.Close()
	// Read to the end: only then is the connection kept.
	body, err = io.ReadAll(io.LimitReader(answer.Body, answerBytesMax+1))
	if err != nil {
		return 0, "", nil, err
	}
	if len(body) > answerBytesMax {
		return 0, "", nil, fmt.Errorf("seend's answer has more than %d bytes", answerBytesMax)
	}
	return answer.StatusCode, answer.Header.Get("Seen-Answered-By"), body, nil
}

func notNil(ids []string) []string {
	if ids == nil {
		return []string{}
	}
	return ids
}
