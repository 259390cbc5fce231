package seen

import (
	"errors"
	"fmt"
	"reflect"
	"strconv"
	"strings"
	"testing"
	"time"
)

const goldenUpdateDir = "../update"

func TestGoldenUpdates(t *testing.T) {
	var golden struct {
		Records []struct {
			Name       string
			Bytes      []byte
			Part       uint8
			Partition  int32
			Generation int64
			From, To   int64
			AsOfMs     int64 `json:"as_of_ms"`
			Filters    []string
			Sections   []struct {
				Mask    uint16
				Kind    byte
				UntilS  uint32 `json:"until_s"`
				Entries []struct {
					User         string
					Fingerprints []Fingerprint
				}
			}
		}
		Refused []struct {
			Name, Why string
			Bytes     []byte
			Step      int
		}
	}
	readGoldenJSON(t, goldenUpdateDir+"/index.json", &golden)
	if len(golden.Records) == 0 || len(golden.Refused) == 0 {
		t.Fatal("index.json lists nothing")
	}
	for _, row := range golden.Records {
		update, err := ParseUpdate(row.Bytes)
		if err != nil {
			t.Errorf("%s: %v", row.Name, err)
			continue
		}
		want := testUpdate{row.Partition, row.Generation, row.From, row.To, row.AsOfMs, row.Filters, nil, row.Part}
		for _, s := range row.Sections {
			section := testSection{mask: s.Mask, kind: s.Kind, until: s.UntilS}
			for _, e := range s.Entries {
				section.entries = append(section.entries, testEntry{e.User, e.Fingerprints})
			}
			want.sections = append(want.sections, section)
		}
		if read := asTest(update); !reflect.DeepEqual(read, want) {
			t.Errorf("%s:\n%+v, not\n%+v", row.Name, read, want)
		}
	}
	for _, row := range golden.Refused {
		_, err := ParseUpdate(row.Bytes)
		var parse *ParseError
		if !errors.As(err, &parse) || errors.Is(err, ErrMalformed) == errors.Is(err, ErrUnsupported) {
			t.Errorf("%s (%s): %v", row.Name, row.Why, err)
			continue
		}
		if step := updateStepOf(parse); step != row.Step {
			t.Errorf("%s (%s): refused at step %d, not %d: %v", row.Name, row.Why, step, row.Step, err)
		}
		newer := row.Step == 2 || strings.HasSuffix(parse.Field, ".kind")
		if errors.Is(err, ErrUnsupported) != newer {
			t.Errorf("%s (%s): whether a newer reader may read it: %v", row.Name, row.Why, err)
		}
	}
}

// updateStepOf is the step of "What to refuse" in schemas/update.md that found the error.
func updateStepOf(err *ParseError) int {
	field := strings.TrimPrefix(err.Field, "update.")
	if strings.HasPrefix(field, "section") {
		return 7
	}
	return map[string]int{"magic": 1, "length": 1, "version": 2, "header_bytes": 3, "checksum": 4, "partition": 5,
		"generation": 5, "from": 5, "to": 5, "as_of_ms": 5, "filter_count": 5, "filters": 6}[field]
}

type goldenExpect struct {
	NowMs      int64 `json:"now_ms"`
	Partitions []struct {
		Partition       int32
		AsOfMs          *int64  `json:"as_of_ms"`
		CompleteTo      *int64  `json:"complete_to"`
		MustRestart     bool    `json:"must_restart"`
		MovedTo         *string `json:"moved_to"`
		CompleteSinceMs *int64  `json:"complete_since_ms"`
	}
	Additions int
	Users     []struct {
		User                       string
		Refused                    bool
		Seen, Unseen, Near, Groups []string
		NotNear                    []string `json:"not_near"`
		NotGroups                  []string `json:"not_groups"`
	}
}

