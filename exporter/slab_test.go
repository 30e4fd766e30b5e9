package exporter

import "testing"

func TestASlabGivesEachValueOnceAndLeavesThoseOfTheLastPageAlone(t *testing.T) {
	var s slab[int]
	given := map[*int]int{}
	for page := range 3 {
		s.renew()
		for i := range 100 + 50*page { // more than the last page took
			p := s.take()
			if _, twice := given[p]; twice {
				t.Fatalf("page %d: value %d was given out before", page, i)
			}
			if *p != 0 {
				t.Fatalf("page %d: value %d is not new: %d", page, i, *p)
			}
			*p = 1000*page + i + 1
			given[p] = *p
		}
	}
	for p, want := range given {
		if *p != want {
			t.Fatalf("a value of an earlier page became %d, was %d", *p, want)
		}
	}
}
