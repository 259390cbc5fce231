package seen

import (
	"encoding/binary"
	"errors"
	"math"
	"math/rand"
	"strings"
	"testing"

	"github.com/cespare/xxhash/v2"
)

// withSimilar is the snapshot with the payload of what is similar at its end.
func withSimilar(snapshot []byte, kind Kind, payload []byte) []byte {
	data := append([]byte{}, snapshot[:56]...)
	data[7] = flagSimilar
	binary.LittleEndian.PutUint32(data[8:], 72)
	binary.LittleEndian.PutUint32(data[48:], uint32(len(snapshot)-56+len(payload)))
	fields := [16]byte{4: byte(kind), 8: 3}
	binary.LittleEndian.PutUint32(fields[:], uint32(len(payload)))
	data = append(append(append(data, fields[:]...), snapshot[56:]...), payload...)
	return seal(data)
}

// exactly is a payload of the kind Fingerprints, of one fingerprint.
func exactly(f Fingerprint) []byte {
	return le64([]byte{31, 1, 0, 0, 0}, 1<<(f>>31)|uint64(f&math.MaxInt32)<<(f>>31+1))[:5+5]
}

func domainOf(id string, domain byte) Fingerprint {
	var bytes [5]byte
	binary.LittleEndian.PutUint32(bytes[:], uint32(FingerprintOf(id)))
	bytes[4] = domain
	return Fingerprint(xxhash.Sum64(bytes[:]) >> 32)
}

func TestSimilarIsAskedApartFromWhatWasSeen(t *testing.T) {
	for _, c := range []struct {
		id          string
		domain      byte
		near, group bool
	}{{"42", 1, true, false}, {"42", 2, false, true}} {
		// A gap below 2^31 takes a bit less than one above: exactly's payload must have no byte too many.
		payload := exactly(domainOf(c.id, c.domain))
		if domainOf(c.id, c.domain)>>31 == 0 {
			payload = payload[:5+4]
		}
		s, err := Parse(withSimilar(envelope(Bloom, 10, encode(t, Bloom, 10)), Fingerprints, payload))
		if err != nil {
			t.Fatal(err)
		}
		if !s.HasSimilar() || s.SimilarKind() != Fingerprints || s.SimilarCount() != 3 || !s.MightContain("9") {
			t.Errorf("%v %v %d", s.HasSimilar(), s.SimilarKind(), s.SimilarCount())
		}
		if s.MightBeNear(c.id) != c.near || s.MightBeNearInt(42) != c.near || s.MightBeNear("43") {
			t.Errorf("domain %d: near is %v", c.domain, s.MightBeNear(c.id))
		}
		if s.MightHoldGroup(c.id) != c.group || s.MightHoldGroupInt(42) != c.group || s.MightHoldGroup("43") {
			t.Errorf("domain %d: group is %v", c.domain, s.MightHoldGroup(c.id))
		}
		if got := s.MightBeNearEach([]string{"a", c.id}); got[0] || got[1] != c.near {
			t.Errorf("MightBeNearEach: %v", got)
		}
		if got := s.MightHoldGroupEach([]string{"a", c.id}); got[0] || got[1] != c.group {
			t.Errorf("MightHoldGroupEach: %v", got)
		}
	}
	empty := Empty(1)
	if empty.HasSimilar() || empty.MightBeNear("42") || empty.MightHoldGroup("42") || empty.SimilarKind().String() != "empty" {
		t.Error("an empty snapshot says what is similar")
	}
}

func TestSimilarThatIsRefused(t *testing.T) {
	first := envelope(Bloom, 10, encode(t, Bloom, 10))
	good := withSimilar(first, SplitBlockBloom, encode(t, SplitBlockBloom, 10))
	payload := uint32(len(good) - 72)
	for _, c := range []struct {
		field  string
		reason error
		change func(d []byte) []byte
	}{
		{"header_bytes", ErrMalformed, func([]byte) []byte {
			d := append([]byte{}, first...)
			d[7] = 1
			return d
		}},
		{"header_bytes", ErrMalformed, func(d []byte) []byte { d[8] = 64; return append(d[:64], d[72:]...) }},
		{"flags", ErrUnsupported, func(d []byte) []byte { d[7] = 3; return d }},
		{"similar_bytes", ErrMalformed, func(d []byte) []byte { binary.LittleEndian.PutUint32(d[56:], payload+1); return d }},
		{"similar_bytes", ErrMalformed, func(d []byte) []byte {
			binary.LittleEndian.PutUint32(d[56:], math.MaxUint32)
			return d
		}},
		{"similar_format", ErrUnsupported, func(d []byte) []byte { d[60] = 0; return d }},
		{"similar_format", ErrUnsupported, func(d []byte) []byte { d[60] = 7; return d }},
		{"similar_format", ErrUnsupported, func(d []byte) []byte { d[60] = 10; return d }},
		{"similar_format", ErrUnsupported, func(d []byte) []byte { d[60] = 12; return d }},
		{"payload", ErrMalformed, func(d []byte) []byte { binary.LittleEndian.PutUint32(d[56:], payload); return d }},
		{"similar payload", ErrMalformed, func(d []byte) []byte { d[56] = 8; return d }},
		{"", nil, func(d []byte) []byte { copy(d[61:64], "abc"); copy(d[68:72], "defg"); return d }},
	} {
		data := seal(c.change(append([]byte{}, good...)))
		_, err := Parse(data)
		if c.field == "" {
			if err != nil {
				t.Errorf("what readers don't look at: %v", err)
			}
			continue
		}
		var parse *ParseError
		if !errors.As(err, &parse) || !strings.HasPrefix(parse.Field, c.field) || !errors.Is(err, c.reason) {
			t.Errorf("%v, not of %s", err, c.field)
		}
	}
}

func TestAnyBytesOfWhatIsSimilarGiveAnAnswerOrAnError(t *testing.T) {
	chance := rand.New(rand.NewSource(18))
	accepted := map[Kind]int{}
	first := envelope(Bloom, 10, encode(t, Bloom, 10))
	for round := 0; round < 200; round++ {
		for _, kind := range allKinds {
			data := withSimilar(first, kind, encode(t, kind, []int{0, 1, 7, 40}[round%4]))
			for changes := 1 + chance.Intn(3); changes > 0; changes-- {
				at := 56 + chance.Intn(len(data)-56)
				if chance.Intn(4) == 0 {
					at = 56 + chance.Intn(16) // the fields
				}
				data[at] = []byte{0, 1, 127, 128, 255, byte(chance.Intn(256))}[chance.Intn(6)]
			}
			if s, err := Parse(seal(data)); err == nil {
				accepted[s.SimilarKind()]++
				use(t, s)
			}
		}
	}
	for _, kind := range allKinds {
		if days := kind == IndexedCuckoo || kind == DayChain; days == (accepted[kind] > 0) {
			t.Errorf("%d changed %v were read", accepted[kind], kind)
		}
	}
}
