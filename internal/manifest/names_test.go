package manifest_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/leasewatch/leasewatch/internal/manifest"
)

func TestANameIsOneEverywhereOrRefused(t *testing.T) {
	const form = "a name of letters A to Z, digits, dots, dashes and underscores that begins with a letter or a digit"
	for name, c := range map[string]struct{ kind, says string }{
		"acme":                     {"Tenant", ""},
		"L-2026-017":               {"Lease", ""},
		"gpu-a17.osl1.example.net": {"Host", ""},
		"h100_sxm5.80G":            {"SKU", ""},
		"7seas":                    {"Provider", ""},
		strings.Repeat("a", 200):   {"Host", ""},
		"unknown":                  {"Tenant", ""},
		".":                        {"Lease", form},
		"..":                       {"Lease", form},
		"-f":                       {"Lease", form},
		"x y/../z":                 {"Lease", form},
		"=cmd|calc":                {"Lease", form},
		"a/b":                      {"Contract", form},
		" acme":                    {"Tenant", form},
		"acme\t":                   {"Tenant", form},
		"caf\u00e9":                {"Site", form},
		"<b>":                      {"Provider", form},
		strings.Repeat("a", 201):   {"Host", "a name of at most 200 characters"},
		"several":                  {"Lease", `another name: rules write "several" for what more than one share`},
	} {
		t.Run(c.kind+" "+name, func(t *testing.T) {
			_, err := manifest.Read("x.yaml", strings.NewReader(fmt.Sprintf("apiVersion: leasewatch.dev/v1\nkind: %s\nmetadata:\n  name: %q\n", c.kind, name)))
			told := err != nil && strings.Contains(err.Error(), "metadata.name")
			if told != (c.says != "") || (told && (!strings.Contains(err.Error(), "x.yaml:4: metadata.name: ") || !strings.Contains(err.Error(), "expected "+c.says))) {
				t.Errorf("said %v, expected %q", err, c.says)
			}
		})
	}
	for kind, word := range map[string]string{"Tenant": "several", "Provider": "unknown"} {
		_, err := manifest.Read("x.yaml", strings.NewReader(fmt.Sprintf("apiVersion: leasewatch.dev/v1\nkind: %s\nmetadata: {name: %s}\nspec: {display_name: X}\n", kind, word)))
		if err == nil || !strings.Contains(err.Error(), "another name") {
			t.Errorf("%s %s: %v, expected the word kept for the rules", kind, word, err)
		}
	}
}
