package seen

import "testing"

func TestMurmur2IsKafkas(t *testing.T) {
	for key, want := range map[string]int32{ // of Utils.murmur2, from Kafka's own UtilsTest
		"21": -973932308, "foobar": -790332482, "a-little-bit-long-string": -985981536,
		"a-little-bit-longer-string":                       -1486304829,
		"lkjh234lh9fiuh90y23oiuhsafujhadof229phr9h19h89h8": -58897971, "abc": 479470107,
	} {
		if got := int32(murmur2([]byte(key))); got != want {
			t.Errorf("%q: %d, want %d", key, got, want)
		}
		for _, partitions := range []int32{1, 4, 7, 1_000_003} {
			if got := PartitionOf([]byte(key), partitions); got != (want&0x7fffffff)%partitions {
				t.Errorf("%q of %d: %d", key, partitions, got)
			}
		}
	}
}

func TestCRC32IsUnsigned(t *testing.T) {
	const checkValue = 0xcbf43926
	if got := PartitionOfCRC32([]byte("123456789"), 7); got != checkValue%7 {
		t.Error(got)
	}
}

func TestFNV1aHasNoSign(t *testing.T) {
	const published = 0xbf9cf968
	if got := PartitionOfFNV1a([]byte("foobar"), 7); got != int32((1<<32-published)%7) {
		t.Error(got)
	}
}
