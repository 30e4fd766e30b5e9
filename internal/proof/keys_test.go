package proof_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/leasewatch/leasewatch/internal/proof"
	"github.com/leasewatch/leasewatch/internal/rental"
)

func ring(t *testing.T, path string) *proof.Ring {
	t.Helper()
	r, err := proof.OpenRing(path, 1000)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func sign(t *testing.T, r *proof.Ring, content string) proof.Signature {
	t.Helper()
	s, err := r.Sign([]byte(content))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestTheKeyIsMadeOnceForItsOwnerAlone(t *testing.T) {
	path := filepath.Join(t.TempDir(), "signing-keys.json")
	first := ring(t, path)
	info, err := os.Stat(path)
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Fatalf("mode %v (%v), expected 0600", info.Mode(), err)
	}
	again := ring(t, path)
	if a, b := first.Keys(), again.Keys(); len(a) != 1 || len(b) != 1 || a[0].ID != b[0].ID {
		t.Errorf("found %v and then %v, expected one key", a, b)
	}
	if f := proof.CheckSigned([]byte(`{"a": 1}`), sign(t, first, `{"a":1}`), again.Keys()); f != nil {
		t.Error(f)
	}
}

func TestAKeyThatOthersMayHaveReadIsRefused(t *testing.T) {
	path := filepath.Join(t.TempDir(), "signing-keys.json")
	ring(t, path)
	if err := os.Chmod(path, 0o640); err != nil {
		t.Fatal(err)
	}
	if _, err := proof.OpenRing(path, 1); rental.CodeOf(err) != rental.CodeRefused || !strings.Contains(err.Error(), "chmod 600") {
		t.Errorf("found %v", err)
	}
}

func TestADamagedKeyFileIsNotReplaced(t *testing.T) {
	path := filepath.Join(t.TempDir(), "signing-keys.json")
	for _, text := range []string{"", "{}", `{"keys":[{"id":"x","public":"AAAA"}],"seed":"AAAA"}`} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := proof.OpenRing(path, 1); err == nil || !strings.Contains(err.Error(), "damaged") {
			t.Errorf("%q: found %v", text, err)
		}
		if kept, err := os.ReadFile(path); err != nil || string(kept) != text {
			t.Errorf("%q became %q (%v)", text, kept, err)
		}
	}
}

func TestARotatedKeyIsTrustedThroughTheOneBefore(t *testing.T) {
	path := filepath.Join(t.TempDir(), "signing-keys.json")
	r := ring(t, path)
	old := r.Keys()
	for range 2 {
		if err := r.Rotate(2000); err != nil {
			t.Fatal(err)
		}
	}
	r = ring(t, path)
	keys := r.Keys()
	if len(keys) != 3 || keys[0].ID != old[0].ID || keys[0].RetiredAt != 2000 || keys[2].EndorsedBy != keys[1].ID || keys[2].RetiredAt != 0 {
		t.Fatalf("found %+v, expected three keys, each endorsed by the one before", keys)
	}
	s := sign(t, r, `{"a":1}`)
	if f := proof.CheckSigned([]byte(`{"a":1}`), s, old); f != nil {
		t.Errorf("who trusts the first key must trust the third: %v", f)
	}
	s.Keys[1].Endorsement[0] ^= 1
	if f := proof.CheckSigned([]byte(`{"a":1}`), s, old); f == nil {
		t.Error("a broken endorsement passed")
	}
}

func TestWhatWasNotSignedSoDoesNotPass(t *testing.T) {
	dir := t.TempDir()
	r, stranger := ring(t, filepath.Join(dir, "a")), ring(t, filepath.Join(dir, "b"))
	good := func() proof.Signature { return sign(t, r, `{"a":1}`) }
	cases := map[string]struct {
		content string
		s       proof.Signature
		trusted []proof.Key
	}{
		"another content":       {`{"a":2}`, good(), nil},
		"no JSON":               {`{`, good(), nil},
		"a stranger's key":      {`{"a":1}`, sign(t, stranger, `{"a":1}`), r.Keys()},
		"another algorithm":     {`{"a":1}`, func() proof.Signature { s := good(); s.Algorithm = "none"; return s }(), nil},
		"a key not carried":     {`{"a":1}`, func() proof.Signature { s := good(); s.Keys = nil; return s }(), nil},
		"an id of another key":  {`{"a":1}`, func() proof.Signature { s := good(); s.Keys[0].Public = stranger.Keys()[0].Public; return s }(), nil},
		"a shortened signature": {`{"a":1}`, func() proof.Signature { s := good(); s.Value = s.Value[:10]; return s }(), nil},
	}
	for name, tc := range cases {
		if f := proof.CheckSigned([]byte(tc.content), tc.s, tc.trusted); f == nil || f.Check != proof.CheckSignature {
			t.Errorf("%s passed: %v", name, f)
		}
	}
}
