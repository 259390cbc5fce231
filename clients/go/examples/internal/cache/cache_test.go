package cache

import (
	"errors"
	"testing"

	"seen"
)

func holds(c *Cache, user string) bool {
	_, ok := c.Get(user)
	return ok
}

func TestTheLeastRecentlyUsedLeave(t *testing.T) {
	c := New(2, 1<<20)
	c.Put("a", seen.Empty(1), 100)
	c.Put("b", seen.Empty(1), 100)
	c.Get("a")
	c.Put("c", seen.Empty(1), 100)
	if !holds(c, "a") || holds(c, "b") || !holds(c, "c") || c.Len() != 2 {
		t.Error("b was the one to leave")
	}
}

func TestBytesAreBounded(t *testing.T) {
	c := New(1000, 10*(entryBytes+101))
	for user := 'a'; user < 'z'; user++ {
		c.Put(string(user), seen.Empty(1), 100)
	}
	if c.Len() != 10 || !holds(c, "y") || holds(c, "a") {
		t.Errorf("%d users", c.Len())
	}
	c.Put("y", seen.Empty(1), 500)
	if c.Len() != 9 {
		t.Errorf("%d users beside a larger one", c.Len())
	}
	c.Put("huge", seen.Empty(1), 1<<20)
	if c.Len() != 0 || c.bytes != 0 {
		t.Errorf("%d users, %d bytes: what is larger than all doesn't stay", c.Len(), c.bytes)
	}
	c.Put("a", seen.Empty(1), 100)
	c.Forget("a")
	if c.bytes != 0 || holds(c, "a") {
		t.Errorf("%d bytes of nothing", c.bytes)
	}
}

func TestWhatTheTopicSaysMeanwhileIsRight(t *testing.T) {
	c := New(10, 1<<20)
	asked, told := seen.Empty(1), seen.Empty(2)
	ask := func(meanwhile func()) func() (*seen.Snapshot, int, error) {
		return func() (*seen.Snapshot, int, error) {
			meanwhile()
			return asked, 100, nil
		}
	}
	for name, test := range map[string]struct {
		meanwhile func()
		want      *seen.Snapshot
	}{
		"nothing":     {func() {}, asked},
		"a record":    {func() { c.Put("u", told, 100) }, told},
		"a tombstone": {func() { c.Forget("u") }, nil},
	} {
		c.Forget("u")
		if got, err := c.Fetch("u", ask(test.meanwhile)); got != asked || err != nil {
			t.Error(name, got, err)
		}
		if got, _ := c.Get("u"); got != test.want {
			t.Errorf("%s: %v stays", name, got)
		}
	}
	c.Forget("u")
	wrong := errors.New("no answer")
	if _, err := c.Fetch("u", func() (*seen.Snapshot, int, error) { return nil, 0, wrong }); err != wrong || holds(c, "u") {
		t.Error("an error isn't kept")
	}
	if len(c.fetches) != 0 {
		t.Error("fetches that have ended are there")
	}
}
