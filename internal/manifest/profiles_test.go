package manifest_test

import (
	"strings"
	"testing"

	"github.com/leasewatch/leasewatch/internal/manifest"
)

// money is what a profile leaves to the contract: names, prices and who approves.
const money = `apiVersion: leasewatch.dev/v1
kind: Provider
metadata: {name: north}
spec: {display_name: North}
---
apiVersion: leasewatch.dev/v1
kind: Contract
metadata: {name: c}
spec:
  provider: north
  currency: USD
  time_zone: UTC
  plan:
    mode: hour
    unit: gpu
    rounding: exact
    prices: [{price: "2"}]
  bill_while_down: true
  bill_while_maintenance: true
  line_rounding: half_up
  downtime_approval: manual
`

func TestEveryProfileMakesAContractThatCanBeAppliedAndSaysWhereItIsFrom(t *testing.T) {
	profiles, err := manifest.Profiles()
	if err != nil || len(profiles) < 7 {
		t.Fatalf("%d profiles, %v", len(profiles), err)
	}
	for _, p := range profiles {
		var spec strings.Builder
		for line := range strings.Lines(p.Text) {
			spec.WriteString("  " + line)
		}
		r, err := manifest.Read(p.Name, strings.NewReader(money+spec.String()))
		if err != nil {
			t.Errorf("%s: %v", p.Name, err)
			continue
		}
		if faults := r.Contracts[0].Validate(); len(faults) > 0 {
			t.Errorf("%s: %v", p.Name, faults)
		}
		a := r.Contracts[0].Availability
		if p.Source == "" || p.Date == "" || a == nil || a.Unknown == "" || a.ExcludedLeavesDenominator == nil {
			t.Errorf("%s: source %q, date %q, %+v", p.Name, p.Source, p.Date, a)
		}
	}
}
