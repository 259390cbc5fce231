package follow

import (
	"sync"
	"time"
)

// progress is up to when the partitions of a topic have been read: up to the moment at which their end was asked for,
// once they have been read up to there. The zero value is ready; any number of goroutines may use it.
type progress struct {
	mu         sync.Mutex
	partitions map[int32]*position
}

type position struct {
	next       int64     // everything below it has been read
	end        int64     // to be reached, for completeAt to become endAt
	endAt      time.Time // zero: none is to be reached
	completeAt time.Time
}

// read: every record below `next` has been read, or is gone.
func (p *progress) read(partition int32, next int64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	at := p.at(partition)
	if next > at.next {
		at.next = next
		at.settle()
	}
}

// wanted: at that moment the partition ended at `end`. While an earlier end is still to be reached that one counts.
func (p *progress) wanted(partition int32, end int64, now time.Time) {
	p.mu.Lock()
	defer p.mu.Unlock()
	at := p.at(partition)
	if at.endAt.IsZero() {
		at.end, at.endAt = end, now
		at.settle()
	}
}

func (p *progress) completeAt(partition int32) time.Time {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.at(partition).completeAt
}

func (p *progress) at(partition int32) *position {
	if p.partitions == nil {
		p.partitions = map[int32]*position{}
	}
	at := p.partitions[partition]
	if at == nil {
		at = &position{}
		p.partitions[partition] = at
	}
	return at
}

func (at *position) settle() {
	if !at.endAt.IsZero() && at.next >= at.end {
		at.completeAt, at.endAt = at.endAt, time.Time{}
	}
}
