package server

import (
	"archive/zip"
	"bytes"
	"context"
	"crypto/sha256"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/leasewatch/leasewatch/internal/api"
	"github.com/leasewatch/leasewatch/internal/httpapi"
	"github.com/leasewatch/leasewatch/internal/rental"
)

var update = flag.Bool("update", false, "write the golden evidence of an RMA anew")

var _ httpapi.RMAs = rmas{}

// drawer holds the samples of one card, by metric.
type drawer map[string][]rental.Series

func (d drawer) Select(_ context.Context, metric string, matchers map[string]string, span rental.Span) ([]rental.Series, error) {
	var out []rental.Series
	for _, s := range d[metric] {
		if s.Labels["uuid"] != matchers["uuid"] {
			continue
		}
		one := rental.Series{Labels: s.Labels}
		for _, sample := range s.Samples {
			if span.Contains(sample.At) {
				one.Samples = append(one.Samples, sample)
			}
		}
		out = append(out, one)
	}
	return out, nil
}

// put adds samples of GPU-A, a minute each from begin on, as one way (job) told them.
func (d drawer) put(metric, job string, begin time.Time, labels map[string]string, values ...float64) {
	s := rental.Series{Labels: map[string]string{"uuid": "GPU-A", "job": job, "tenant": "acme", "lease": "L-1"}}
	for k, v := range labels {
		s.Labels[k] = v
	}
	for i, v := range values {
		s.Samples = append(s.Samples, rental.Sample{At: rental.At(begin.Add(time.Duration(i) * time.Minute)), Value: v})
	}
	d[metric] = append(d[metric], s)
}

