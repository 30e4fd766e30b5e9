package phrase

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"regexp"
	"sort"
	"strconv"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/leasewatch/leasewatch/internal/rental"
)

var verb = regexp.MustCompile(`%(\[\d+\])?[-+# 0]*\d*(\.\d+)?[a-zA-Z%]`)

// placeholders lists the verbs with the argument each one takes, in order of the arguments.
func placeholders(text string) []string {
	var found []string
	next := 1
	for _, match := range verb.FindAllString(text, -1) {
		if match == "%%" {
			continue
		}
		if open := strings.IndexByte(match, '['); open >= 0 {
			shut := strings.IndexByte(match, ']')
			next, _ = strconv.Atoi(match[open+1 : shut])
			match = match[:open] + match[shut+1:]
		}
		found = append(found, strconv.Itoa(next)+match)
		next++
	}
	sort.Strings(found)
	return found
}

func TestEverySentenceIsThereInBothLanguagesWithTheSamePlaceholders(t *testing.T) {
	seen := map[Key]bool{}
	for _, table := range tables() {
		for key, s := range table {
			if seen[key] {
				t.Errorf("%s: in two tables", key)
			}
			seen[key] = true
			if strings.TrimSpace(s.en) == "" || strings.TrimSpace(s.zh) == "" {
				t.Errorf("%s: a language is missing: %+v", key, s)
			}
			if en, zh := placeholders(s.en), placeholders(s.zh); strings.Join(en, " ") != strings.Join(zh, " ") {
				t.Errorf("%s: placeholders differ: en %v, zh %v", key, en, zh)
			}
			if strings.ContainsAny(s.en+s.zh, "!！") {
				t.Errorf("%s: has an exclamation mark", key)
			}
		}
	}
}

func TestEveryKeyConstantHasItsSentence(t *testing.T) {
	count := 0
	names, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(file, func(n ast.Node) bool {
			spec, ok := n.(*ast.ValueSpec)
			if !ok || len(spec.Values) != 1 {
				return true
			}
			if kind, ok := spec.Type.(*ast.Ident); !ok || kind.Name != "Key" {
				return true
			}
			if lit, ok := spec.Values[0].(*ast.BasicLit); ok && lit.Kind == token.STRING {
				key, _ := strconv.Unquote(lit.Value)
				count++
				if !Has(Key(key)) {
					t.Errorf("%s: %s has no sentence", name, key)
				}
			}
			return true
		})
	}
	if count < 50 {
		t.Errorf("found only %d keys; expected the whole catalogue", count)
	}
}

func TestLanguageIsChosenByPreference(t *testing.T) {
	for header, want := range map[string]string{
		"":                                "en",
		"zh":                              "zh",
		"zh-CN,zh;q=0.9,en;q=0.8":         "zh",
		"en-GB,en;q=0.9,zh;q=0.5":         "en",
		"de-DE,de;q=0.9,zh;q=0.5":         "zh",
		"en;q=0.1, zh-Hans;q=0.9":         "zh",
		"fr":                              "en",
		"\x00\xff;;;q=":                   "en",
		strings.Repeat("zh-CN;q=0.1,", 8): "zh",
	} {
		if got := Match(header); got != want {
			t.Errorf("Match(%q) = %s, want %s", header, got, want)
		}
	}
}

