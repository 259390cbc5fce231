package seen

import (
	"encoding/binary"
	"errors"
	"math"
	"math/rand"
	"strings"
	"testing"
)

func TestChecksComeInTheSpecifiedOrder(t *testing.T) {
	// Each step breaks one thing more; of all that is broken the one to check first must be named.
	data := envelope(SplitBlockBloom, 10, encode(t, SplitBlockBloom, 10))
	steps := []struct {
		field  string
		reason error
		change func(d []byte)
		sealed bool
	}{
		{"payload", ErrMalformed, func(d []byte) { d[5] = byte(Bloom); d[56] = 33 }, true},
		{"false_positive_rate", ErrMalformed, func(d []byte) { binary.LittleEndian.PutUint64(d[40:], 0) }, true},
		{"flags", ErrUnsupported, func(d []byte) { d[7] = 4 }, true},
		{"hash", ErrUnsupported, func(d []byte) { d[6] = 0 }, true},
		{"format", ErrUnsupported, func(d []byte) { d[5] = 12 }, true},
		{"checksum", ErrMalformed, func(d []byte) { d[52] ^= 1 }, false},
		{"length", ErrMalformed, func(d []byte) { d[48]++ }, false},
		{"header_bytes", ErrMalformed, func(d []byte) { d[8] = 57 }, false},
		{"version", ErrUnsupported, func(d []byte) { d[4] = 2 }, false},
		{"magic", ErrMalformed, func(d []byte) { d[0] = 's' }, false},
	}
	for _, step := range steps {
		if step.change(data); step.sealed {
			seal(data)
		}
		_, err := Parse(data)
		var parse *ParseError
		if !errors.As(err, &parse) || !strings.HasPrefix(parse.Field, step.field) || !errors.Is(err, step.reason) {
			t.Errorf("%v, not of %s", err, step.field)
		}
	}
	for _, format := range []byte{0, 12, 255} {
		data := envelope(Kind(format), 1, make([]byte, 32))
		if _, err := Parse(data); !errors.Is(err, ErrUnsupported) || errors.Is(err, ErrMalformed) {
			t.Errorf("format %d: %v", format, err)
		}
	}
}

func TestALongerHeaderIsSkippedUpToItsLimit(t *testing.T) {
	short := envelope(SplitBlockBloom, 10, encode(t, SplitBlockBloom, 10))
	for headerBytes, want := range map[int]bool{48: false, 56: true, 60: false, 64: true, 4096: true, 4104: false} {
		data := append([]byte{}, short[:56]...)
		for len(data) < headerBytes {
			data = append(data, 0xff)
		}
		data = append(data, short[56:]...)
		binary.LittleEndian.PutUint32(data[8:], uint32(headerBytes))
		s, err := Parse(seal(data))
		if want && (err != nil || !s.MightContain("9")) || !want && !errors.Is(err, ErrMalformed) {
			t.Errorf("header_bytes %d: %v", headerBytes, err)
		}
	}
}

func TestEveryCutIsRefused(t *testing.T) {
	for _, kind := range allKinds {
		data := envelope(kind, 10, encode(t, kind, 10))
		for n := range data {
			if _, err := Parse(data[:n]); !errors.Is(err, ErrMalformed) {
				t.Fatalf("%v, %d of %d bytes: %v", kind, n, len(data), err)
			}
		}
		payload := data[56:]
		for n := range payload {
			if kind == SplitBlockBloom && n > 0 && n%32 == 0 || (kind == Bloom || kind == CountingBloom) && n >= 2 {
				continue // a smaller filter, but a right one
			}
			if _, err := Parse(envelope(kind, 10, payload[:n])); !errors.Is(err, ErrMalformed) {
				t.Fatalf("%v, payload of %d of %d bytes: %v", kind, n, len(payload), err)
			}
		}
	}
}

