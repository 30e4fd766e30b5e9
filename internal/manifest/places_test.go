package manifest_test

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/leasewatch/leasewatch/internal/manifest"
	"github.com/leasewatch/leasewatch/internal/rental"
)

func TestWhatTheLedgerFindsWrongIsToldWithItsPlace(t *testing.T) {
	path := filepath.Join(t.TempDir(), "f.yaml")
	text, err := os.ReadFile(filepath.Join("testdata", "good.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, text, 0o600); err != nil {
		t.Fatal(err)
	}
	_, places, err := manifest.ReadPlaced([]string{path}, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, tc := range []struct{ name, message, want string }{
		{"a field has its own line", `Lease "L-1": contract: found "x", expected y`, path + `:64: Lease "L-1": contract: found "x", expected y`},
		{"an entry of a list has its own line", `Lease "L-1": gpus[1]: found x`, path + `:68: Lease "L-1": gpus[1]: found x`},
		{"a field that was not written has that of what is around it", `Contract "hourly": plan.minimum: found x`, path + `:48: Contract "hourly": plan.minimum: found x`},
		{"of two leases it is the later one's", `leases "L-0" and "L-1" both claim GPU A`, path + `:67: leases "L-0" and "L-1" both claim GPU A`},
		{"or the one that is in the input", `leases "L-1" and "L-2" both claim GPU A`, path + `:67: leases "L-1" and "L-2" both claim GPU A`},
		{"each line has its own", "Host \"gpu-a1\": slots: found x\nLease \"L-9\": end: found y", path + ":30: Host \"gpu-a1\": slots: found x\nLease \"L-9\": end: found y"},
		{"what is in no input has none", `ledger: disk full`, `ledger: disk full`},
	} {
		t.Run(tc.name, func(t *testing.T) {
			cause := &rental.Error{Code: rental.CodeConflict, Message: tc.message}
			got := places.Error(cause)
			if got.Error() != tc.want {
				t.Errorf("found    %s\nexpected %s", got, tc.want)
			}
			if !errors.Is(got, error(cause)) || rental.CodeOf(got) != rental.CodeConflict {
				t.Error("the error's kind was lost")
			}
		})
	}
}
