package seen

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"math/rand"
	"reflect"
	"strings"
	"testing"

	"github.com/cespare/xxhash/v2"
)

// testUpdate is an update to be written. Its bytes are from schemas/update.md and share no code with the reader.
type testUpdate struct {
	partition      int32
	generation     int64
	from, to, asOf int64
	filters        []string
	sections       []testSection
	part           uint8
}

type testSection struct {
	mask    uint16
	kind    byte
	until   uint32
	entries []testEntry
}

type testEntry struct {
	user   string
	prints []Fingerprint
}

func (u testUpdate) bytes() []byte {
	data := append([]byte("SEEU"), 1, u.part, 0, 0, 0, 0, 0, 0)
	data = le32(data, uint32(u.partition))
	for _, field := range []int64{u.generation, u.from, u.to, u.asOf} {
		data = le64(data, uint64(field))
	}
	data = append(data, byte(len(u.filters)))
	for _, name := range u.filters {
		data = append(append(data, byte(len(name))), name...)
	}
	for len(data) < 56 {
		data = append(data, 0xee) // fields of later writers
	}
	binary.LittleEndian.PutUint16(data[6:], uint16(len(data)))
	for _, s := range u.sections {
		data = append(data, byte(s.mask), byte(s.mask>>8), s.kind, 0xdd)
		items := 0
		for _, e := range s.entries {
			items += len(e.prints)
		}
		data = le32(le32(le32(data, s.until), uint32(len(s.entries))), uint32(items))
		for _, e := range s.entries {
			data = le64(data, xxhash.Sum64String(e.user))
		}
		for _, e := range s.entries {
			data = append(data, byte(len(e.prints)), byte(len(e.prints)>>8))
		}
		for _, e := range s.entries {
			for _, f := range e.prints {
				data = le32(data, uint32(f))
			}
		}
	}
	return sealUpdate(data)
}

func sealUpdate(data []byte) []byte {
	rest := append(append([]byte{}, data[:8]...), data[12:]...)
	binary.LittleEndian.PutUint32(data[8:], uint32(xxhash.Sum64(rest)))
	return data
}

// printsOf are the fingerprints of items.
func printsOf(ids ...string) (prints []Fingerprint) {
	for _, id := range ids {
		prints = append(prints, FingerprintOf(id))
	}
	return prints
}

// asTest is what the reader makes of an update, but for the users, which are hashes.
func asTest(u *Update) (read testUpdate) {
	read = testUpdate{u.Partition, u.Generation, u.From, u.To, u.AsOfMs, u.Filters, nil, u.Part}
	for i := range u.Sections {
		s := &u.Sections[i]
		section := testSection{mask: s.Mask, until: s.Until}
		if s.Similar {
			section.kind = 1
		}
		s.Each(func(user uint64, count int, at func(int) Fingerprint) {
			entry := testEntry{user: fmt.Sprint(user)}
			for i := 0; i < count; i++ {
				entry.prints = append(entry.prints, at(i))
			}
			section.entries = append(section.entries, entry)
		})
		read.sections = append(read.sections, section)
	}
	return read
}

func exampleUpdate() testUpdate {
	return testUpdate{3, 7, 100, 120, 1763700000123, []string{"default", "曝光"}, []testSection{
		{1, 0, 0, []testEntry{{"u1", printsOf("n1", "42")}, {"u2", printsOf("n1")}, {"u1", printsOf("a")}}},
		{3, 1, 1763700000, []testEntry{{"u3", []Fingerprint{0, math.MaxUint32}}}},
	}, 9}
}

