package proof_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/leasewatch/leasewatch/internal/proof"
	"github.com/leasewatch/leasewatch/internal/rental"
)

const day = rental.Millis(24 * 3_600_000)

// hours are usage records of one card for hours of one day.
func hours(n int, downMS int64) rental.Recorded {
	var out rental.Recorded
	for i := range n {
		start := rental.Millis(1_777_593_600_000 + i*3_600_000) // 2026-05-01T00:00:00Z
		out.Usage = append(out.Usage, rental.UsageRecord{
			Lease: "L-1", UUID: "GPU-1", Span: rental.Span{Start: start, End: start + 3_600_000}, Revision: 1,
			AllocatedMS: 3_600_000, MeasuredMS: 3_600_000, BusyMS: 1_800_000, UsedMicros: 900_000_000, UpMS: 3_600_000 - downMS, DownMS: downMS, EnergyMilliJoules: 42,
		})
	}
	out.Downtimes = []json.RawMessage{[]byte(`{"id":"auto-1","lease":"L-1","uuids":["GPU-1"],"span":{"start":"2026-05-01T00:00:00Z","end":"open"},"cause":"provider","reason":"lost","witnesses":["a \"b\""],"recorded_at":"2026-05-01T00:00:05Z"}`)}
	return out
}

// chain seals the days of records one after another.
func chain(t testing.TB, days ...rental.Recorded) []proof.Sealed {
	t.Helper()
	var out []proof.Sealed
	var last rental.Head
	for i, in := range days {
		records, err := proof.Records(in)
		if err != nil {
			t.Fatal(err)
		}
		sealed, err := proof.Seal(last, "L-1", rental.Millis(1_777_680_000_000)+rental.Millis(i)*day, records)
		if err != nil {
			t.Fatal(err)
		}
		out, last = append(out, sealed), sealed.Head
	}
	return out
}

// copyOf is a chain that shares nothing with the first, as one that was read from a file.
func copyOf(t testing.TB, of []proof.Sealed) []proof.Sealed {
	t.Helper()
	text, err := json.Marshal(of)
	if err != nil {
		t.Fatal(err)
	}
	var out []proof.Sealed
	if err := json.Unmarshal(text, &out); err != nil {
		t.Fatal(err)
	}
	return out
}

func TestCanonicalJSONIsThatOfRFC8785(t *testing.T) {
	cases := []struct{ in, want string }{
		// The example of section 3.2.3, sorted by UTF-16 code units.
		{`{"\u20ac":"Euro Sign","\r":"Carriage Return","\ufb33":"Hebrew Letter Dalet With Dagesh","1":"One","\ud83d\ude00":"Emoji: Grinning Face","\u0080":"Control","\u00f6":"Latin Small Letter O With Diaeresis"}`,
			"{\"\\r\":\"Carriage Return\",\"1\":\"One\",\"\u0080\":\"Control\",\"ö\":\"Latin Small Letter O With Diaeresis\",\"€\":\"Euro Sign\",\"😀\":\"Emoji: Grinning Face\",\"\ufb33\":\"Hebrew Letter Dalet With Dagesh\"}"},
		{"[ 56, {\"d\": true, \"10\": null, \"1\": [ ]} ]", `[56,{"1":[],"10":null,"d":true}]`},
		{`"\u20ac$\u000f\nA'\u0042\"\\\"\/"`, `"€$\u000f\nA'B\"\\\"/"`},
		{`"<&>\u2028"`, "\"<&>\u2028\""},
		{`-9007199254740991`, `-9007199254740991`},
	}
	for _, tc := range cases {
		got, err := proof.Canonical([]byte(tc.in))
		if err != nil || string(got) != tc.want {
			t.Errorf("%s\nfound    %s (%v)\nexpected %s", tc.in, got, err, tc.want)
		}
	}
}

func TestWhatHasMoreThanOneMeaningHasNoCanonicalForm(t *testing.T) {
	for _, text := range []string{``, `{`, `{"a":1,"a":1}`, `1.5`, `1e3`, `-0`, `9007199254740992`, `{} {}`, "\"\xff\"", `nul`, strings.Repeat("[", 100) + strings.Repeat("]", 100)} {
		if got, err := proof.Canonical([]byte(text)); err == nil {
			t.Errorf("%.40q: found %s, expected an error", text, got)
		}
	}
}

