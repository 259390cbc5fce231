package seen

import "encoding/json"

// A beat is what a watermark says for readers of updates.
type beat struct {
	generation     int64 // 0: the daemon writes no updates
	publishedTo    int64 // -1: not known, as the others
	updatesFrom    int64
	snapshotsTo    int64 // of the filter, as what follows
	snapshotsLog   int64 // 0 where the beat doesn't say it
	completeSince  int64
	snapshotsTopic *string // nil: not known
}

var noBeat = beat{0, -1, -1, -1, 0, -1, nil}

// parseBeat reads a record of the topic of watermarks. A nil value is that of a partition without a beat.
func parseBeat(key, value []byte, filter string) (partition int32, b beat, err error) {
	partition, _, members, err := parseWatermarkRecord(key, value)
	if err != nil || value == nil {
		return partition, noBeat, err
	}
	b = noBeat
	if text, there := members["snapshots_topic"]; there {
		var topics map[string]*string
		if err := json.Unmarshal(text, &topics); err != nil {
			return 0, noBeat, malformed("watermark.snapshots_topic", "%.40s; it is an object of strings", text)
		}
		b.snapshotsTopic = topics[filter]
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
	for field, to := range map[string]*int64{
		"snapshots_to": &b.snapshotsTo, "snapshots_log": &b.snapshotsLog, "complete_since_ms": &b.completeSince} {
		var filters map[string]json.RawMessage
		if text, there := members[field]; there {
			if err := json.Unmarshal(text, &filters); err != nil {
				return 0, noBeat, malformed("watermark."+field, "%.40s; it is an object", text)
			}
		}
		for name := range filters {
			if name == filter {
				all = append(all, member{filters, name, field, 0, to})
			} else { // nobody needs it, but it must be right
				all = append(all, member{filters, name, field, 0, new(int64)})
			}
		}
	}
	for _, m := range all {
		number, there, err := watermarkNumber(m.in, m.name)
		switch {
		case err != nil:
			return 0, noBeat, malformed("watermark."+m.field, "%.40s; it is an integer of 64 bits", m.in[m.name])
		case there && number < m.least:
			return 0, noBeat, malformed("watermark."+m.field, "%d; it is %d or more", number, m.least)
		case there:
			*m.to = number
		}
	}
	return partition, b, nil
}
