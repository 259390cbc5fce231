package seen

import (
	"encoding/binary"

	"github.com/cespare/xxhash/v2"
)

const (
	updateMagic          = "SEEU"
	updateHeaderBytesMin = 56
	updateHeaderBytesMax = 8192
	updateFiltersMax     = 16
	updateFiltersAt      = 49
	sectionHeaderBytes   = 16
)

// Update is one record of the topic of updates: what is new in one partition. FilterReader uses it.
type Update struct {
	Partition  int32
	Generation int64
	From, To   int64    // the record has the additions of the live events at the offsets [From, To)
	Part       uint8    // how many records before this one hold parts of the event at From; as a rule 0
	AsOfMs     int64    // all below To is all that the input partition held then, in ms since 1970; -1: not known
	Filters    []string // the filters that the record speaks of
	Sections   []UpdateSection
}

// UpdateSection is a list of additions that count in the same filters.
type UpdateSection struct {
	Mask    uint16 // bit i: they count in the i-th of Filters
	Similar bool   // they are what is similar (MightBeNear, MightHoldGroup), not items
	Until   uint32 // they count before this second since 1970; 0: without end

	users, counts, fingerprints []byte
}

// isPart: the event at From goes on in the next record.
func (u *Update) isPart() bool { return u.From == u.To && len(u.Sections) > 0 }

// Entries is how many entries the section has. A user may have several.
func (s *UpdateSection) Entries() int { return len(s.counts) / 2 }

// Additions is how many fingerprints the section has.
func (s *UpdateSection) Additions() int { return len(s.fingerprints) / 4 }

// Each gives each entry in order: the XXH64 of the user's id, and how many of the fingerprints are the user's.
// at(i) is the i-th of them. In a section that is Similar they are no items' own.
func (s *UpdateSection) Each(entry func(user uint64, count int, at func(i int) Fingerprint)) {
	rest := s.fingerprints
	at := func(i int) Fingerprint { return Fingerprint(binary.LittleEndian.Uint32(rest[4*i:])) }
	for i := 0; i < s.Entries(); i++ {
		count := s.count(i)
		entry(s.user(i), count, at)
		rest = rest[4*count:]
	}
}

func (s *UpdateSection) user(i int) uint64 { return binary.LittleEndian.Uint64(s.users[8*i:]) }
func (s *UpdateSection) count(i int) int   { return int(binary.LittleEndian.Uint16(s.counts[2*i:])) }

// ParseUpdate checks the value of a record of the topic of updates, all of it, in the order of schemas/update.md. Errors
// are as Parse's. The update keeps `data`, which must not change while the update is used.
func ParseUpdate(data []byte) (*Update, error) {
	if len(data) < len(updateMagic) || string(data[:len(updateMagic)]) != updateMagic {
		return nil, malformed("update.magic", "the first of %d bytes are not SEEU: this is no update", len(data))
	}
	if len(data) < updateHeaderBytesMin {
		return nil, malformed("update.length", "cut off: %d bytes; the header alone has %d", len(data),
			updateHeaderBytesMin)
	}
	if version := data[4]; version != 1 {
		return nil, unsupported("update.version", "%d; this reader knows 1", version)
	}
	headerBytes := int(binary.LittleEndian.Uint16(data[6:]))
	if headerBytes < updateHeaderBytesMin || headerBytes > updateHeaderBytesMax {
		return nil, malformed("update.header_bytes", "%d; it is from %d to %d", headerBytes, updateHeaderBytesMin,
			updateHeaderBytesMax)
	}
	if len(data) < headerBytes {
		return nil, malformed("update.header_bytes", "%d; the record has %d bytes", headerBytes, len(data))
	}
	if checksum, is := binary.LittleEndian.Uint32(data[8:]), updateChecksumOf(data); checksum != is {
		return nil, malformed("update.checksum", "%#08x; that of the bytes is %#08x: they are damaged", checksum, is)
	}
	update := &Update{
		Partition:  int32(binary.LittleEndian.Uint32(data[12:])),
		Generation: int64(binary.LittleEndian.Uint64(data[16:])),
		From:       int64(binary.LittleEndian.Uint64(data[24:])),
		To:         int64(binary.LittleEndian.Uint64(data[32:])),
		Part:       data[5],
		AsOfMs:     int64(binary.LittleEndian.Uint64(data[40:])),
	}
	filterCount := int(data[48])
	for _, field := range []struct {
		name        string
		value, from int64
	}{
		{"partition", int64(update.Partition), 0}, {"generation", update.Generation, 1}, {"from", update.From, 0},
		{"to", update.To, update.From}, {"as_of_ms", update.AsOfMs, -1}, {"filter_count", int64(filterCount), 1},
	} {
		if field.value < field.from {
			return nil, malformed("update."+field.name, "%d; it is %d or more", field.value, field.from)
		}
	}
	if filterCount > updateFiltersMax {
		return nil, malformed("update.filter_count", "%d; it is at most %d", filterCount, updateFiltersMax)
	}
	var err error
	if update.Filters, err = updateFilters(data[updateFiltersAt:headerBytes], filterCount); err != nil {
		return nil, err
	}
	for rest := data[headerBytes:]; len(rest) > 0; {
		var section UpdateSection
		if section, rest, err = nextSection(rest, filterCount); err != nil {
			return nil, err
		}
		update.Sections = append(update.Sections, section)
	}
	return update, nil
}

