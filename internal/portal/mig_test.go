package portal_test

import (
	"strings"
	"testing"

	"github.com/leasewatch/leasewatch/internal/api"
	"github.com/leasewatch/leasewatch/internal/rental"
)

func TestTheMIGInstancesOfACardStandUnderIt(t *testing.T) {
	d := newDemo()
	card := &d.fleet.Hosts[1].GPUs[7] // nobody leases it as a whole
	card.Utilisation = nil
	card.MIG = []api.FleetMIG{
		{UUID: "MIG-1", Profile: "3g.40gb", State: "ok", Utilisation: new(0.5), Lease: "acme-part", Tenant: "acme"},
		{UUID: "MIG-2", Profile: "4g.40gb", State: "unknown", Lease: "globex-part", Tenant: "globex"},
	}
	page := text(get(handler(t, d), "/fleet", "en"))
	for _, want := range []string{"by MIG instance", "MIG 3g.40gb 50.0", "acme-part", "MIG 4g.40gb", "globex-part"} {
		if !strings.Contains(page, want) {
			t.Errorf("the page does not say %q:\n%s", want, page)
		}
	}
	if trouble := text(get(handler(t, d), "/fleet?state=trouble", "en")); !strings.Contains(trouble, "globex-part") || strings.Contains(trouble, "acme-part") {
		t.Errorf("the instance that is gone is in trouble, and the other is not:\n%s", trouble)
	}
}

func TestConflictsStandOnTheFleetPageOfThoseWhoMayPutThemRight(t *testing.T) {
	d := newDemo()
	d.conflicts = []rental.InventoryConflict{{Kind: rental.ConflictUnleased, Host: "gpu-a18", UUID: "GPU-gpu-a18-6"}, {Kind: "of a later version", Host: "<b>"}}
	for lang, want := range map[string]string{"en": "in use without a lease", "zh": "无租约使用"} {
		if page := text(get(handler(t, d), "/fleet", lang)); !strings.Contains(page, want) || !strings.Contains(page, "of a later version") {
			t.Errorf("the page does not say %q:\n%s", want, page)
		}
	}
	d.who = rental.Principal{Name: "tom", Role: rental.RoleTenant, Tenant: "acme"}
	if page := text(get(handler(t, d), "/fleet", "en")); strings.Contains(page, "in use without a lease") {
		t.Error("a tenant is told of others' conflicts")
	}
}

func TestEveryKindOfConflictHasItsWords(t *testing.T) {
	for _, kind := range rental.InventoryConflicts {
		d := newDemo()
		d.conflicts = []rental.InventoryConflict{{Kind: kind, Host: "h"}}
		if page := text(get(handler(t, d), "/fleet", "en")); strings.Contains(page, kind) && strings.Contains(kind, "_") {
			t.Errorf("%s has no words", kind)
		}
	}
}
