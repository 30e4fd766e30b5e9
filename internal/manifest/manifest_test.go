package manifest_test

import (
	"bytes"
	"errors"
	"flag"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/leasewatch/leasewatch/internal/manifest"
	"github.com/leasewatch/leasewatch/internal/rental"
)

var update = flag.Bool("update", false, "rewrite the golden files")

func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("found:\n%s\nexpected %s:\n%s", got, name, want)
	}
}

func read(t *testing.T, name string) (rental.Resources, error) {
	t.Helper()
	f, err := os.Open(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	return manifest.Read(name, f)
}

func TestEveryKindIsReadAsItWasWritten(t *testing.T) {
	r, err := read(t, "good.yaml")
	if err != nil {
		t.Fatal(err)
	}
	if r.Len() != 14 {
		t.Errorf("found %d resources, expected 14", r.Len())
	}
	plan := r.Contracts[0].Plan
	if plan.Prices[0].Price.String() != "10.50" || plan.Prices[1].From.String() != "2026-05-31T16:00:00Z" {
		t.Errorf("prices %+v, expected 10.50 as written and the zone's midnight", plan.Prices)
	}
	l := r.Leases[0]
	if l.ID != "L-1" || l.End != rental.Forever || l.GPUs[0].Host != "gpu-a1" || *l.GPUs[0].Slot != 0 || l.GPUs[1].UUID != "GPU-77aa" {
		t.Errorf("lease %+v, expected it open over a slot and a uuid", l)
	}
	if g := r.GPUs[0]; g.UUID != "GPU-5f0c" || g.Serial != "0165" {
		t.Errorf("GPU %+v, expected its uuid from its name and the leading zero of its serial", g)
	}
	if *r.Contracts[0].BillWhileDown {
		t.Error("bill_while_down: found true, expected false")
	}
}

func TestEveryFaultIsToldWithItsPlace(t *testing.T) {
	_, err := read(t, "bad.yaml")
	var faults manifest.Errors
	if !errors.As(err, &faults) || rental.CodeOf(err) != rental.CodeInvalid {
		t.Fatalf("found %v, expected Errors of code invalid", err)
	}
	golden(t, "bad.errors", err.Error()+"\n")
}

func TestAWrongInputYieldsNoResources(t *testing.T) {
	r, err := read(t, "bad.yaml")
	if err == nil || r.Len() != 0 {
		t.Errorf("found %d resources and %v, expected none and an error", r.Len(), err)
	}
}

func TestWrittenResourcesReadBackTheSame(t *testing.T) {
	r, err := read(t, "good.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	if err := manifest.Write(&out, r); err != nil {
		t.Fatal(err)
	}
	golden(t, "good.written.yaml", out.String())
	again, err := manifest.Read("written", &out)
	if err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(r, again) {
		t.Errorf("found    %+v\nexpected %+v", again, r)
	}
}

func TestADirectoryIsOneInput(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	tenant := "apiVersion: leasewatch.dev/v1\nkind: Tenant\nmetadata: {name: acme}\nspec: {display_name: Acme}\n"
	write("a.yaml", tenant)
	write("notes.txt", "not read")
	r, err := manifest.ReadPaths([]string{dir, "-"}, strings.NewReader(strings.Replace(tenant, "name: acme", "name: globex", 1)))
	if err != nil || len(r.Tenants) != 2 {
		t.Fatalf("found %d tenants and %v, expected 2", len(r.Tenants), err)
	}
	write("b.yml", tenant)
	_, err = manifest.ReadPaths([]string{dir}, nil)
	want := filepath.Join(dir, "b.yml") + `:3: metadata.name: found Tenant "acme" again, expected it once (the first is at ` + filepath.Join(dir, "a.yaml") + ":3)"
	if err == nil || err.Error() != want {
		t.Errorf("found    %v\nexpected %s", err, want)
	}
}

func TestReadPathsNamesWhatIsMissing(t *testing.T) {
	for name, path := range map[string]string{"no such file": "testdata/none.yaml", "a folder without manifests": t.TempDir()} {
		if _, err := manifest.ReadPaths([]string{path}, nil); err == nil || !strings.Contains(err.Error(), "expected") {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := manifest.Read("stdin", iotest.ErrReader(errors.New("pipe broke"))); err == nil || !strings.Contains(err.Error(), "pipe broke") {
		t.Errorf("a reader that fails: %v", err)
	}
}

func FuzzRead(f *testing.F) {
	for _, name := range []string{"good.yaml", "bad.yaml"} {
		text, err := os.ReadFile(filepath.Join("testdata", name))
		if err != nil {
			f.Fatal(err)
		}
		f.Add(string(text))
	}
	f.Add("a: &a [*a]\n")
	f.Add("spec: &s\n  plan: *s\napiVersion: leasewatch.dev/v1\nkind: Contract\nmetadata: {name: x}\n")
	f.Fuzz(func(t *testing.T, text string) {
		r, err := manifest.Read("fuzz", strings.NewReader(text))
		if err != nil {
			if r.Len() != 0 {
				t.Fatalf("%d resources came with an error", r.Len())
			}
			return
		}
		var out bytes.Buffer
		if err := manifest.Write(&out, r); err != nil {
			t.Fatal(err)
		}
		again, err := manifest.Read("written", bytes.NewReader(out.Bytes()))
		if err != nil {
			t.Fatalf("what was written does not read: %v\n%s", err, out.String())
		}
		if again.Len() != r.Len() {
			t.Fatalf("wrote %d resources, read %d", r.Len(), again.Len())
		}
	})
}
