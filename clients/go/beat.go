package seen

import "encoding/json"

// A beat is what a watermark says for readers of updates.
type beat struct {
	generation  int64 // 0: the daemon writes no updates
	publishedTo int64 // -1: not known, as the others
	snapshotsTo int64 // of the filter
	updatesFrom int64
}

var noBeat = beat{0, -1, -1, -1}

// parseBeat reads a record of the topic of watermarks. A nil value is that of a partition without a beat.
func parseBeat(key, value []byte, filter string) (partition int32, b beat, err error) {
	partition, _, members, err := parseWatermarkRecord(key, value)
	if err != nil || value == nil {
		return partition, noBeat, err
	}
	b = noBeat
	var ends map[string]json.RawMessage
	if text, there := members["snapshots_to"]; there {
		if err := json.Unmarshal(text, &ends); err != nil {
			return 0, noBeat, malformed("watermark.snapshots_to", "%.40s; it is an object", text)
		}
	}
	type member struct {
		in    map[string]json.RawMessage
		name  string
		field string
		least int64
		to    *int64
	}
	all := []member{
		{members, "generation", "generation", 1, &b.generation},
		{members, "published_to", "published_to", 0, &b.publishedTo},
		{members, "updates_from", "updates_from", 0, &b.updatesFrom},
	}
	for name := range ends {
		to := new(int64) // of another filter: nobody needs it, but it must be right
		if name == filter {
			to = &b.snapshotsTo
		}
		all = append(all, member{ends, name, "snapshots_to", 0, to})
	}
	for _, m := range all {
		number, there, err := watermarkNumber(m.in, m.name)
		switch {
		case err != nil:
			return 0, noBeat, err
		case there && number < m.least:
			return 0, noBeat, malformed("watermark."+m.field, "%d; it is %d or more", number, m.least)
		case there:
			*m.to = number
		}
	}
	return partition, b, nil
}
