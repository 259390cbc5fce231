package seen

// Small encoders of every kind, written from schemas/snapshot.md and sharing no code with the readers: what the tests
// here need beside the golden files. They aim at clear code, not at small filters.

import (
	"encoding/binary"
	"math"
	"math/rand"
	"sort"
	"strconv"
	"testing"

	"github.com/cespare/xxhash/v2"
)

var allKinds = []Kind{SplitBlockBloom, Bloom, CountingBloom, DLeft, Quotient, Cuckoo, IndexedCuckoo, BinaryFuse8,
	BinaryFuse16, DayChain, Fingerprints}

// envelope puts a payload into a snapshot with a right checksum.
func envelope(kind Kind, items int, payload []byte) []byte {
	data := append([]byte("SEEN"), 1, byte(kind), 1, 0)
	data = le32(data, 56)
	data = le32(data, uint32(items))
	data = le64(data, 1763700000123)
	data = le32(data, 20383)
	data = le32(data, 3)
	data = le64(data, 123456789)
	data = le64(data, math.Float64bits(0.01))
	data = le32(data, uint32(len(payload)))
	data = le32(data, 0)
	return seal(append(data, payload...))
}

// seal makes the checksum right again.
func seal(data []byte) []byte {
	rest := append(append([]byte{}, data[:52]...), data[56:]...)
	binary.LittleEndian.PutUint32(data[52:], uint32(xxhash.Sum64(rest)))
	return data
}

func le32(b []byte, v uint32) []byte { return append(b, byte(v), byte(v>>8), byte(v>>16), byte(v>>24)) }
func le64(b []byte, v uint64) []byte { return le32(le32(b, uint32(v)), uint32(v>>32)) }

// encode is the payload of a kind for the ids 0 .. n-1 as integers.
func encode(t testing.TB, kind Kind, n int) []byte {
	t.Helper()
	known := map[Fingerprint]bool{}
	for i := 0; i < n; i++ {
		known[FingerprintOf(strconv.Itoa(i))] = true
	}
	var prints []Fingerprint
	for f := range known {
		prints = append(prints, f)
	}
	sort.Slice(prints, func(i, j int) bool { return prints[i] < prints[j] })
	switch kind {
	case SplitBlockBloom:
		return encodeBlocks(prints, n/20+1)
	case Bloom:
		return encodeBloom(prints, 1)
	case CountingBloom:
		return encodeBloom(prints, 4)
	case DLeft:
		return encodeDLeft(t, prints)
	case Quotient:
		return encodeQuotient(prints, 9, uint32(n)+3)
	case Cuckoo:
		return encodeCuckoo(t, prints, 11, 0, uint32(n/3)+1, nil)
	case IndexedCuckoo:
		days := [][2]uint32{{20381, ^uint32(9)}, {20382, 5}}
		return encodeCuckoo(t, prints, 12, 14, uint32(n/3)+1, days)
	case BinaryFuse8, BinaryFuse16:
		return encodeFuse(t, prints, int(kind-BinaryFuse8)+1)
	case DayChain:
		return encodeChain(prints)
	case Fingerprints:
		return encodeGolombRice(prints, 20)
	}
	t.Fatalf("no encoder of %v", kind)
	return nil
}

func hashOf(f Fingerprint) (hi, lo uint64) {
	h := xxhash.Sum64(le32(nil, uint32(f)))
	return h >> 32, h & math.MaxUint32
}

type bitString []byte

func (b bitString) set(at uint64, width int, value uint64) {
	for i := 0; i < width; i++ {
		if value>>i&1 != 0 {
			b[(at+uint64(i))/8] |= 1 << ((at + uint64(i)) % 8)
		}
	}
}

func (b bitString) get(at uint64, width int) (value uint64) {
	for i := 0; i < width; i++ {
		value |= uint64(b[(at+uint64(i))/8]>>((at+uint64(i))%8)&1) << i
	}
	return value
}

func encodeBlocks(prints []Fingerprint, blocks int) []byte {
	words := make(bitString, 32*blocks)
	for _, f := range prints {
		hi, lo := hashOf(f)
		for i, salt := range []uint64{0x47b6137b, 0x44974d91, 0x8824ad5b, 0xa2b7289d, 0x705495c7, 0x2df1424b, 0x9efc4947, 0x5c6bfb31} {
			words.set(hi*uint64(blocks)>>32*256+uint64(i)*32+lo*salt&math.MaxUint32>>27, 1, 1)
		}
	}
	return words
}

