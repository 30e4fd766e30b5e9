package manifest_test

import (
	"reflect"
	"strings"
	"testing"

	"github.com/leasewatch/leasewatch/internal/manifest"
	"github.com/leasewatch/leasewatch/internal/rental"
)

func TestATableSaysWhatDocumentsSay(t *testing.T) {
	for kind, c := range map[string]struct{ table, documents string }{
		rental.KindLease: {
			"\ufeffname,tenant,contract,start,end,gpus\nL-1,acme,hourly,2026-05-01T00:00:00+08:00,,GPU-1; gpu-a1/3\nL-2,acme,hourly,2026-05-01T00:00:00Z,2026-06-01T00:00:00Z,GPU-2\n",
			"apiVersion: leasewatch.dev/v1\nkind: Lease\nmetadata: {name: L-1}\nspec: {tenant: acme, contract: hourly, start: 2026-05-01T00:00:00+08:00, gpus: [{uuid: GPU-1}, {host: gpu-a1, slot: 3}]}\n---\n" +
				"apiVersion: leasewatch.dev/v1\nkind: Lease\nmetadata: {name: L-2}\nspec: {tenant: acme, contract: hourly, start: 2026-05-01T00:00:00Z, end: 2026-06-01T00:00:00Z, gpus: [{uuid: GPU-2}]}\n",
		},
		rental.KindGPU: {
			"name,serial,sku,host,slot,life\nGPU-1,0165,h100,\"gpu-a1\",0,service\n",
			"apiVersion: leasewatch.dev/v1\nkind: GPU\nmetadata: {name: GPU-1}\nspec: {serial: \"0165\", sku: h100, host: gpu-a1, slot: 0, life: service}\n",
		},
		rental.KindSKU: {
			"name,model,form_factor,memory_mib,data_center\nh100,H100 80GB HBM3,SXM5,81559,TRUE\n",
			"apiVersion: leasewatch.dev/v1\nkind: SKU\nmetadata: {name: h100}\nspec: {model: H100 80GB HBM3, form_factor: SXM5, memory_mib: 81559, data_center: true}\n",
		},
		rental.KindMaintenance: {
			"name,hosts,start,end,announced\nM-1,gpu-a1;gpu-a2,2026-05-02T00:00:00Z,2026-05-02T02:00:00Z,2026-05-01T00:00:00Z\n",
			"apiVersion: leasewatch.dev/v1\nkind: Maintenance\nmetadata: {name: M-1}\nspec: {hosts: [gpu-a1, gpu-a2], start: 2026-05-02T00:00:00Z, end: 2026-05-02T02:00:00Z, announced: 2026-05-01T00:00:00Z}\n",
		},
	} {
		t.Run(kind, func(t *testing.T) {
			got, _, err := manifest.ReadCSV("t.csv", kind, strings.NewReader(c.table))
			if err != nil {
				t.Fatal(err)
			}
			want, err := manifest.Read("t.yaml", strings.NewReader(c.documents))
			if err != nil {
				t.Fatal(err)
			}
			if !reflect.DeepEqual(got, want) {
				t.Errorf("found    %+v\nexpected %+v", got, want)
			}
		})
	}
}

func TestAFaultOfATableIsToldWithLineColumnAndValue(t *testing.T) {
	for name, c := range map[string]struct{ kind, table, want string }{
		"an unknown column":      {"GPU", "name,serial,colour\n", `t.csv:1: found the column "colour", expected name, uuid, serial, sku, host, slot`},
		"a column twice":         {"GPU", "name,serial,serial\n", `t.csv:1: found the column "serial", expected each column once`},
		"no name":                {"GPU", "serial,sku\n", `t.csv:1: found no column name, expected a column "name"`},
		"a number that is none":  {"GPU", "name,serial,sku,host,slot\nGPU-1,1,h100,a,0\nGPU-2,2,h100,a,first\n", `t.csv:3: spec.slot: found "first", expected a whole number`},
		"a time that is none":    {"Lease", "name,tenant,contract,start,gpus\nL-1,acme,hourly,yesterday,GPU-1\n", `t.csv:2: spec.start: found "yesterday", expected a time with an offset`},
		"a row that is short":    {"GPU", "name,serial\nGPU-1\n", `t.csv:2: found 1 cells, expected 2, one for each column`},
		"a quote without an end": {"GPU", "name,serial\nGPU-1,\"1\n", `t.csv:2: found text that is no CSV`},
		"a name twice":           {"Tenant", "name,display_name\nacme,A\nacme,B\n", `t.csv:3: metadata.name: found Tenant "acme" again`},
		"nothing":                {"Tenant", "", `t.csv:1: found nothing, expected a first row that names the columns`},
		"an unknown kind":        {"Wage", "name\n", `t.csv:1: found the kind "Wage", expected Provider, Tenant`},
		"a thing with fields":    {"Contract", "name,plan\n", `t.csv:1: found the column "plan", expected a column for each of its fields: plan.mode`},
		"a list of things":       {"Contract", "name,plan.prices\n", `expected a column for each of its fields: plan.prices[0].from or price`},
		"an index of no list":    {"Contract", "name,plan.mode[0]\n", `found the column "plan.mode[0]", expected an index from 0 to 999, and one only where a list is`},
	} {
		t.Run(name, func(t *testing.T) {
			r, _, err := manifest.ReadCSV("t.csv", c.kind, strings.NewReader(c.table))
			if err == nil || !strings.Contains(err.Error(), c.want) || rental.CodeOf(err) != rental.CodeInvalid {
				t.Errorf("found    %v\nexpected %s", err, c.want)
			}
			if r.Len() != 0 {
				t.Errorf("%d resources came with the error", r.Len())
			}
		})
	}
}

func TestWhatTheLedgerFindsWrongIsToldWithTheLineOfTheTable(t *testing.T) {
	_, places, err := manifest.ReadCSV("t.csv", "Tenant", strings.NewReader("name,display_name\nacme,A\nglobex,B\n"))
	if err != nil {
		t.Fatal(err)
	}
	told := places.Error(&rental.Error{Code: rental.CodeInvalid, Message: `Tenant "globex": display_name: found it taken`})
	if want := `t.csv:3: Tenant "globex": display_name: found it taken`; told.Error() != want {
		t.Errorf("found %q, expected %q", told, want)
	}
}

func FuzzReadCSV(f *testing.F) {
	f.Add("Lease", "name,tenant,contract,start,gpus\nL-1,acme,hourly,2026-05-01T00:00:00Z,GPU-1;a/0\n")
	f.Add("Contract", "name,plan.prices[0].price,plan.prices[1].from,items[3].prices[0].price\na,1,2,3\n")
	f.Add("GPU", "name,\"se\"rial\n")
	f.Fuzz(func(t *testing.T, kind, text string) {
		r, _, err := manifest.ReadCSV("fuzz.csv", kind, strings.NewReader(text))
		if err != nil && r.Len() != 0 {
			t.Fatalf("%d resources came with an error", r.Len())
		}
	})
}