func TestFiguresReadAsTheHouseStyleSays(t *testing.T) {
	en, zh := For("en"), For("zh")
	berlin := time.FixedZone("CEST", 7200)
	tests := map[string][2]string{
		"hours":             {en.Duration(7450_000), "2 h 04 min 10 s"},
		"hours in Chinese":  {zh.Duration(7450_000), "2 小时 04 分 10 秒"},
		"minutes":           {en.Duration(61_999), "1 min 01 s"},
		"seconds":           {en.Duration(9_000), "9 s"},
		"part of a second":  {en.Duration(1), "under 1 s"},
		"nothing":           {en.Duration(0), "0 s"},
		"days":              {en.Duration(90_000_000), "1 d 1 h 00 min"},
		"money":             {en.Money(rental.Amount{Currency: "USD", Minor: 5952000}), "USD\u00a059\u202f520.00"},
		"negative money":    {en.Money(rental.Amount{Currency: "EUR", Minor: -5}), "EUR\u00a0\u22120.05"},
		"no minor unit":     {en.Money(rental.Amount{Currency: "JPY", Minor: 1234567}), "JPY\u00a01\u202f234\u202f567"},
		"three digits":      {en.Money(rental.Amount{Currency: "KWD", Minor: 1}), "KWD\u00a00.001"},
		"least integer":     {en.Money(rental.Amount{Currency: "JPY", Minor: -1 << 63}), "JPY\u00a0\u22129\u202f223\u202f372\u202f036\u202f854\u202f775\u202f808"},
		"never a pass":      {en.FlooredPercent(999_999, 1_000_000, 2), "99.99\u00a0%"},
		"rounded":           {en.RoundedPercent(999_999, 1_000_000, 2), "100.00\u00a0%"},
		"one third":         {en.RoundedPercent(1, 3, 1), "33.3\u00a0%"},
		"two thirds, whole": {en.RoundedPercent(2, 3, 0), "67\u00a0%"},
		"no denominator":    {zh.FlooredPercent(1, 0, 4), "无数据"},
		"time":              {en.Time(rental.Millis(1_700_000_000_000), berlin), "2023-11-15 00:13:20 CEST"},
		"open":              {zh.Time(rental.Forever, nil), "未结束"},
		"count":             {en.Count(-1234567), "\u22121\u202f234\u202f567"},
		"unknown key":       {en.Say("no.such"), "[no.such]"},
		"state":             {en.State("lost").Glyph + " " + en.State("lost").Word, "✕ Down: GPU lost"},
		"state not known":   {en.State("melted").Glyph + " " + en.State("melted").Word, "? melted"},
		"severity":          {zh.Severity(rental.Page), "紧急"},
	}
	for name, got := range tests {
		if got[0] != got[1] {
			t.Errorf("%s: got %q, want %q", name, got[0], got[1])
		}
	}
}

func TestFlooredIsNeverAboveTheTruthAndWithinOneStep(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		denominator := rapid.Int64Range(1, 1<<50).Draw(t, "denominator")
		numerator := rapid.Int64Range(0, denominator-1).Draw(t, "numerator")
		if got := For("en").FlooredPercent(numerator, denominator, 4); strings.HasPrefix(got, "100") {
			t.Fatalf("%d of %d shows as %s", numerator, denominator, got)
		}
	})
}

func TestHeadlineSaysWhatAndWhereInTheReadersLanguage(t *testing.T) {
	alert := func(name string, end rental.Millis, annotations map[string]string) rental.Alert {
		return rental.Alert{Fingerprint: name, EndsAt: end, Annotations: annotations,
			Labels: map[string]string{"alertname": name, "host": "gpu-a17", "severity": "page"}}
	}
	lost := alert("LeasewatchGPULost", rental.Forever, map[string]string{"summary": "GPU lost: gpu-a17 slot 3", "summary_zh": "GPU 丢失：gpu-a17 槽位 3"})
	healed := alert("AHealed", 5, map[string]string{"summary": "healed"})
	for name, test := range map[string]struct{ got, want string }{
		"summary":                {For("en").Headline([]rental.Alert{healed, lost}, 10), "GPU lost: gpu-a17 slot 3"},
		"summary in Chinese":     {For("zh").Headline([]rental.Alert{lost}, 10), "GPU 丢失：gpu-a17 槽位 3"},
		"several":                {For("en").Headline([]rental.Alert{lost, lost, lost}, 10), "GPU lost: gpu-a17 slot 3 and 2 more"},
		"all healed":             {For("en").Headline([]rental.Alert{healed}, 10), "healed"},
		"name of an alert alone": {For("en").Headline([]rental.Alert{alert("LeasewatchGPULost", rental.Forever, nil)}, 10), "GPU lost  gpu-a17"},
		"camel case":             {For("zh").Headline([]rental.Alert{alert("HostDiskFull", rental.Forever, nil)}, 10), "Host disk full  gpu-a17"},
		"nothing":                {For("en").Headline(nil, 10), "a subject without a name"},
	} {
		if test.got != test.want {
			t.Errorf("%s: got %q, want %q", name, test.got, test.want)
		}
	}
}

func FuzzMatch(f *testing.F) {
	f.Add("zh-CN,zh;q=0.9,en;q=0.8")
	f.Fuzz(func(t *testing.T, header string) {
		if got := Match(header); got != English && got != Chinese {
			t.Fatalf("Match(%q) = %q", header, got)
		}
	})
}
