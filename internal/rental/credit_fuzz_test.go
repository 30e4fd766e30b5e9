package rental

import "testing"

func FuzzACreditsIDIsReadAsItIsWritten(f *testing.F) {
	f.Add("L-1:2026-05")
	f.Add("a:b:2026-12")
	f.Add(":2026-05")
	f.Fuzz(func(t *testing.T, id string) {
		lease, month, err := ParseCreditID(id)
		if err != nil {
			if CodeOf(err) != CodeInvalid {
				t.Errorf("%q: %v", id, err)
			}
			return
		}
		again, same, err := ParseCreditID(CreditCase{Lease: lease, Month: month.String()}.ID())
		if err != nil || again != lease || same != month || lease == "" {
			t.Errorf("%q: found %q and %s, then %q and %s (%v)", id, lease, month, again, same, err)
		}
	})
}