func TestPayloadsThatAreRefused(t *testing.T) {
	le := func(widths string, values ...uint64) (payload []byte) {
		for i, width := range widths {
			payload = append(payload, le64(nil, values[i])[:width-'0']...)
		}
		return payload
	}
	zeros := func(payload []byte, n int) []byte { return append(payload, make([]byte, n)...) }
	quotient := func(offset1, occupied0, ends0, occupied1, ends1 uint64) []byte { // 70 quotients and slots, r = 1
		p := le("144288", 1, 70, 70, 0, occupied0, ends0)
		p = append(zeros(p, 8), le("288", offset1, occupied1, ends1)...)
		return zeros(p, 1)
	}
	day := func(day uint32, blocks uint64) []byte { return le("44444", uint64(day), 1, 0, 0, blocks) }
	for _, c := range []struct {
		kind    Kind
		names   string // empty: accepted
		payload []byte
	}{
		{SplitBlockBloom, "payload", nil},
		{SplitBlockBloom, "payload", make([]byte, 40)},
		{Bloom, "k: 0", []byte{0, 1}},
		{Bloom, "k: 33", []byte{33, 1}},
		{Bloom, "", []byte{32, 1}},
		{CountingBloom, "payload", []byte{1}},
		{CountingBloom, "k: 0", []byte{0, 1}},
		{DLeft, "r: 0", le("114", 0, 1, 1)},
		{DLeft, "r: 33", le("114", 33, 1, 1)},
		{DLeft, "cells: 0", le("114", 1, 0, 1)},
		{DLeft, "cells: 17", le("114", 1, 17, 1)},
		{DLeft, "buckets: 0", le("114", 1, 1, 0)},
		{DLeft, "fields say", zeros(le("114", 1, 1, 1), 3)},
		{DLeft, "fields say", le("114", 32, 16, math.MaxUint32)},
		{DLeft, "", zeros(le("114", 1, 1, 1), 2)},
		{Quotient, "r: 0", le("144", 0, 1, 1)},
		{Quotient, "r: 33", le("144", 33, 1, 1)},
		{Quotient, "quotients: 0", le("144", 1, 0, 1)},
		{Quotient, "slots: 1", le("144", 1, 2, 1)},
		{Quotient, "slots: 4294967295", le("144", 1, 2, math.MaxUint32)},
		{Quotient, "", quotient(0, 1, 1, 0, 0)},
		{Quotient, "", quotient(1, 1, 0, 0, 1)},
		{Quotient, "offset: 0", quotient(0, 1, 0, 0, 1)},
		{Quotient, "offset: 2", quotient(2, 1, 0, 0, 1)},
		{Quotient, "run_ends: fewer", quotient(0, 3, 1, 0, 0)},
		{Quotient, "run_ends: more", quotient(0, 1, 3, 0, 0)},
		{Quotient, "run_ends: more", quotient(0, 1, 1, 0, 1)},
		{Quotient, "comes after it", quotient(0, 2, 1, 0, 0)},
		{Quotient, "occupied: block 1", quotient(0, 0, 0, 1<<6, 1<<5)},
		{Quotient, "run_ends: block 1", quotient(0, 0, 0, 1<<5, 1<<6)},
		{Cuckoo, "f: 1", zeros(le("14", 1, 1), 1)},
		{Cuckoo, "f: 33", zeros(le("14", 33, 1), 17)},
		{Cuckoo, "buckets: 0", le("14", 2, 0)},
		{Cuckoo, "", zeros(le("14", 2, 1), 1)},
		{IndexedCuckoo, "f: 1", zeros(le("114442", 1, 8, 1, 0, 0, 0), 5)},
		{IndexedCuckoo, "n: 0", zeros(le("114442", 8, 0, 1, 0, 0, 0), 4)},
		{IndexedCuckoo, "n: 33", zeros(le("114442", 8, 33, 1, 0, 0, 0), 21)},
		{IndexedCuckoo, "n: 200", zeros(le("114442", 8, 200, 1, 0, 0, 0), 104)},
		{IndexedCuckoo, "buckets: 0", le("114442", 8, 8, 0, 0, 0, 0)},
		{IndexedCuckoo, "capacity: 257", zeros(le("114442", 8, 8, 1, 0, 257, 0), 8)},
		{IndexedCuckoo, "", zeros(le("114442", 8, 8, 1, 0, 256, 0), 8)},
		{IndexedCuckoo, "", zeros(le("114442", 32, 32, 1, 0, math.MaxUint32, 0), 32)},
		{IndexedCuckoo, "fields say", zeros(le("114442", 8, 8, 1, 0, 256, 1), 8)},
		{BinaryFuse8, "length_log2: 19", le("114", 19, 0, 0)},
		{BinaryFuse8, "fields say", zeros(le("114", 0, 0, 0), 1)},
		{BinaryFuse8, "", le("114", 18, 255, 0)},
		{BinaryFuse8, "segments", le("114", 18, 0, 1<<14)},
		{BinaryFuse16, "fields say", zeros(le("114", 0, 0, 1), 3)},
		{BinaryFuse16, "", zeros(le("114", 0, 0, 1), 6)},
		{DayChain, "", le("4", 0)},
		{DayChain, "days", le("4", math.MaxUint32)},
		{DayChain, "blocks: 0", append(le("4", 1), day(5, 0)...)},
		{DayChain, "days descend", zeros(append(append(le("4", 2), day(4, 1)...), day(5, 1)...), 64)},
		{DayChain, "", zeros(append(append(le("4", 2), day(4, 1)...), day(4, 1)...), 64)},
		{DayChain, "", zeros(append(append(le("4", 2), day(0, 1)...), day(math.MaxUint32, 1)...), 64)},
		{DayChain, "fields say", append(le("4", 1), day(5, math.MaxUint32)...)},
		{Fingerprints, "k: 32", le("14", 32, 0)},
		{Fingerprints, "", le("14", 31, 0)},
		{Fingerprints, "take 0", le("141", 31, 0, 0)},
		{Fingerprints, "count: 9", le("141", 0, 9, 255)},
		{Fingerprints, "", le("141", 0, 8, 255)},
		{Fingerprints, "padding", le("141", 0, 7, 255)},
		{Fingerprints, "ends early", le("141", 0, 8, 127)},
		{Fingerprints, "take 1", le("142", 0, 8, 255)},
		{Fingerprints, "", le("144", 31, 1, 0xffffffff)},                   // gap 2^31 - 1
		{Fingerprints, "", le("145", 31, 1, 0x1fffffffe)},                  // gap 2^32 - 1
		{Fingerprints, "32 bits", le("145", 31, 1, 4)},                     // gap 2^32
		{Fingerprints, "32 bits", le("1481", 31, 2, 0x1fffffffe|1<<33, 0)}, // another one above 2^32 - 1
	} {
		_, err := Parse(envelope(c.kind, 1, c.payload))
		if c.names == "" && err != nil || c.names != "" && (!errors.Is(err, ErrMalformed) || !strings.Contains(err.Error(), c.names)) {
			t.Errorf("%v %x: %v, not of %q", c.kind, c.payload, err, c.names)
		}
	}
}

