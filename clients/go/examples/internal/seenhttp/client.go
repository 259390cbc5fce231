// Package seenhttp asks seend over HTTP (docs/HTTP.md), over connections that are kept.
package seenhttp

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	"seen"
)

const answerBytesMax = 64 << 20

// Client asks one filter of one seend. Any number of goroutines may use it.
type Client struct {
	users string // the address that user ids are added to
	http  *http.Client
}

// New is a client of the filter, such as "default" of "http://127.0.0.1:8080". `timeout` is for a whole request;
// connections are kept, up to `connectionsMax` of them.
func New(base, filter string, timeout time.Duration, connectionsMax int) *Client {
	transport := http.DefaultTransport.(*http.Transport).Clone()
	transport.MaxIdleConns = connectionsMax
	transport.MaxIdleConnsPerHost = connectionsMax // 2 by default: the others would be opened anew each time
	transport.MaxConnsPerHost = connectionsMax
	transport.IdleConnTimeout = 50 * time.Second // seend closes idle ones after 60 s
	return &Client{
		users: strings.TrimRight(base, "/") + "/v1/filters/" + url.PathEscape(filter) + "/users/",
		http:  &http.Client{Transport: transport, Timeout: timeout},
	}
}

// Unseen asks which of at most 20,000 items the user has not seen; `alsoSeen` count as seen besides. In their order,
// each once.
func (c *Client) Unseen(ctx context.Context, user string, items, alsoSeen []string) ([]string, error) {
	question, err := json.Marshal(map[string][]string{"items": notNil(items), "also_seen": notNil(alsoSeen)})
	if err != nil {
		return nil, err
	}
	body, err := c.ask(ctx, http.MethodPost, url.PathEscape(user)+"/unseen", bytes.NewReader(question))
	if err != nil {
		return nil, err
	}
	var answer struct{ Unseen []string }
	if err := json.Unmarshal(body, &answer); err != nil {
		return nil, fmt.Errorf("seend's answer: %w", err)
	}
	return answer.Unseen, nil
}

// Snapshot asks for the user's snapshot, made at that moment, and says how many bytes it has. That of a user never
// heard of is empty.
func (c *Client) Snapshot(ctx context.Context, user string) (*seen.Snapshot, int, error) {
	body, err := c.ask(ctx, http.MethodGet, url.PathEscape(user), nil)
	if err != nil {
		return nil, 0, err
	}
	snapshot, err := seen.Parse(body)
	return snapshot, len(body), err
}

func (c *Client) ask(ctx context.Context, method, path string, question io.Reader) ([]byte, error) {
	request, err := http.NewRequestWithContext(ctx, method, c.users+path, question)
	if err != nil {
		return nil, err
	}
	// Asking changes nothing, so it may be asked again where a kept connection turns out to be closed. net/http knows by
	// this key, which isn't sent.
	request.Header["X-Idempotency-Key"] = nil
	answer, err := c.http.Do(request)
	if err != nil {
		return nil, err
	}
	defer answer.Body.Close()
	// Read to the end: only then is the connection kept.
	body, err := io.ReadAll(io.LimitReader(answer.Body, answerBytesMax+1))
	if err != nil {
		return nil, err
	}
	if len(body) > answerBytesMax {
		return nil, fmt.Errorf("seend's answer has more than %d bytes", answerBytesMax)
	}
	if answer.StatusCode != http.StatusOK {
		var problem struct{ Detail string }
		_ = json.Unmarshal(body, &problem) // without a detail the status has to do
		return nil, fmt.Errorf("seend answers %s: %s", answer.Status, problem.Detail)
	}
	return body, nil
}

func notNil(ids []string) []string {
	if ids == nil {
		return []string{}
	}
	return ids
}