func encodeBloom(prints []Fingerprint, width int) []byte {
	const k = 7
	payload := make([]byte, 1+(10*len(prints)*width+7)/8+1)
	payload[0] = k
	rest := bitString(payload[1:])
	places := uint64(8 * len(rest) / width)
	for _, f := range prints {
		hi, lo := hashOf(f)
		g := hi<<32 | lo
		for i := 0; i < k; i++ {
			at := g >> 32 * places >> 32 * uint64(width)
			rest.set(at, width, 1) // a counter's lowest bit is enough: 1, 3, 7 or 15 are all above 0
			g *= 0xd1342543de82ef95
		}
	}
	return payload
}

func encodeDLeft(t testing.TB, prints []Fingerprint) []byte {
	const r, cells = 13, 8
	buckets := uint64(len(prints)/20 + 1)
	rest := make(bitString, (4*buckets*cells*(r+2)+7)/8)
	for _, f := range prints {
		hi, lo := hashOf(f)
		remainder := lo & (1<<r - 1)
		best, bestAt := cells, uint64(0)
		stored := false
		for i, multiplier := range []uint64{0x9e3779b1, 0x85ebca77, 0xc2b2ae3d, 0x27d4eb2f} {
			bucket := (hi*buckets>>32 + (remainder+1)*multiplier&math.MaxUint32*buckets>>32) % buckets
			at := (uint64(i)*buckets + bucket) * cells * (r + 2)
			load := 0
			for ; load < cells && rest.get(at+uint64(load)*(r+2), 2) > 0; load++ {
				stored = stored || rest.get(at+uint64(load)*(r+2)+2, r) == remainder
			}
			if load < best {
				best, bestAt = load, at+uint64(load)*(r+2)
			}
		}
		if best == cells && !stored {
			t.Fatal("no free cell")
		}
		if !stored {
			rest.set(bestAt, 2, 1)
			rest.set(bestAt+2, r, remainder)
		}
	}
	return append(le32([]byte{r, cells}, uint32(buckets)), rest...)
}

func encodeQuotient(prints []Fingerprint, r uint, quotients uint32) []byte {
	type item struct{ quotient, remainder uint64 }
	var items []item
	for _, f := range prints {
		hi, _ := hashOf(f)
		y := hi * uint64(quotients)
		items = append(items, item{y >> 32, y & math.MaxUint32 >> (32 - r)})
	}
	sort.Slice(items, func(i, j int) bool {
		a, b := items[i], items[j]
		return a.quotient < b.quotient || a.quotient == b.quotient && a.remainder < b.remainder
	})
	at, slot := make([]uint64, len(items)), uint64(0)
	for i, item := range items {
		if slot < item.quotient {
			slot = item.quotient
		}
		at[i] = slot
		slot++
	}
	slots := uint64(quotients)
	if slot > slots {
		slots = slot
	}
	payload := le32(le32([]byte{byte(r)}, quotients), uint32(slots))
	for from := uint64(0); from < slots; from += 64 {
		remainders := make(bitString, 8*r)
		if slots-from < 64 {
			remainders = remainders[:((slots-from)*uint64(r)+7)/8]
		}
		offset, occupied, ends := uint64(0), uint64(0), uint64(0)
		for i, item := range items {
			if item.quotient < from && at[i] >= from {
				offset = at[i] + 1 - from
			}
			if item.quotient/64 == from/64 {
				occupied |= 1 << (item.quotient % 64)
			}
			if at[i]/64 == from/64 {
				remainders.set(at[i]%64*uint64(r), int(r), item.remainder)
				if i+1 == len(items) || items[i+1].quotient != item.quotient {
					ends |= 1 << (at[i] % 64)
				}
			}
		}
		payload = append(payload, byte(offset), byte(offset>>8))
		payload = append(le64(le64(payload, occupied), ends), remainders...)
	}
	return payload
}

// encodeCuckoo is kind 6, or 7 where numberBits isn't 0: items are numbered from 2^32 - 10 on, as they come.
func encodeCuckoo(t testing.TB, prints []Fingerprint, f, numberBits int, buckets uint32, days [][2]uint32) []byte {
	type place struct {
		entry  uint64
		number uint32
	}
	other := func(bucket, entry uint64) uint64 {
		return (entry*0x9e3779b1&math.MaxUint32*uint64(buckets)>>32 + uint64(buckets) - bucket) % uint64(buckets)
	}
	table := make([][]place, buckets)
	chance := rand.New(rand.NewSource(1))
	number := ^uint32(9)
	for _, print := range prints {
		hi, lo := hashOf(print)
		held, bucket := place{lo*(1<<f-1)>>32 + 1, number}, hi*uint64(buckets)>>32
		number++
		for kicks := 0; ; kicks++ {
			if kicks == 0 && len(table[bucket]) == 4 {
				bucket = other(bucket, held.entry)
			}
			if len(table[bucket]) < 4 {
				table[bucket] = append(table[bucket], held)
				break
			}
			out := chance.Intn(4)
			table[bucket][out], held = held, table[bucket][out]
			bucket = other(bucket, held.entry)
			if kicks > 500 {
				t.Fatal("full")
			}
		}
	}
	rest := make(bitString, (4*uint64(buckets)*uint64(f+numberBits)+7)/8)
	for b, places := range table {
		for j, p := range places {
			at := uint64(4*b+j) * uint64(f+numberBits)
			rest.set(at, f, p.entry)
			rest.set(at+uint64(f), numberBits, uint64(p.number))
		}
	}
	if numberBits == 0 {
		return append(le32([]byte{byte(f)}, buckets), rest...)
	}
	payload := le32(le32(le32([]byte{byte(f), byte(numberBits)}, buckets), number), uint32(len(prints)))
	payload = append(payload, byte(len(days)), 0)
	for _, day := range days {
		payload = le32(le32(payload, day[0]), day[1])
	}
	return append(payload, rest...)
}