// use asks a snapshot everything; it only must not panic, nor answer one question in two ways.
func use(t testing.TB, s *Snapshot) {
	t.Helper()
	ids := []string{"", "n1", "42", "0", "1", "2", "a", "b", "c", "d", "e", "f", "g", "h", "曝光"}
	seen := 0
	for _, id := range ids {
		if s.MightContain(id) {
			seen++
		}
		s.Entries(id)
	}
	for f := uint32(0); f < 64; f++ {
		s.MightContainFingerprint(Fingerprint(f * 0x9e3779b1))
		near := s.MightBeNearFingerprint(Fingerprint(f * 0x9e3779b1))
		if held := s.MightHoldGroupFingerprint(Fingerprint(f * 0x9e3779b1)); (near || held) && !s.HasSimilar() {
			t.Error("something is similar, but nothing is said of it")
		}
	}
	if unseen := s.Unseen(ids); len(unseen) != len(ids)-seen {
		t.Errorf("%d of %d unseen, but %d seen", len(unseen), len(ids), seen)
	}
	s.Since(20382).UnseenItems([]Item{{ID: "n1"}, {"n2", s.AsOf()}})
	s.RecallSize(100)
	s.Days()
}

func TestAnyBytesGiveAnAnswerOrAnError(t *testing.T) {
	chance := rand.New(rand.NewSource(17))
	accepted := map[Kind]int{}
	for round := 0; round < 300; round++ {
		for _, kind := range allKinds {
			payload := encode(t, kind, []int{0, 1, 7, 40}[round%4])
			for changes := 1 + chance.Intn(3); changes > 0 && len(payload) > 0; changes-- {
				at := chance.Intn(len(payload))
				if chance.Intn(2) == 0 {
					at = chance.Intn(min(len(payload), 24)) // the fields
				}
				switch chance.Intn(4) {
				case 0:
					payload[at] ^= 1 << chance.Intn(8)
				case 1:
					payload[at] = []byte{0, 1, 127, 128, 255}[chance.Intn(5)]
				case 2:
					payload = append(payload[:at:at], payload[at+chance.Intn(len(payload)-at):]...)
				case 3:
					payload = append(payload, make([]byte, chance.Intn(40))...)
				}
			}
			if s, err := Parse(envelope(kind, 10, payload)); err == nil {
				accepted[kind]++
				use(t, s)
			} else if !errors.Is(err, ErrMalformed) {
				t.Errorf("%v %x: %v", kind, payload, err)
			}
		}
	}
	for _, kind := range allKinds {
		if accepted[kind] == 0 {
			t.Errorf("no changed %v was read: the test tries too little", kind)
		}
	}
}

func min(a, b int) int {
	if a < b {
		return a
	}
	return b
}