func FuzzCanonicalIsItsOwnCanonicalForm(f *testing.F) {
	f.Add([]byte(`{"b":[1,"x",null],"a":{"é":true}}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		once, err := proof.Canonical(text)
		if err != nil {
			return
		}
		twice, err := proof.Canonical(once)
		if err != nil || !bytes.Equal(once, twice) {
			t.Fatalf("%q, then %q (%v)", once, twice, err)
		}
	})
}

// The hashes were worked out with another program by docs/proof.md: tools of others must be able
// to check what we write today for as long as anybody argues about it.
func TestAChainHashesAsItsSpecificationSays(t *testing.T) {
	c := chain(t, hours(1, 0))
	var got strings.Builder
	for _, link := range c[0].Links {
		fmt.Fprintf(&got, "%s %s\n", link.Record, link.Hash)
	}
	fmt.Fprintln(&got, c[0].Hash)
	want, err := os.ReadFile(filepath.Join("testdata", "chain.txt"))
	if err != nil {
		t.Fatal(err)
	}
	if got.String() != string(want) {
		t.Errorf("found\n%s\nexpected\n%s", got.String(), want)
	}
}

func TestAnUntouchedChainHolds(t *testing.T) {
	c := copyOf(t, chain(t, hours(24, 0), hours(3, 5000), hours(1, 0)))
	if f := proof.Check("L-1", c); f != nil {
		t.Error(f)
	}
	if f := proof.CheckOwn("L-1", c, c[1:]); f != nil {
		t.Error(f)
	}
	c[0].Links = nil // left out: the head stands for them
	if f := proof.Check("L-1", c); f != nil {
		t.Error(f)
	}
	if f := proof.Check("L-2", c); f == nil || f.Check != proof.CheckChain {
		t.Errorf("the chain of another lease passed: %v", f)
	}
}

func TestAnySingleChangedByteOfARecordIsFound(t *testing.T) {
	made := chain(t, hours(3, 0), hours(2, 1000))
	rapid.Check(t, func(r *rapid.T) {
		c := copyOf(t, made)
		s := rapid.IntRange(0, len(c)-1).Draw(r, "head")
		i := rapid.IntRange(0, len(c[s].Links)-1).Draw(r, "record")
		text := c[s].Links[i].Record
		at := rapid.IntRange(0, len(text)-1).Draw(r, "byte")
		before := text[at]
		text[at] = rapid.Byte().Filter(func(b byte) bool { return b != before }).Draw(r, "other")
		f := proof.Check("L-1", c)
		if f == nil || f.Check != proof.CheckChain {
			t.Fatalf("a changed byte passed: %s", text)
		}
	})
}

func TestTheFirstChangedRecordIsNamed(t *testing.T) {
	c := copyOf(t, chain(t, hours(3, 0), hours(3, 1000)))
	c[0].Links[2].Record = bytes.Replace(c[0].Links[2].Record, []byte(`"down_ms":0`), []byte(`"down_ms":9`), 1)
	c[1].Links[0].Record = bytes.Replace(c[1].Links[0].Record, []byte(`"down_ms":1000`), []byte(`"down_ms":0`), 1)
	f := proof.Check("L-1", c)
	if f == nil || f.Where != "usage of GPU-1, 2026-05-01T02:00:00Z to 2026-05-01T03:00:00Z" {
		t.Errorf("found %v", f)
	}
}

func TestARewriteThatWasSealedAgainIsFoundByTheHeadsThatWereGivenAway(t *testing.T) {
	given := chain(t, hours(3, 1000), hours(3, 1000))
	rewritten := chain(t, hours(3, 0), hours(3, 1000)) // every hash after it is worked out anew
	if f := proof.Check("L-1", rewritten); f != nil {
		t.Fatalf("the rewritten chain is sound by itself: %v", f)
	}
	f := proof.CheckOwn("L-1", rewritten, given)
	if f == nil || f.Check != proof.CheckHeads || f.Where != "usage of GPU-1, 2026-05-01T00:00:00Z to 2026-05-01T01:00:00Z" {
		t.Errorf("with records: found %v", f)
	}
	heads := copyOf(t, given)
	for i := range heads {
		heads[i].Links = nil
	}
	slices.Reverse(heads)
	f = proof.CheckOwn("L-1", rewritten, heads)
	if f == nil || f.Where != "head 1 of 2026-05-02T00:00:00Z" {
		t.Errorf("by heads alone: found %v", f)
	}
	if f := proof.CheckOwn("L-1", given[:1], given); f == nil || !strings.Contains(f.Found, "does not hold it") {
		t.Errorf("a chain that was cut: found %v", f)
	}
	heads[0].Records++
	if f := proof.CheckOwn("L-1", given, heads[:1]); f == nil || !strings.Contains(f.Found, "damaged") {
		t.Errorf("a damaged copy: found %v", f)
	}
}

func TestEveryChangedFieldOfAHeadIsFound(t *testing.T) {
	made := chain(t, hours(2, 0), hours(2, 0), hours(2, 0))
	changes := map[string]func(h *rental.Head){
		"lease": func(h *rental.Head) { h.Lease = "L-9" }, "number": func(h *rental.Head) { h.Number++ },
		"sealed_at": func(h *rental.Head) { h.SealedAt++ }, "records": func(h *rental.Head) { h.Records++ },
		"previous": func(h *rental.Head) { h.Previous = h.Root }, "root": func(h *rental.Head) { h.Root = h.Previous },
		"hash": func(h *rental.Head) { h.Hash = h.Root },
	}
	for name, change := range changes {
		for _, bare := range []bool{false, true} {
			c := copyOf(t, made)
			if bare {
				c[1].Links = nil
			}
			change(&c[1].Head)
			if proof.Check("L-1", c) == nil {
				t.Errorf("a changed %s passed (records left out: %v)", name, bare)
			}
		}
	}
	if proof.Check("L-1", append(made[:1:1], made[2])) == nil {
		t.Error("a head that is missing passed")
	}
}

func TestWhatARecordSaysIsReadBack(t *testing.T) {
	in := hours(1, 7)
	records, err := proof.Records(in)
	if err != nil {
		t.Fatal(err)
	}
	usage, err := proof.Read(records[0])
	if err != nil || *usage.Usage != in.Usage[0] {
		t.Errorf("found %+v (%v), expected %+v", usage.Usage, err, in.Usage[0])
	}
	down, err := proof.Read(records[1])
	if err != nil || down.Downtime.ID != "auto-1" || down.Downtime.Witnesses[0] != `a "b"` {
		t.Errorf("found %+v (%v)", down.Downtime, err)
	}
	for _, text := range []string{`{}`, `{"kind":"usage/2","usage":{}}`, `{"kind":"usage/1"}`, `[]`, `{"kind":"downtime/1","downtime":[]}`} {
		if got, err := proof.Read(json.RawMessage(text)); err == nil {
			t.Errorf("%s: found %+v, expected an error", text, got)
		}
	}
}
