package seen

import (
	"encoding/binary"
	"math/bits"
)

const (
	quotientFieldsBytes = 9
	quotientBlockSlots  = 64
	quotientBlockFields = 18 // offset, occupied, run_ends
	quotientSlotsMax    = 1<<32 - 64
)

// quotient is kind 5, with rank and select. Source: Pandey, Bender, Johnson, Patro 2017, section 4; Bender et al. 2012.
type quotient struct {
	remainderBits uint
	quotients     uint32
	slots         uint32
	blockBytes    uint64
	rest          []byte
}

func readQuotient(payload []byte) (filter, error) {
	if err := wantAtLeast(payload, quotientFieldsBytes); err != nil {
		return nil, err
	}
	r, quotients := payload[0], binary.LittleEndian.Uint32(payload[1:])
	slots := binary.LittleEndian.Uint32(payload[5:])
	err := firstError(wantRange("r", uint64(r), 1, 32), wantRange("quotients", uint64(quotients), 1, 1<<32-1),
		wantRange("slots", uint64(slots), uint64(quotients), quotientSlotsMax))
	if err != nil {
		return nil, err
	}
	q := &quotient{uint(r), quotients, slots, quotientBlockFields + 8*uint64(r), payload[quotientFieldsBytes:]}
	whole, last := uint64(slots-1)/quotientBlockSlots, uint64(slots-1)%quotientBlockSlots+1
	length := quotientFieldsBytes + whole*q.blockBytes + quotientBlockFields + bytesFor(last*uint64(r))
	if err := wantLength(payload, length); err != nil {
		return nil, err
	}
	return q, q.check()
}

func (q *quotient) blocks() uint64 {
	return (uint64(q.slots) + quotientBlockSlots - 1) / quotientBlockSlots
}
func (q *quotient) block(b uint64) []byte    { return q.rest[b*q.blockBytes:] }
func (q *quotient) offset(b uint64) uint64   { return uint64(binary.LittleEndian.Uint16(q.block(b))) }
func (q *quotient) occupied(b uint64) uint64 { return binary.LittleEndian.Uint64(q.block(b)[2:]) }
func (q *quotient) runEnds(b uint64) uint64  { return binary.LittleEndian.Uint64(q.block(b)[10:]) }
func (q *quotient) remainder(slot uint64) uint64 {
	in := slot % quotientBlockSlots * uint64(q.remainderBits)
	return bitsAt(q.block(slot / quotientBlockSlots)[quotientBlockFields:], in, q.remainderBits)
}

// check walks occupied quotients and run ends side by side: each has its own, not before it, and every block's offset
// follows from the runs before. A look-up relies on that.
func (q *quotient) check() error {
	beyond := func(b uint64, limit uint32) uint64 { // bits of block b at or after `limit`
		from := b * quotientBlockSlots
		switch {
		case from >= uint64(limit):
			return ^uint64(0)
		case uint64(limit)-from >= quotientBlockSlots:
			return 0
		}
		return ^uint64(0) << (uint64(limit) - from)
	}
	endsBlock, ends := uint64(0), q.runEnds(0) // run ends that have no quotient yet, from endsBlock on
	taken := uint64(0)                         // slots up to here belong to runs of the quotients so far
	for b := uint64(0); b < q.blocks(); b++ {
		from := b * quotientBlockSlots
		if q.occupied(b)&beyond(b, q.quotients) != 0 {
			return malformed("payload.occupied", "block %d has a bit at or after the last of %d quotients", b, q.quotients)
		}
		if q.runEnds(b)&beyond(b, q.slots) != 0 {
			return malformed("payload.run_ends", "block %d has a bit at or after the last of %d slots", b, q.slots)
		}
		offset := uint64(0)
		if taken > from {
			offset = taken - from
		}
		if q.offset(b) != offset {
			return malformed("payload.offset", "%d of block %d; by the bits it is %d", q.offset(b), b, offset)
		}
		for occupied := q.occupied(b); occupied != 0; occupied &= occupied - 1 {
			for ends == 0 {
				if endsBlock++; endsBlock == q.blocks() {
					return malformed("payload.run_ends", "fewer than occupied quotients")
				}
				ends = q.runEnds(endsBlock)
			}
			number := from + uint64(bits.TrailingZeros64(occupied))
			end := endsBlock*quotientBlockSlots + uint64(bits.TrailingZeros64(ends))
			if end < number {
				return malformed("payload.run_ends", "slot %d ends the run of quotient %d, which comes after it", end, number)
			}
			taken, ends = end+1, ends&(ends-1)
		}
	}
	for ; ends == 0; ends = q.runEnds(endsBlock) {
		if endsBlock++; endsBlock == q.blocks() {
			return nil
		}
	}
	return malformed("payload.run_ends", "more than occupied quotients")
}

func (q *quotient) contains(_ Fingerprint, h uint64, _ bounds) bool {
	y := uint64(high32(h)) * uint64(q.quotients)
	number, remainder := y>>32, uint64(low32(y)>>(32-q.remainderBits))
	b, bit := number/quotientBlockSlots, number%quotientBlockSlots
	occupied := q.occupied(b)
	if occupied>>bit&1 == 0 {
		return false
	}
	nth := bits.OnesCount64(occupied << (63 - bit))
	slot := q.runEnd(b*quotientBlockSlots+q.offset(b), nth)
	for {
		if q.remainder(slot) == remainder {
			return true
		}
		if slot == number || q.endsRun(slot-1) {
			return false
		}
		slot--
	}
}

func (q *quotient) endsRun(slot uint64) bool {
	return q.runEnds(slot/quotientBlockSlots)>>(slot%quotientBlockSlots)&1 != 0
}

// runEnd is the nth run end, from 1, at or after the slot. There is one: check counted them.
func (q *quotient) runEnd(from uint64, nth int) uint64 {
	b := from / quotientBlockSlots
	ends := q.runEnds(b) >> (from % quotientBlockSlots) << (from % quotientBlockSlots)
	for count := bits.OnesCount64(ends); count < nth; count = bits.OnesCount64(ends) {
		nth -= count
		b++
		ends = q.runEnds(b)
	}
	for ; nth > 1; nth-- {
		ends &= ends - 1
	}
	return b*quotientBlockSlots + uint64(bits.TrailingZeros64(ends))
}
