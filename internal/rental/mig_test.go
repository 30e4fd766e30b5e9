package rental

import (
	"math/big"
	"testing"
)

func TestThePartsOfACardAndWhatIsIdleSumToTheCard(t *testing.T) {
	for _, tc := range []struct {
		name  string
		by    Slices
		parts []string
		idle  *big.Rat
	}{
		{"by compute", Slices{By: SlicesByCompute, Of: 7}, []string{"3g.40gb", "2g.20gb", "1g.10gb"}, big.NewRat(1, 7)},
		{"by memory", Slices{By: SlicesByMemory, Of: 80}, []string{"3g.40gb", "2g.20gb", "1g.10gb"}, big.NewRat(10, 80)},
		{"two compute instances share their GPU instance's compute", Slices{By: SlicesByCompute, Of: 7}, []string{"1c.3g.40gb", "2c.3g.40gb"}, big.NewRat(4, 7)},
		{"and its memory", Slices{By: SlicesByMemory, Of: 80}, []string{"1c.3g.40gb", "2c.3g.40gb"}, big.NewRat(40, 80)},
		{"with a media engine", Slices{By: SlicesByCompute, Of: 7}, []string{"1g.10gb+me"}, big.NewRat(6, 7)},
	} {
		t.Run(tc.name, func(t *testing.T) {
			left := big.NewRat(1, 1)
			for _, profile := range tc.parts {
				share, err := tc.by.Share(profile)
				if err != nil {
					t.Fatal(err)
				}
				left.Sub(left, share)
			}
			if left.Cmp(tc.idle) != 0 {
				t.Errorf("%s is left, expected %s", left.RatString(), tc.idle.RatString())
			}
		})
	}
}

func TestAProfileThatNoCardCanHaveIsRefused(t *testing.T) {
	for _, profile := range []string{"", "3g", "9g.80gb", "0g.10gb", "4c.3g.40gb", "0c.3g.40gb", "3g.40gb; DROP"} {
		if share, err := (Slices{By: SlicesByCompute, Of: 7}).Share(profile); err == nil {
			t.Errorf("%q is %s of a card, expected an error", profile, share.RatString())
		}
	}
}

func TestACardCollidesWithItsPartsAndPartsDoNotWithEachOther(t *testing.T) {
	hour := Span{Start: 0, End: 3_600_000}
	card := Assignment{Lease: "a", UUID: "GPU-1", Span: hour}
	part := Assignment{Lease: "b", UUID: "MIG-1", Card: "GPU-1", Span: hour}
	other := Assignment{Lease: "c", UUID: "MIG-2", Card: "GPU-1", Span: hour}
	later := part
	later.Span = Span{Start: hour.End, End: hour.End + 1}
	for _, tc := range []struct {
		name string
		a, b Assignment
		want bool
	}{
		{"a card and its part", card, part, true},
		{"a part and its card", part, card, true},
		{"two parts", part, other, false},
		{"one part twice", part, part, true},
		{"one after the other", card, later, false},
		{"two whole cards", card, Assignment{UUID: "GPU-2", Span: hour}, false},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if got := tc.a.Collides(tc.b); got != tc.want {
				t.Errorf("found %v, expected %v", got, tc.want)
			}
		})
	}
	kept, conflicts := ResolveConflicts([]Assignment{part, other, card})
	if len(kept) != 1 || kept[0].Lease != "a" || len(conflicts) != 2 || conflicts[0].Holds != "a" || conflicts[0].Loses != "b" {
		t.Errorf("kept %+v with conflicts %+v, expected the lease that sorts first to hold the card, and both others told", kept, conflicts)
	}
}
