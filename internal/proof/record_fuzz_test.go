package proof_test

import (
	"testing"

	"github.com/leasewatch/leasewatch/internal/proof"
)

func FuzzARecordIsUnderstoodOrRefused(f *testing.F) {
	f.Add([]byte(`{"kind":"usage/1","usage":{"lease":"L-1","uuid":"GPU-1","start":"2026-05-01T00:00:00Z","end":"2026-05-01T01:00:00Z"}}`))
	f.Add([]byte(`{"kind":"downtime/1","downtime":{"id":"auto-1"}}`))
	f.Add([]byte(`{"kind":"usage/2"}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		content, err := proof.Read(text)
		if err == nil && content == (proof.Content{}) {
			t.Errorf("%q: read as nothing, without an error", text)
		}
		if proof.Name(text) == "" {
			t.Errorf("%q: has no name", text)
		}
	})
}
