package server

import (
	"archive/zip"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"io"
	"strings"
	"testing"

	"github.com/leasewatch/leasewatch/internal/api"
	"github.com/leasewatch/leasewatch/internal/rental"
)

func packOf(t *testing.T) api.CreditPack {
	t.Helper()
	dec := func(text string) rental.Decimal {
		d, err := rental.ParseDecimal(text)
		if err != nil {
			t.Fatal(err)
		}
		return d
	}
	return api.CreditPack{
		Credit: api.CreditFact{Tenant: "acme", Provider: "north", Month: "2026-05", Credit: rental.Credit{
			ID: "L-1:2026-05", Lease: "L-1", Amount: rental.Amount{Currency: "USD", Minor: 250}, State: rental.CreditClaimable,
			Arithmetic: "25 % of 10.00 USD", ClaimUntil: 1_782_864_000_000, Held: true,
		}},
		Made: 1_780_300_000_000, TimeZone: "Asia/Shanghai", Contract: "hourly",
		Availability: &rental.Availability{TargetPercent: dec("99.5"), Scope: "gpu", Denominator: "lease", Outage: "exact", Unknown: "excluded"},
		Credits:      &rental.Credits{Base: "gross", Scope: "gpu", CapPercent: dec("100"), Tiers: []rental.CreditTier{{Under: dec("99.5"), Percent: dec("25")}}},
		Verdict:      rental.Verdict{Outcome: rental.Breached, Target: dec("99.5")},
		Downtimes: []rental.Downtime{{
			ID: "DT-000001", UUIDs: []string{"GPU-A"}, Span: rental.Span{Start: 1_778_000_000_000, End: 1_778_000_060_000}, Cause: rental.CauseProvider,
			Reason: "host_down", DisputedBy: "tom", Evidence: []rental.Evidence{{Kind: rental.EvidenceText, Text: `<script>alert("x")</script>`}},
			Acts: []rental.Act{{At: 1_778_000_100_000, By: "tom", Kind: rental.ActDisputed, Note: "it was a drill"}},
		}},
		Maintenances: []rental.Maintenance{{ID: "M-1", Hosts: []string{"gpu-a1"}, Start: 1, End: 2, Announced: 1}},
	}
}

func TestAClaimPackSaysItAllInBothLanguagesAndRunsNothing(t *testing.T) {
	for lang, want := range map[string][]string{
		"en": {"Credit claim for lease L-1, 2026-05", "Owed: 2.50 USD (may be claimed; held: downtime of the month is not decided)", "to be claimed until 2026-07-01",
			"Under 99.5 %: 25 % of the gross fee", "disputed by tom; held until a person decides", "it was a drill", "25 % of 10.00 USD", "Announced maintenance"},
		"zh": {"租约 L-1 的赔付申领，2026-05", "可申领；暂缓：本月有停机尚未裁定", "申领截止 2026-07-01", "合同条款", "提出异议（tom）：it was a drill"},
	} {
		var out bytes.Buffer
		if err := writePack(&out, packOf(t), "html", lang); err != nil {
			t.Fatal(err)
		}
		for _, text := range want {
			if !strings.Contains(out.String(), text) {
				t.Errorf("%s: %q is missing in\n%s", lang, text, out.String())
			}
		}
		if strings.Contains(out.String(), "<script") {
			t.Errorf("%s: evidence became part of the page", lang)
		}
	}
}

func TestAClaimPackIsTheSameBytesAndNamesTheirHashes(t *testing.T) {
	var first, second bytes.Buffer
	for _, out := range []*bytes.Buffer{&first, &second} {
		if err := writePack(out, packOf(t), "zip", "en"); err != nil {
			t.Fatal(err)
		}
	}
	if !bytes.Equal(first.Bytes(), second.Bytes()) {
		t.Error("the same facts gave other bytes")
	}
	files, err := zip.NewReader(bytes.NewReader(first.Bytes()), int64(first.Len()))
	if err != nil {
		t.Fatal(err)
	}
	bodies := map[string][]byte{}
	for _, f := range files.File {
		r, err := f.Open()
		if err != nil {
			t.Fatal(err)
		}
		if bodies[f.Name], err = io.ReadAll(r); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{"pack.json", "claim.html"} {
		sum := sha256.Sum256(bodies[name])
		if !strings.Contains(string(bodies["SHA256SUMS"]), hex.EncodeToString(sum[:])+"  "+name+"\n") {
			t.Errorf("SHA256SUMS does not name %s: %s", name, bodies["SHA256SUMS"])
		}
	}
	var back api.CreditPack
	if err := json.Unmarshal(bodies["pack.json"], &back); err != nil || back.Credit.Amount.Minor != 250 || len(back.Downtimes) != 1 {
		t.Errorf("%+v, %v", back, err)
	}
}
