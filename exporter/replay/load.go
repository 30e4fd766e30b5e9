package replay

import (
	"hash/fnv"
	"math"
	"time"
)

// block is the grid on which jobs begin and end.
const block = 15 * time.Minute

// blockOf returns the number of the block that holds t, counted from 1970.
func blockOf(t time.Time) int64 { return t.Unix() / int64(block/time.Second) }

func blockStart(k int64) time.Time { return time.Unix(k*int64(block/time.Second), 0).UTC() }

// dice is a number from 0 to 1 that depends on its arguments only.
func dice(seed uint64, of ...uint64) float64 { return float64(mix(seed, of...)>>11) / (1 << 53) }

// mix is splitmix64 over its arguments.
func mix(seed uint64, of ...uint64) uint64 {
	x := seed
	for _, v := range append(of, 0x51ed) {
		x += v*0x9e3779b97f4a7c15 + 0x9e3779b97f4a7c15
		x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
		x = (x ^ x>>27) * 0x94d049bb133111eb
		x ^= x >> 31
	}
	return x
}

func hostSeed(seed uint64, host string) uint64 {
	h := fnv.New64a()
	h.Write([]byte(host))
	return mix(seed, h.Sum64())
}

// maxJobBlocks bounds a job: 12 hours.
const maxJobBlocks = 48

// level is the share of the card in use during block k, without the script.
func level(p Profile, seed uint64, gpu uint64, k int64) float64 {
	switch p {
	case Training:
		return jobLevel(seed, k, 0.05, 0.06, 0.90, 0.99) // one key for the host: its cards work together
	case Inference:
		hour := float64(k%int64(24*time.Hour/block)) / float64(time.Hour/block)
		day := 0.42 + 0.26*math.Sin((hour-9)/24*2*math.Pi)
		return min(max(day+0.16*(dice(seed, gpu, uint64(k))-0.5), 0.02), 0.95)
	case Sparse:
		return jobLevel(mix(seed, gpu), k, 0.2, 0.8, 0.35, 0.95)
	default:
		return 0
	}
}

// jobLevel is the load of the job that runs in block k. A job begins at a block with chance
// begins; a share of them are gaps without work; the load of the others lies from low to high.
func jobLevel(seed uint64, k int64, begins, gap, low, high float64) float64 {
	first := k
	for first > k-maxJobBlocks && dice(seed, uint64(first), 1) >= begins {
		first--
	}
	if dice(seed, uint64(first), 2) < gap {
		return 0
	}
	return low + (high-low)*dice(seed, uint64(first), 3)
}