// encodeFuse tries seeds, then twice the room, until the items can be peeled one by one.
func encodeFuse(t testing.TB, prints []Fingerprint, entryBytes int) []byte {
	const lengthLog2, length = 4, 1 << 4
	if len(prints) == 0 {
		return []byte{lengthLog2, 0, 0, 0, 0, 0}
	}
	for segments := uint64(len(prints)/length + 2); ; segments *= 2 {
		for seed := 0; seed < 256; seed++ {
			if entries := peel(prints, segments, length, seed); entries != nil {
				payload := le32([]byte{lengthLog2, byte(seed)}, uint32(segments))
				for _, entry := range entries {
					payload = append(payload, le32(nil, uint32(entry))[:entryBytes]...)
				}
				return payload
			}
		}
	}
}

func peel(prints []Fingerprint, segments, length uint64, seed int) []uint64 {
	type item struct {
		entry  uint64
		places [3]uint64
	}
	items, at := make([]item, len(prints)), make([][]int, (segments+2)*length)
	for i, f := range prints {
		hi, lo := hashOf(f)
		x := hi<<32 + lo + uint64(seed)*0x9e3779b97f4a7c15
		x = (x ^ x>>33) * 0xff51afd7ed558ccd
		x = (x ^ x>>33) * 0xc4ceb9fe1a85ec53
		x ^= x >> 33
		first := x >> 32 * (segments * length) >> 32
		items[i] = item{x ^ x>>32, [3]uint64{first, (first + length) ^ x>>18&(length-1), (first + 2*length) ^ x&(length-1)}}
		for _, p := range items[i].places {
			at[p] = append(at[p], i)
		}
	}
	type step struct {
		item  int
		place uint64
	}
	var order []step
	done := make([]bool, len(items))
	for found := true; found; {
		found = false
		for p := range at {
			left := at[p][:0]
			for _, i := range at[p] {
				if !done[i] {
					left = append(left, i)
				}
			}
			if at[p] = left; len(left) == 1 {
				order, done[left[0]], found = append(order, step{left[0], uint64(p)}), true, true
			}
		}
	}
	if len(order) < len(items) {
		return nil
	}
	entries := make([]uint64, len(at))
	for i := len(order) - 1; i >= 0; i-- {
		item := items[order[i].item]
		entries[order[i].place] = item.entry ^ entries[item.places[0]] ^ entries[item.places[1]] ^ entries[item.places[2]]
	}
	return entries
}

// encodeChain spreads the items over three days, by turns: the newest is 20383.
func encodeChain(prints []Fingerprint) []byte {
	const days = 3
	payload, blocks := le32(nil, days), []byte{}
	for d := uint32(0); d < days; d++ {
		var ofDay []Fingerprint
		for i, f := range prints {
			if uint32(i)%days == d {
				ofDay = append(ofDay, f)
			}
		}
		day := 20383 - d
		filter := encodeBlocks(ofDay, len(ofDay)/15+1)
		payload = le32(le32(payload, day), uint32(len(ofDay)))
		payload = le32(le32(payload, day*86400+100), day*86400+200)
		payload = le32(payload, uint32(len(filter)/32))
		blocks = append(blocks, filter...)
	}
	return append(payload, blocks...)
}

func encodeGolombRice(prints []Fingerprint, k uint) []byte {
	var bits []byte // one each
	smallest := uint64(0)
	for _, f := range prints {
		gap := uint64(f) - smallest
		for zeros := gap >> k; zeros > 0; zeros-- {
			bits = append(bits, 0)
		}
		bits = append(bits, 1)
		for i := uint(0); i < k; i++ {
			bits = append(bits, byte(gap>>i&1))
		}
		smallest = uint64(f) + 1
	}
	rest := make(bitString, (len(bits)+7)/8)
	for i, bit := range bits {
		rest.set(uint64(i), 1, uint64(bit))
	}
	return append(le32([]byte{byte(k)}, uint32(len(prints))), rest...)
}
