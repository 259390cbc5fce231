package seen

import "encoding/binary"

const (
	chainFieldsBytes = 4
	chainRowBytes    = 20
)

// dayChain is kind 10: a filter of kind 1 for each day, newest first.
type dayChain struct {
	rows   []byte
	blocks []byte
}

func readDayChain(payload []byte) (filter, error) {
	if err := wantAtLeast(payload, chainFieldsBytes); err != nil {
		return nil, err
	}
	days := uint64(binary.LittleEndian.Uint32(payload))
	blocksAt := chainFieldsBytes + chainRowBytes*days
	if blocksAt > uint64(len(payload)) {
		return nil, malformed("payload.days", "%d; their rows alone take %d bytes, and there are %d", days, blocksAt,
			len(payload))
	}
	chain := dayChain{rows: payload[chainFieldsBytes:blocksAt], blocks: payload[blocksAt:]}
	blocks := uint64(0)
	for row := chain.rows; len(row) > 0; row = row[chainRowBytes:] {
		if rowBlocks(row) == 0 {
			return nil, malformed("payload.blocks", "0 of day %v; a day has at least one", rowDay(row))
		}
		if len(row) > chainRowBytes && rowDay(row[chainRowBytes:]) > rowDay(row) {
			return nil, malformed("payload.day", "%v after %v; days descend", rowDay(row[chainRowBytes:]), rowDay(row))
		}
		blocks += rowBlocks(row)
	}
	return &chain, wantLength(payload, blocksAt+blocks*blockBytes)
}

func (c *dayChain) contains(_ Fingerprint, h uint64, when bounds) bool {
	blocks := c.blocks
	for row := c.rows; len(row) > 0; row = row[chainRowBytes:] {
		day := blocks[:rowBlocks(row)*blockBytes]
		blocks = blocks[len(day):]
		if when.bounded && rowDay(row) < when.since {
			return false // the days that follow are earlier still
		}
		lastSecond := int64(binary.LittleEndian.Uint32(row[12:]))
		if lastSecond >= when.created && blocksContain(day, h) {
			return true
		}
	}
	return false
}

func rowDay(row []byte) Day       { return Day(binary.LittleEndian.Uint32(row)) }
func rowBlocks(row []byte) uint64 { return uint64(binary.LittleEndian.Uint32(row[16:])) }

// ChainDay is one day of a DayChain.
type ChainDay struct {
	Day                     Day
	ItemCount               int64
	FirstSecond, LastSecond int64 // since 1970: nothing of the day is earlier, or later
}

// Days are the days of a DayChain, newest first; of other kinds there are none.
func (s *Snapshot) Days() []ChainDay {
	c, ok := s.filter.(*dayChain)
	if !ok {
		return nil
	}
	days := make([]ChainDay, 0, len(c.rows)/chainRowBytes)
	for row := c.rows; len(row) > 0; row = row[chainRowBytes:] {
		second := func(at int) int64 { return int64(binary.LittleEndian.Uint32(row[at:])) }
		days = append(days, ChainDay{rowDay(row), second(4), second(8), second(12)})
	}
	return days
}
