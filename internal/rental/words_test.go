package rental

import (
	"strings"
	"testing"
	"time"
	"unicode"
)

// explained returns every sentence that money and verdicts of a lease can say, in a language.
func explained(t *testing.T, lang string) []string {
	t.Helper()
	var out []string
	when := span(t, "2026-05-01T00:00:00Z", "2026-05-01T08:20:00Z")
	for _, mode := range []string{ModeSecond, ModeMinute, ModeHour, ModeDay, ModeWeek, ModeMonth} {
		for _, unit := range []string{UnitGPU, UnitInstance, UnitLease} {
			c := hourly(t, "9.99")
			c.Plan.Mode, c.Plan.Unit, c.Language = mode, unit, lang
			for _, l := range charge(t, facts(c, when, 2), when) {
				out = append(out, l.Note)
			}
		}
	}
	for _, scope := range []string{ScopeGPU, ScopeAll, ScopeWeighted} {
		for _, unknown := range []string{"down", "excluded"} {
			for _, limit := range []string{"100", "1"} {
				c := withTiers(t, hourly(t, "9.99"))
				c.Language, c.Availability.Scope, c.Availability.Unknown = lang, scope, unknown
				c.Credits.Scope, c.Credits.CapPercent = UnitGPU, dec(t, limit)
				c.Availability.Outage = OutageWholeMinutes
				c.Availability.ExcludedLeavesDenominator = yes()
				f := facts(c, when, 2)
				f.Lease.Stops = []Span{{when.Start + 3_600_000, when.Start + 7_200_000}}
				v := judge(t, JudgeInput{Facts: f, Period: when, Language: lang, Timelines: map[string][]Interval{
					"A": upDown(when.Start, "lost", 90*time.Second, "unknown", 10*time.Minute, "ok", 9*time.Hour),
					"B": upDown(when.Start, "lost", 10*time.Minute, "ok", 9*time.Hour),
				}})
				lines := charge(t, f, when)
				credit, err := CreditFor(CreditInput{Facts: f, Verdict: v, Gross: lines, Net: lines, Language: lang})
				if err != nil {
					t.Fatal(err)
				}
				out = append(out, v.Arithmetic, credit.Arithmetic)
				for _, card := range v.PerGPU {
					out = append(out, card.Arithmetic)
				}
			}
		}
	}
	return append(out, Verdict{}.Explain(lang))
}

func TestSentencesAreWholeInBothLanguages(t *testing.T) {
	for _, lang := range []string{"en", "zh"} {
		for _, text := range explained(t, lang) {
			if strings.Contains(text, "%!") || strings.Contains(text, "  ") {
				t.Errorf("%s: a broken sentence: %s", lang, text)
			}
			chinese := strings.ContainsFunc(text, func(r rune) bool { return unicode.Is(unicode.Han, r) })
			if text != "" && chinese != (lang == "zh") {
				t.Errorf("%s: a sentence of the other language: %s", lang, text)
			}
			if lang == "zh" && strings.ContainsAny(text, ";()") {
				t.Errorf("punctuation of the other language: %s", text)
			}
		}
	}
}
