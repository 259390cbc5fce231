// Package cache holds the last snapshot of each user, as many as there is room for.
package cache

import (
	"container/list"
	"sync"

	"seen"
)

// entryBytes is about what a user takes besides id and snapshot.
const entryBytes = 320

// Cache is bounded by users and by bytes; the least recently used leave first. Any number of goroutines may use it.
type Cache struct {
	usersMax int
	bytesMax int64

	mu      sync.Mutex
	users   map[string]*list.Element
	recent  *list.List // of *entry, the latest used first
	bytes   int64
	fetches map[string]*fetch
}

type entry struct {
	user     string
	snapshot *seen.Snapshot
	bytes    int64
}

// A fetch is under way for a user who isn't there.
type fetch struct {
	count     int  // how many wait for it
	overtaken bool // the topic told of the user meanwhile: it is right
}

// New is an empty cache.
func New(usersMax int, bytesMax int64) *Cache {
	return &Cache{usersMax: usersMax, bytesMax: bytesMax, users: map[string]*list.Element{}, recent: list.New(),
		fetches: map[string]*fetch{}}
}

// Put takes in the user's latest snapshot, whose bytes are so many, from the topic.
func (c *Cache) Put(user string, snapshot *seen.Snapshot, bytes int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.overtake(user)
	c.put(user, snapshot, bytes)
}

// Forget drops a user: the topic said so by a tombstone, or by a record that can't be read.
func (c *Cache) Forget(user string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.overtake(user)
	if at, ok := c.users[user]; ok {
		c.drop(at)
	}
}

// Get is the user's snapshot. One who isn't there has seen nothing, or had to leave: only seend knows, see Fetch.
func (c *Cache) Get(user string) (*seen.Snapshot, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	at, ok := c.users[user]
	if !ok {
		return nil, false
	}
	c.recent.MoveToFront(at)
	return at.Value.(*entry).snapshot, true
}

// Fetch asks `ask` for a user who isn't there, and keeps the answer unless the topic tells of the user meanwhile.
func (c *Cache) Fetch(user string, ask func() (*seen.Snapshot, int, error)) (*seen.Snapshot, error) {
	c.mu.Lock()
	f := c.fetches[user]
	if f == nil {
		f = &fetch{}
		c.fetches[user] = f
	}
	f.count++
	c.mu.Unlock()

	snapshot, bytes, err := ask()

	c.mu.Lock()
	defer c.mu.Unlock()
	if f.count--; f.count == 0 {
		delete(c.fetches, user)
	}
	if err == nil && !f.overtaken {
		c.put(user, snapshot, bytes)
	}
	return snapshot, err
}

// Len is how many users are there.
func (c *Cache) Len() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.users)
}

func (c *Cache) overtake(user string) {
	if f := c.fetches[user]; f != nil {
		f.overtaken = true
	}
}

func (c *Cache) put(user string, snapshot *seen.Snapshot, bytes int) {
	if at, ok := c.users[user]; ok {
		c.drop(at)
	}
	e := &entry{user, snapshot, int64(len(user)) + int64(bytes) + entryBytes}
	c.users[user] = c.recent.PushFront(e)
	c.bytes += e.bytes
	for len(c.users) > c.usersMax || c.bytes > c.bytesMax {
		c.drop(c.recent.Back())
	}
}

func (c *Cache) drop(at *list.Element) {
	e := c.recent.Remove(at).(*entry)
	delete(c.users, e.user)
	c.bytes -= e.bytes
}
