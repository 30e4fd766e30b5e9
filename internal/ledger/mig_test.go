package ledger_test

import (
	"strings"
	"testing"

	"github.com/leasewatch/leasewatch/internal/rental"
)

// cut is the fleet with its first card cut into two parts.
func cut() rental.Resources {
	r := fleet()
	r.MIGInstances = []rental.MIGInstance{
		{UUID: "MIG-1", GPU: "GPU-A", Profile: "3g.40gb", Placement: "0:4"},
		{UUID: "MIG-2", GPU: "GPU-A", Profile: "3g.40gb", Placement: "4:4"},
	}
	return r
}

func TestAMIGInstanceIsLeasedByItsUUID(t *testing.T) {
	eachStore(t, func(t *testing.T, s *store) {
		s.apply(cut())
		s.apply(leases(lease("A", "acme", "2026-05-02T00:00:00Z", "2026-05-03T00:00:00Z", "MIG-1"),
			lease("B", "globex", "2026-05-02T00:00:00Z", "open", "MIG-2")))
		s.reopen()
		got := must[[]rental.Assignment](t)(s.Assignments(t.Context(), "A"))
		want := rental.Assignment{Lease: "A", UUID: "MIG-1", Card: "GPU-A", Span: span("2026-05-02T00:00:00Z", "2026-05-03T00:00:00Z"), Reason: "start"}
		if len(got) != 1 || got[0] != want {
			t.Errorf("found %+v, expected %+v", got, want)
		}
		if l := must[rental.Lease](t)(s.Lease(t.Context(), "A")); l.GPUs[0].Profile != "3g.40gb" {
			t.Errorf("the lease names %+v, expected the profile that the inventory has", l.GPUs[0])
		}
	})
}

func TestTwoLeasesOfOnePieceOfHardwareAreRefusedWithTheReason(t *testing.T) {
	for _, tc := range []struct{ name, first, second, want string }{
		{"of one MIG instance", "MIG-1", "MIG-1", `leases "A" and "B" both claim GPU MIG-1 from 2026-05-02T12:00:00`},
		{"of a card and its instance", "GPU-A", "MIG-1", `leases "A" and "B" both claim GPU GPU-A, one the whole card and one a MIG instance of it, from`},
		{"of an instance and its card", "MIG-1", "GPU-A", `one the whole card and one a MIG instance of it, from 2026-05-02T12:00:00`},
	} {
		t.Run(tc.name, func(t *testing.T) {
			eachStore(t, func(t *testing.T, s *store) {
				s.apply(cut())
				s.apply(leases(lease("A", "acme", "2026-05-02T00:00:00Z", "2026-05-03T00:00:00Z", tc.first)))
				_, err := s.Apply(t.Context(), "ada", "test", leases(lease("B", "globex", "2026-05-02T12:00:00Z", "open", tc.second)), false)
				if rental.CodeOf(err) != rental.CodeConflict || !strings.Contains(err.Error(), tc.want) {
					t.Errorf("found %v, expected a conflict that says %q", err, tc.want)
				}
				s.apply(leases(lease("B", "globex", "2026-05-03T00:00:00Z", "open", tc.second))) // afterwards it is free
			})
		})
	}
}

func TestAnImportedClaimOfACardAndItsInstanceStaysOpen(t *testing.T) {
	eachStore(t, func(t *testing.T, s *store) {
		s.apply(cut())
		s.apply(leases(lease("A", "acme", "2026-05-02T00:00:00Z", "2026-05-03T00:00:00Z", "MIG-1"),
			lease("B", "globex", "2026-05-02T00:00:00Z", "2026-05-03T00:00:00Z", "GPU-B")))
		conflicts, err := s.ImportAssignments(t.Context(), "ada", []rental.Assignment{
			{Lease: "B", UUID: "GPU-A", Span: span("2026-05-02T06:00:00Z", "2026-05-02T07:00:00Z")}})
		if err != nil || len(conflicts) != 1 || conflicts[0].Holds != "A" || conflicts[0].UUID != "GPU-A" {
			t.Fatalf("found %+v (%v), expected the instance's lease to hold the hour", conflicts, err)
		}
		for _, a := range must[[]rental.Assignment](t)(s.Assignments(t.Context(), "B")) {
			if a.UUID == "GPU-A" {
				t.Errorf("B has %+v, expected none of the card", a)
			}
		}
	})
}

func TestWhatIsWrongWithAMIGInstanceIsSaid(t *testing.T) {
	for _, tc := range []struct {
		name string
		r    rental.Resources
		want string
	}{
		{"an unknown card", rental.Resources{MIGInstances: []rental.MIGInstance{{UUID: "MIG-9", GPU: "GPU-X", Profile: "1g.10gb"}}}, `expected a GPU that is recorded`},
		{"no profile", rental.Resources{MIGInstances: []rental.MIGInstance{{UUID: "MIG-9", GPU: "GPU-A"}}}, `profile: found nothing, expected a MIG profile such as 3g.40gb`},
		{"a card's uuid", rental.Resources{MIGInstances: []rental.MIGInstance{{UUID: "GPU-B", GPU: "GPU-A", Profile: "1g.10gb"}}}, `found a GPU of that uuid`},
		{"another cut of a known one", rental.Resources{MIGInstances: []rental.MIGInstance{{UUID: "MIG-1", GPU: "GPU-A", Profile: "1g.10gb"}}}, `another cut has another uuid`},
		{"removed under a lease", rental.Resources{MIGInstances: []rental.MIGInstance{{UUID: "MIG-1", GPU: "GPU-A", Profile: "3g.40gb", Placement: "0:4", Removed: true}}}, `lease "A" holds it until open`},
		{"a lease of a removed one", leases(lease("C", "acme", "2026-05-02T00:00:00Z", "open", "MIG-2")), `expected a MIG instance that its card has now`},
	} {
		t.Run(tc.name, func(t *testing.T) {
			eachStore(t, func(t *testing.T, s *store) {
				world := cut()
				world.MIGInstances[1].Removed = true
				s.apply(world)
				s.apply(leases(lease("A", "acme", "2026-05-01T00:00:00Z", "open", "MIG-1")))
				if _, err := s.Apply(t.Context(), "ada", "test", tc.r, false); err == nil || !strings.Contains(err.Error(), tc.want) {
					t.Errorf("found %v, expected it to say %q", err, tc.want)
				}
			})
		})
	}
}