func TestGoldenSequences(t *testing.T) {
	var golden struct {
		Sequences []struct {
			Name, Filter, Topic string
			AdditionsMax        int `json:"additions_max"`
			Steps               []struct {
				Beat     *struct{ Key, Value *string }
				Update   *[]byte
				Snapshot *struct {
					Partition int32
					User      string
					Value     *[]byte
				}
				End *struct {
					Partition int32
					Position  int64
				}
				Restart *int32
				Refused bool
				Expect  *goldenExpect
			}
		}
	}
	readGoldenJSON(t, goldenUpdateDir+"/sequences.json", &golden)
	if len(golden.Sequences) == 0 {
		t.Fatal("sequences.json lists nothing")
	}
	bytesOf := func(text *string) []byte {
		if text == nil {
			return nil
		}
		return []byte(*text)
	}
	for _, c := range golden.Sequences {
		t.Run(c.Name, func(t *testing.T) {
			var nowMs int64
			r := NewFilterReader(FilterReaderConfig{Filter: c.Filter, SnapshotTopic: c.Topic, AdditionsMax: c.AdditionsMax,
				Now: func() time.Time { return time.UnixMilli(nowMs) }})
			for i, step := range c.Steps {
				var err error
				switch {
				case step.Beat != nil:
					err = r.TakeBeat(bytesOf(step.Beat.Key), bytesOf(step.Beat.Value))
				case step.Update != nil:
					err = r.TakeUpdate(*step.Update)
				case step.Snapshot != nil:
					var value []byte
					if step.Snapshot.Value != nil {
						value = *step.Snapshot.Value
					}
					err = r.TakeSnapshot(step.Snapshot.Partition, step.Snapshot.User, value)
				case step.End != nil:
					r.SnapshotsEnd(step.End.Partition, step.End.Position)
				case step.Restart != nil:
					r.SnapshotsRestart(*step.Restart)
				case step.Expect != nil:
					nowMs = step.Expect.NowMs
					checkGoldenExpect(t, fmt.Sprintf("step %d", i), r, step.Expect)
				default:
					t.Errorf("step %d has no member that this test knows", i)
				}
				if (err != nil) != step.Refused {
					t.Errorf("step %d: %v", i, err)
				}
			}
		})
	}
}

func checkGoldenExpect(t *testing.T, step string, r *FilterReader, want *goldenExpect) {
	t.Helper()
	text := func(n *int64) string {
		if n == nil {
			return "null"
		}
		return strconv.FormatInt(*n, 10)
	}
	for _, p := range want.Partitions {
		var asOfMs, completeTo, completeSinceMs *int64
		if at, known := r.AsOf(p.Partition); known {
			ms := at.UnixMilli()
			asOfMs = &ms
		}
		if offset, known := r.CompleteTo(p.Partition); known {
			completeTo = &offset
		}
		if text(asOfMs) != text(p.AsOfMs) || text(completeTo) != text(p.CompleteTo) {
			t.Errorf("%s: partition %d is complete to %s as of %s, not %s, %s", step, p.Partition, text(completeTo),
				text(asOfMs), text(p.CompleteTo), text(p.AsOfMs))
		}
		if since, known := r.CompleteSince(p.Partition); known {
			ms := since.UnixMilli()
			completeSinceMs = &ms
		}
		if text(completeSinceMs) != text(p.CompleteSinceMs) {
			t.Errorf("%s: partition %d is complete since %s, not %s", step, p.Partition, text(completeSinceMs),
				text(p.CompleteSinceMs))
		}
		if r.MustRestart(p.Partition) != p.MustRestart {
			t.Errorf("%s: partition %d must start over is %v", step, p.Partition, !p.MustRestart)
		}
		topic, moved := r.MovedTo(p.Partition)
		if moved != (p.MovedTo != nil) || moved && topic != *p.MovedTo {
			t.Errorf("%s: partition %d has moved to %q, %v", step, p.Partition, topic, moved)
		}
	}
	if r.Additions() != want.Additions {
		t.Errorf("%s: %d additions, not %d", step, r.Additions(), want.Additions)
	}
	for _, u := range want.Users {
		if r.IsRefused(u.User) != u.Refused {
			t.Errorf("%s: %q: refused is %v", step, u.User, r.IsRefused(u.User))
		}
		for _, c := range []struct {
			name string
			ids  []string
			want bool
			ask  func(user, id string) bool
		}{
			{"seen", u.Seen, true, r.MightContain}, {"unseen", u.Unseen, false, r.MightContain},
			{"near", u.Near, true, r.MightBeNear}, {"not_near", u.NotNear, false, r.MightBeNear},
			{"groups", u.Groups, true, r.MightHoldGroup}, {"not_groups", u.NotGroups, false, r.MightHoldGroup},
		} {
			for _, id := range c.ids {
				if c.ask(u.User, id) != c.want {
					t.Errorf("%s: %q: %s: %q is %v", step, u.User, c.name, id, !c.want)
				}
			}
		}
		if got := r.Unseen(u.User, append(append([]string{}, u.Seen...), u.Unseen...), nil); fmt.Sprint(got) != fmt.Sprint(u.Unseen) {
			t.Errorf("%s: %q: unseen is %q, not %q", step, u.User, got, u.Unseen)
		}
	}
}
