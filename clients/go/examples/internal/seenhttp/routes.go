package seenhttp

import (
	"encoding/json"
	"fmt"
	"sort"

	"seen"
)

// daemon is whom to ask.
type daemon struct {
	address  string // http://HOST:PORT
	instance string // who must answer there; empty: anybody may
}

// routes is one answer of /v1/routes. It never changes.
type routes struct {
	addresses   []string
	byPartition map[int32][]daemon // those that answer, the owner first
	partitions  int32
	partitionOf func(key []byte, partitions int32) int32
}

func parseRoutes(body []byte) (*routes, error) {
	var answer struct {
		Partitioner string
		Partitions  int32
		Routes      []struct {
			Partition int32
			Instance  string
			Address   *string
			State     string
			Role      string // empty: owner
		}
	}
	if err := json.Unmarshal(body, &answer); err != nil {
		return nil, err
	}
	r := &routes{byPartition: map[int32][]daemon{}, partitions: answer.Partitions}
	switch answer.Partitioner {
	case "murmur2":
		r.partitionOf = seen.PartitionOf
	case "crc32":
		r.partitionOf = seen.PartitionOfCRC32
	case "fnv1a":
		r.partitionOf = seen.PartitionOfFNV1a
	}
	if len(answer.Routes) > 0 && (r.partitionOf == nil || r.partitions < 1) {
		return nil, fmt.Errorf("routes of %d partitions by %q", answer.Partitions, answer.Partitioner)
	}
	isReplica := func(i int) bool { return answer.Routes[i].Role != "" && answer.Routes[i].Role != "owner" }
	sort.SliceStable(answer.Routes, func(i, j int) bool { return !isReplica(i) && isReplica(j) })
	known := map[string]bool{}
	for _, route := range answer.Routes {
		if route.Address == nil {
			continue
		}
		d := daemon{"http://" + *route.Address, route.Instance}
		if !known[d.address] {
			known[d.address] = true
			r.addresses = append(r.addresses, d.address)
		}
		if route.State == "ready" {
			r.byPartition[route.Partition] = append(r.byPartition[route.Partition], d)
		}
	}
	return r, nil
}

// of is the daemons that answer for the user: the owner first, then its replicas. Empty: no daemon is known to.
func (r *routes) of(user string) []daemon {
	if len(r.byPartition) == 0 {
		return nil
	}
	return r.byPartition[r.partitionOf([]byte(user), r.partitions)]
}