func TestAnUpdateIsReadAsItWasWritten(t *testing.T) {
	for name, want := range map[string]testUpdate{
		"of two filters": exampleUpdate(),
		"no sections":    {0, 1, 0, 0, -1, []string{"a"}, nil, 0},
		"the greatest": {math.MaxInt32, math.MaxInt64, math.MaxInt64, math.MaxInt64, math.MaxInt64,
			strings.Split("a b c d e f g h i j k l m n o "+strings.Repeat("x", 255), " "),
			[]testSection{{0x8000, 0, math.MaxUint32, []testEntry{{"", make([]Fingerprint, math.MaxUint16)}}}}, 255},
	} {
		update, err := ParseUpdate(want.bytes())
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		for i := range want.sections {
			for j := range want.sections[i].entries {
				entry := &want.sections[i].entries[j]
				entry.user = fmt.Sprint(xxhash.Sum64String(entry.user))
			}
		}
		if read := asTest(update); !reflect.DeepEqual(read, want) {
			t.Errorf("%s:\n%+v, not\n%+v", name, read, want)
		}
	}
}

func TestUpdatesAreCheckedInTheSpecifiedOrder(t *testing.T) {
	// Each step breaks one thing more; of all that is broken the one to check first must be named.
	data := exampleUpdate().bytes()
	section := int(binary.LittleEndian.Uint16(data[6:]))
	for _, step := range []struct {
		field  string
		reason error
		change func()
		sealed bool
	}{
		{"update.section.mask", ErrMalformed, func() { data[section] = 4 }, true},
		{"update.filters", ErrMalformed, func() { data[49] = 0 }, true},
		{"update.filter_count", ErrMalformed, func() { data[48] = 17 }, true},
		{"update.as_of_ms", ErrMalformed, func() { copy(data[40:], "\xfe\xff\xff\xff\xff\xff\xff\xff") }, true},
		{"update.to", ErrMalformed, func() { data[32] = 99 }, true},
		{"update.from", ErrMalformed, func() { data[31] = 0x80 }, true},
		{"update.generation", ErrMalformed, func() { data[16] = 0 }, true},
		{"update.partition", ErrMalformed, func() { data[15] = 0x80 }, true},
		{"update.checksum", ErrMalformed, func() { data[8] ^= 1 }, false},
		{"update.header_bytes", ErrMalformed, func() { data[6], data[7] = 0, 32 }, false}, // beyond the record
		{"update.header_bytes", ErrMalformed, func() { data[6], data[7] = 1, 32 }, false},
		{"update.header_bytes", ErrMalformed, func() { data[6], data[7] = 55, 0 }, false},
		{"update.version", ErrUnsupported, func() { data[4] = 2 }, false},
		{"update.length", ErrMalformed, func() { data = data[:55] }, false},
		{"update.magic", ErrMalformed, func() { data[3] = 'N' }, false},
		{"update.magic", ErrMalformed, func() { data = data[:3] }, false},
		{"update.magic", ErrMalformed, func() { data = nil }, false},
	} {
		if step.change(); step.sealed {
			sealUpdate(data)
		}
		update, err := ParseUpdate(data)
		var parse *ParseError
		if update != nil || !errors.As(err, &parse) || parse.Field != step.field || !errors.Is(err, step.reason) {
			t.Errorf("%v, not of %s", err, step.field)
		}
	}
}