// updateFilters are the names at the beginning of what is left of the header.
func updateFilters(rest []byte, count int) ([]string, error) {
	names := make([]string, 0, count)
	for len(names) < count {
		if len(rest) == 0 || int(rest[0]) > len(rest)-1 {
			return nil, malformed("update.filters", "name %d of %d ends behind the header", len(names)+1, count)
		}
		end := 1 + int(rest[0])
		if end == 1 {
			return nil, malformed("update.filters", "name %d of %d has no bytes", len(names)+1, count)
		}
		name := string(rest[1:end])
		for _, earlier := range names {
			if name == earlier {
				return nil, malformed("update.filters", "%q comes twice", name)
			}
		}
		names, rest = append(names, name), rest[end:]
	}
	return names, nil
}

// nextSection is the first section of `data`, and what lies behind it.
func nextSection(data []byte, filterCount int) (section UpdateSection, rest []byte, err error) {
	if len(data) < sectionHeaderBytes {
		return section, nil, malformed("update.section", "cut off: %d bytes are left; its fields take %d", len(data),
			sectionHeaderBytes)
	}
	users, items := binary.LittleEndian.Uint32(data[8:]), binary.LittleEndian.Uint32(data[12:])
	if length := sectionHeaderBytes + 10*uint64(users) + 4*uint64(items); length > uint64(len(data)) {
		return section, nil, malformed("update.section", "%d bytes are left; its fields say %d", len(data), length)
	}
	section.Mask, section.Until = binary.LittleEndian.Uint16(data), binary.LittleEndian.Uint32(data[4:])
	if section.Mask == 0 || section.Mask>>filterCount != 0 {
		return section, nil, malformed("update.section.mask", "%#04x; it has a bit, and none beyond the %d filters",
			section.Mask, filterCount)
	}
	if data[2] > 1 {
		return section, nil, unsupported("update.section.kind", "%d; this reader knows 0 and 1", data[2])
	}
	section.Similar = data[2] == 1
	if users == 0 || items == 0 {
		return section, nil, malformed("update.section", "%d users and %d items; it has 1 or more of both", users, items)
	}
	rest = data[sectionHeaderBytes:]
	section.users, rest = rest[:8*users], rest[8*users:]
	section.counts, rest = rest[:2*users], rest[2*users:]
	section.fingerprints, rest = rest[:4*items], rest[4*items:]
	sum := uint64(0)
	for i := 0; i < section.Entries(); i++ {
		if section.count(i) == 0 {
			return section, nil, malformed("update.section.users", "entry %d has no fingerprint", i)
		}
		sum += uint64(section.count(i))
	}
	if sum != uint64(items) {
		return section, nil, malformed("update.section.items", "%d; the users have %d", items, sum)
	}
	return section, rest, nil
}

// updateChecksumOf is the lower half of XXH64 over all bytes but the checksum's own four.
func updateChecksumOf(data []byte) uint32 {
	var digest xxhash.Digest
	digest.Reset()
	_, _ = digest.Write(data[:8])
	_, _ = digest.Write(data[12:])
	return uint32(digest.Sum64())
}
