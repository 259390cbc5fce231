package seen

import (
	"encoding/binary"
	"hash/crc32"
	"hash/fnv"
)

// PartitionOf is the partition that Java's Kafka clients, and seend where `input.partitioner` is murmur2, put a key in:
// that of the user's events and snapshots. `partitions` is how many the topic has, at least 1.
func PartitionOf(key []byte, partitions int32) int32 {
	return int32(murmur2(key)&0x7fffffff) % partitions
}

// PartitionOfCRC32 is likewise that of librdkafka and kcat, and of seend where `input.partitioner` is crc32.
func PartitionOfCRC32(key []byte, partitions int32) int32 {
	return int32(crc32.ChecksumIEEE(key) % uint32(partitions))
}

// PartitionOfFNV1a is likewise that of Sarama, and of seend where `input.partitioner` is fnv1a.
func PartitionOfFNV1a(key []byte, partitions int32) int32 {
	hash := fnv.New32a()
	hash.Write(key)
	h := hash.Sum32()
	if int32(h) < 0 {
		h = -h
	}
	return int32(h % uint32(partitions))
}

// murmur2 is MurmurHash2 (Austin Appleby, in the public domain) with the seed of Kafka's clients.
func murmur2(data []byte) uint32 {
	const (
		seed       = 0x9747b28c
		multiplier = 0x5bd1e995
	)
	h := seed ^ uint32(len(data))
	for ; len(data) >= 4; data = data[4:] {
		k := binary.LittleEndian.Uint32(data) * multiplier
		h = h*multiplier ^ (k^k>>24)*multiplier
	}
	for i := len(data) - 1; i >= 0; i-- {
		h ^= uint32(data[i]) << (8 * i)
		if i == 0 {
			h *= multiplier
		}
	}
	h = (h ^ h>>13) * multiplier
	return h ^ h>>15
}