// returned is a case of GPU-A, which failed on 8 May at 12:00 and was told by two ways.
func returned(t *testing.T) rmas {
	t.Helper()
	s := newSealed(t)
	ctx := t.Context()
	failed := time.Date(2026, 5, 8, 12, 0, 0, 0, time.UTC)
	s.now = failed.Add(time.Hour)
	in, err := s.ChangeByKey(ctx, "lost", func(*rental.Incident) (*rental.Incident, []rental.Delivery, error) {
		at := rental.At(failed)
		return &rental.Incident{Key: "lost", Revision: 1, Status: rental.IncidentOpen, Severity: rental.Page, Provider: "north", Subject: "gpu-a1",
			Title: "GPU lost of Acme", Leases: []string{"L-1"}, Tenants: []string{"acme"}, EvidenceAt: at, DetectedAt: at, OpenedAt: at,
			Alerts: []rental.Alert{{Fingerprint: "f", StartsAt: at, EndsAt: rental.Forever,
				Labels:      map[string]string{"alertname": "LeasewatchGPULost", "uuid": "GPU-A", "tenant": "acme", "lease": "L-1", "severity": "page"},
				Annotations: map[string]string{"summary": "lost under L-1 of acme"}}},
			Messages: map[string]rental.MessageRef{"slack:C1": {Channel: "C1", ID: "17.3"}},
			Events:   []rental.IncidentEvent{{At: at, Kind: "opened", By: "leasewatch", Note: "acme was told"}}}, nil, nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := s.EndLease(ctx, "ada", "moved", "L-1", rental.At(s.now)); err != nil {
		t.Fatal(err)
	}
	s.now = s.now.Add(time.Hour)
	if _, err := s.OpenRMA(ctx, "ann", "fell off the bus under Acme, L-1; L-17 and acmexyz did not", "GPU-A", in.ID); err != nil {
		t.Fatal(err)
	}
	if _, err := s.ActOnRMA(ctx, "RMA-000001", rental.Act{By: "bob", Kind: rental.ActReplaced, Note: "the box came"}, rental.RMAReplacement{UUID: "GPU-N", Serial: "9"}); err != nil {
		t.Fatal(err)
	}
	d := drawer{}
	for _, job := range []string{"scrape", "push"} {
		before := failed.Add(-2 * time.Minute)
		d.put("gpu_state", job, before, map[string]string{"state": "ok"}, 1, 1, 0, 0)
		d.put("gpu_state", job, before, map[string]string{"state": "lost"}, 0, 0, 1, 1)
		d.put("gpu_xid_errors_total", job, before, map[string]string{"xid": "79"}, 0, 0, 1, 1)
		d.put("gpu_ecc_errors_total", job, before, map[string]string{"type": "corrected", "counter": "aggregate", "location": "dram"}, 4, 4, 6, 6)
		d.put("gpu_temperature_celsius", job, before, nil, 61, 88, 90, 40)
		d.put("gpu_retired_pages", job, failed.AddDate(0, 0, -8), map[string]string{"cause": "single_bit"}, 1) // too long ago
	}
	return rmas{ledger: s.Ledger, samples: d, now: func() time.Time { return s.now }, version: "1.0.0", changed: func() {}}
}

// unzip writes an archive as text, and checks its hashes.
func unzip(t *testing.T, archive []byte) string {
	t.Helper()
	files, err := zip.NewReader(bytes.NewReader(archive), int64(len(archive)))
	if err != nil {
		t.Fatal(err)
	}
	var out, sums strings.Builder
	for _, f := range files.File {
		r, err := f.Open()
		if err != nil {
			t.Fatal(err)
		}
		body, err := io.ReadAll(r)
		if err != nil {
			t.Fatal(err)
		}
		if f.Name == "SHA256SUMS" {
			if string(body) != sums.String() {
				t.Errorf("SHA256SUMS:\n%s\nwant\n%s", body, sums.String())
			}
			continue
		}
		fmt.Fprintf(&sums, "%x  %s\n", sha256.Sum256(body), f.Name)
		fmt.Fprintf(&out, "== %s\n%s", f.Name, body)
	}
	return out.String()
}

func TestTheEvidenceOfAnRMAHoldsTheCardAndNobodysName(t *testing.T) {
	r := returned(t)
	var texts [2]string
	for i := range texts {
		archive, err := r.RMABundle(t.Context(), "RMA-000001", api.RMABundleQuery{})
		if err != nil {
			t.Fatal(err)
		}
		texts[i] = unzip(t, archive)
	}
	if texts[0] != texts[1] {
		t.Error("the same facts gave other files")
	}
	golden := filepath.Join("testdata", "rma.golden")
	if *update {
		if err := os.MkdirAll("testdata", 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(golden, []byte(texts[0]), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if texts[0] != string(want) {
		t.Errorf("got\n%s\nwant\n%s", texts[0], want)
	}
	plain := strings.ReplaceAll(strings.ToLower(texts[0]), "acmexyz", "")
	for _, name := range []string{"acme", "l-1 ", "l-1;", `"l-1"`, "c1", "17.3"} {
		if strings.Contains(plain, name) {
			t.Errorf("the evidence holds %q", name)
		}
	}
}

func TestTheEvidenceOfAnRMANamesTenantsWhereThatIsAskedFor(t *testing.T) {
	archive, err := returned(t).RMABundle(t.Context(), "RMA-000001", api.RMABundleQuery{Days: 9, Tenants: true})
	if err != nil {
		t.Fatal(err)
	}
	text := unzip(t, archive)
	for _, part := range []string{"== leases.csv\nlease,tenant,uuid,from,to\nL-1,acme,GPU-A,2026-05-01T00:00:00Z,2026-05-08T13:00:00Z\n",
		"fell off the bus under Acme, L-1;", `"title": "GPU lost of Acme"`, "gpu_retired_pages,cause=single_bit,1\n"} {
		if !strings.Contains(text, part) {
			t.Errorf("no %q in\n%s", part, text)
		}
	}
	if strings.Contains(text, "17.3") {
		t.Error("the evidence says where messages stand in a chat")
	}
	if _, err := returned(t).RMABundle(t.Context(), "RMA-000009", api.RMABundleQuery{}); rental.CodeOf(err) != rental.CodeNotFound {
		t.Errorf("of no case: %v", err)
	}
}

func TestATableRunsNothingInASpreadsheet(t *testing.T) {
	got, err := csvText("why,value", [][]string{{"=HYPERLINK(1)", "-5"}, {"@sum", "+x"}})
	if err != nil || string(got) != "why,value\n'=HYPERLINK(1),-5\n'@sum,'+x\n" {
		t.Errorf("%q, %v", got, err)
	}
}

func TestNamesAreStruckWholeAndInWhateverCase(t *testing.T) {
	strike, err := strikeNames([]string{"acme", "Acme Inc.", "L-1", "租户", "", "acme"})
	if err != nil {
		t.Fatal(err)
	}
	for text, want := range map[string]string{
		"ACME INC. called":    struck + " called",
		"L-1, not L-17":       struck + ", not L-17",
		"在租户那里":               "在" + struck + "那里",
		"acmes are not acme.": "acmes are not " + struck + ".",
		"":                    "",
	} {
		if got := strike(text); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}
