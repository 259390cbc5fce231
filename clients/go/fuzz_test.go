package seen

import (
	"encoding/binary"
	"errors"
	"testing"
)

// FuzzParse: any bytes give a snapshot that answers, or a *ParseError.
//
//	go test -fuzz FuzzParse
func FuzzParse(f *testing.F) {
	index := readGoldenIndex(f)
	for _, row := range index.Snapshots {
		f.Add(readGolden(f, row.File))
	}
	for _, row := range index.Refused {
		f.Add(readGolden(f, row.File))
	}
	f.Fuzz(func(t *testing.T, data []byte) { tryParse(t, data) })
}

// FuzzPayload: likewise, of payloads in an envelope whose checksum is right.
func FuzzPayload(f *testing.F) {
	for _, kind := range allKinds {
		for _, n := range []int{0, 1, 30} {
			f.Add(byte(kind), encode(f, kind, n))
		}
	}
	f.Fuzz(func(t *testing.T, kind byte, payload []byte) { tryParse(t, envelope(Kind(kind), 10, payload)) })
}

// FuzzSimilar: likewise, of what is similar behind a filter of items.
func FuzzSimilar(f *testing.F) {
	for _, kind := range allKinds {
		for _, n := range []int{0, 1, 30} {
			f.Add(byte(kind), uint32(0), encode(f, kind, n))
		}
	}
	f.Fuzz(func(t *testing.T, kind byte, more uint32, payload []byte) {
		data := withSimilar(envelope(Bloom, 10, encode(t, Bloom, 10)), Kind(kind), payload)
		binary.LittleEndian.PutUint32(data[56:], uint32(len(payload))+more)
		tryParse(t, seal(data))
	})
}

func tryParse(t *testing.T, data []byte) {
	s, err := Parse(data)
	var parse *ParseError
	switch {
	case err == nil:
		use(t, s)
	case !errors.As(err, &parse) || parse.Field == "" || parse.Problem == "" || s != nil:
		t.Errorf("%v %v", s, err)
	}
}

// FuzzWatermark: any key and value are taken in, or refused.
func FuzzWatermark(f *testing.F) {
	f.Add([]byte("3"), watermark(1, 0))
	f.Add([]byte("-1"), []byte(`{"version":1}`))
	f.Add([]byte(""), []byte(`[`))
	f.Fuzz(func(t *testing.T, key, value []byte) {
		var marks Watermarks
		var parse *ParseError
		if err := marks.Apply(key, value); err != nil && !errors.As(err, &parse) {
			t.Error(err)
		}
		marks.AsOf(Empty(3))
	})
}

// FuzzUpdate: any bytes give an update that a reader takes, or a *ParseError.
func FuzzUpdate(f *testing.F) {
	f.Add(exampleUpdate().bytes())
	f.Add(testUpdate{0, 7, 100, 110, -1, []string{"f"}, []testSection{{1, 1, 5, []testEntry{{"u", printsOf("a")}}}}, 1}.bytes())
	f.Add([]byte("SEEU"))
	f.Fuzz(func(t *testing.T, data []byte) { tryUpdate(t, data) })
}

// tryUpdate tries the bytes as they are, and with a right checksum. It is how many of the two were taken.
func tryUpdate(t *testing.T, data []byte) (taken int) {
	tries := [][]byte{data}
	if len(data) >= 12 {
		tries = append(tries, sealUpdate(append([]byte{}, data...)))
	}
	for _, try := range tries {
		r := begun(t, 100)
		update, err := ParseUpdate(try)
		var parse *ParseError
		switch takes := r.TakeUpdate(try); {
		case (err == nil) != (takes == nil):
			t.Errorf("%v, but %v", err, takes)
		case err != nil && (!errors.As(err, &parse) || parse.Field == "" || parse.Problem == "" || update != nil):
			t.Errorf("%v %v", update, err)
		case err == nil:
			taken++
			count := 0
			for i := range update.Sections {
				count += update.Sections[i].Additions()
				update.Sections[i].Each(func(_ uint64, items int, at func(int) Fingerprint) {
					for n := 0; n < items; n++ {
						at(n)
						count--
					}
				})
			}
			if count != 0 {
				t.Errorf("%d additions more than Each gives", count)
			}
			r.MightContain("u1", "n1")
			r.MightBeNear("u3", "n1")
		}
	}
	return taken
}
