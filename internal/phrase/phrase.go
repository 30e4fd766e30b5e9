// Package phrase is the one catalogue of what Leasewatch says to people, in English and
// Simplified Chinese. Messages are whole sentences in both languages, never glued from parts.
package phrase

import (
	"fmt"

	"golang.org/x/text/language"
)

// The languages of the catalogue, as contracts, channels and Accept-Language name them.
const (
	English = "en"
	Chinese = "zh"
)

// Key names one sentence of the catalogue. Its value may be used in templates.
type Key string

// sentence is one message in both languages. Both take the same arguments; a language may
// put them in another order with explicit indexes (%[2]s).
type sentence struct{ en, zh string }

// tables lists the catalogue, one table a room. The tests hold them complete and disjoint.
func tables() []map[Key]sentence {
	return []map[Key]sentence{coreTexts, slackTexts, deliveryTexts, portalTexts, incidentPageTexts, reportTexts, slaTexts, settleTexts, maintenanceTexts, leaseReportTexts, exportTexts, scoreTexts, clockTexts, ackTexts}
}

// Printer speaks one language. Its zero value speaks English.
type Printer struct{ chinese bool }

// For returns the printer of a language: Chinese for "zh" and its tags without Traditional
// script ("zh-CN", "zh-Hans"), English for all else.
func For(lang string) Printer { return Printer{chinese: Match(lang) == Chinese} }

// Match chooses the catalogue's language for an Accept-Language header or a language tag:
// "zh" where Chinese is preferred over English, else "en". A header that does not parse is "en".
func Match(acceptLanguage string) string {
	tags, _, err := language.ParseAcceptLanguage(acceptLanguage)
	if err != nil || len(tags) == 0 {
		return English
	}
	for _, tag := range tags {
		switch base, _ := tag.Base(); base.String() {
		case "zh":
			return Chinese
		case "en":
			return English
		}
	}
	return English
}

// Lang returns "en" or "zh", fit for an HTML lang attribute.
func (p Printer) Lang() string {
	if p.chinese {
		return Chinese
	}
	return English
}

// Say returns the sentence with its arguments filled in, as fmt.Sprintf does. An unknown key
// comes back in brackets, so that it is seen, and never fails a page.
func (p Printer) Say(key Key, args ...any) string {
	found, ok := lookup(key)
	if !ok {
		return "[" + string(key) + "]"
	}
	text := found.en
	if p.chinese {
		text = found.zh
	}
	if len(args) == 0 {
		return text
	}
	return fmt.Sprintf(text, args...)
}

// Has tells whether the catalogue knows the key; tests of templates ask it.
func Has(key Key) bool {
	_, ok := lookup(key)
	return ok
}

func lookup(key Key) (sentence, bool) {
	for _, table := range tables() {
		if found, ok := table[key]; ok {
			return found, true
		}
	}
	return sentence{}, false
}