func TestSectionsAndNamesThatAreRefused(t *testing.T) {
	section := func(mask uint16, kind byte, entries ...testEntry) testUpdate {
		u := exampleUpdate()
		u.sections = []testSection{{mask, kind, 0, entries}}
		return u
	}
	named := func(names ...string) testUpdate {
		return testUpdate{1, 1, 0, 1, -1, names, nil, 0}
	}
	good := section(3, 0, testEntry{"u", printsOf("a", "b")}, testEntry{"v", printsOf("c")})
	changed := func(at int, to ...byte) []byte { // bytes of the section
		data := good.bytes()
		copy(data[int(data[6])+at:], to)
		return sealUpdate(data)
	}
	for name, c := range map[string]struct {
		field  string // empty: accepted
		reason error
		data   []byte
	}{
		"good":                 {"", nil, good.bytes()},
		"a byte readers skip":  {"", nil, changed(3, 1)},
		"no bit":               {"update.section.mask", ErrMalformed, changed(0, 0)},
		"a bit beyond":         {"update.section.mask", ErrMalformed, changed(0, 5)},
		"a bit far beyond":     {"update.section.mask", ErrMalformed, changed(1, 0x80)},
		"a later kind":         {"update.section.kind", ErrUnsupported, changed(2, 2)},
		"no users":             {"update.section", ErrMalformed, section(1, 0).bytes()},
		"no items of a user":   {"update.section.users", ErrMalformed, changed(32, 0, 0, 3, 0)},
		"too many of a user":   {"update.section.items", ErrMalformed, changed(32, 3)},
		"too few of a user":    {"update.section.items", ErrMalformed, changed(32, 1)},
		"4 billion of a user":  {"update.section.items", ErrMalformed, changed(32, 0xff, 0xff)},
		"more users":           {"update.section", ErrMalformed, changed(8, 3)},
		"more items":           {"update.section", ErrMalformed, changed(12, 4)},
		"fewer items":          {"update.section.items", ErrMalformed, changed(12, 2)},
		"users beyond 32 bits": {"update.section", ErrMalformed, changed(8, 0xff, 0xff, 0xff, 0xff)},
		"a length of 2^32":     {"update.section", ErrMalformed, changed(8, 0x9a, 0x99, 0x99, 0x19)},
		"items beyond 32 bits": {"update.section", ErrMalformed, changed(12, 0xff, 0xff, 0xff, 0xff)},
		"bytes behind it":      {"update.section", ErrMalformed, sealUpdate(append(good.bytes(), 1, 0))},
		"no filter":            {"update.filter_count", ErrMalformed, named().bytes()},
		"a name of no bytes":   {"update.filters", ErrMalformed, named("a", "").bytes()},
		"a name twice":         {"update.filters", ErrMalformed, named("a", "b", "a").bytes()},
		"another case":         {"", nil, named("a", "A").bytes()},
	} {
		_, err := ParseUpdate(c.data)
		var parse *ParseError
		if c.field == "" && err == nil {
			continue
		}
		if !errors.As(err, &parse) || parse.Field != c.field || !errors.Is(err, c.reason) {
			t.Errorf("%s: %v, not of %q", name, err, c.field)
		}
	}
	for name, change := range map[string]func(d []byte){
		"a name behind the header": func(d []byte) { d[49] = 7 },
		"one more than there are":  func(d []byte) { d[48] = 4 },
	} {
		data := named("a", "bb", "cc").bytes() // 56 bytes with a byte of others behind it
		data[49+2+3+3-1] = 'c'
		change(data)
		_, err := ParseUpdate(sealUpdate(data[:]))
		var parse *ParseError
		if !errors.As(err, &parse) || parse.Field != "update.filters" {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestEveryCutAndEveryBitOfAnUpdateIsRefused(t *testing.T) {
	data := exampleUpdate().bytes()
	for n := range data {
		if _, err := ParseUpdate(data[:n]); !errors.Is(err, ErrMalformed) {
			t.Errorf("%d of %d bytes: %v", n, len(data), err)
		}
	}
	for bit := 0; bit < 8*len(data); bit++ {
		damaged := append([]byte{}, data...)
		damaged[bit/8] ^= 1 << (bit % 8)
		if _, err := ParseUpdate(damaged); err == nil {
			t.Errorf("bit %d is another, and the update is read", bit)
		}
	}
}

func TestAnyBytesGiveAnUpdateOrAnError(t *testing.T) {
	chance, taken := rand.New(rand.NewSource(19)), 0
	for round := 0; round < 5000; round++ {
		data := exampleUpdate().bytes()
		for changes := 1 + chance.Intn(3); changes > 0 && len(data) > 0; changes-- {
			at := chance.Intn(len(data))
			switch chance.Intn(4) {
			case 0:
				data[at] ^= 1 << chance.Intn(8)
			case 1:
				data[at] = []byte{0, 1, 127, 128, 255}[chance.Intn(5)]
			case 2:
				data = append(data[:at:at], data[at+chance.Intn(len(data)-at):]...)
			case 3:
				data = append(data, make([]byte, chance.Intn(40))...)
			}
		}
		taken += tryUpdate(t, data)
	}
	if taken < 500 {
		t.Errorf("%d changed updates were taken: the test tries too little", taken)
	}
}
