package rental

import (
	"fmt"
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"
)

// PersonPrefix leads the ids of people: PER-1, PER-2, ...
const PersonPrefix = "PER-"

// Person is somebody who acts. Facts keep the id alone; everything else of a person can be erased.
type Person struct {
	ID   string `json:"id"`
	Name string `json:"name,omitempty"` // empty once erased
	Mail string `json:"mail,omitempty"` // optional
	// AddedAt is when the person was entered, ErasedAt when all but the id was erased; 0 while it was not.
	AddedAt  Millis `json:"added_at"`
	ErasedAt Millis `json:"erased_at,omitempty"`
}

// maxPersonText bounds a name or an address, in characters.
const maxPersonText = 200

// Shown is how people read who it is.
func (p Person) Shown() string {
	if p.ErasedAt != 0 {
		return p.ID + " (erased)"
	}
	return fmt.Sprintf("%s (%s)", p.Name, p.ID)
}

// Validate returns what is wrong with the name and the address.
func (p Person) Validate() []FieldError {
	var f faults
	f.check(strings.TrimSpace(p.Name) != "" && plainText(p.Name), "name", quoted(p.Name), fmt.Sprintf("1 to %d printable characters", maxPersonText))
	f.check(p.Mail == "" || mailForm.MatchString(p.Mail) && plainText(p.Mail), "mail", quoted(p.Mail), "an address such as ada@example.net")
	return f.list
}

var (
	mailForm   = regexp.MustCompile(`^[^@\s]+@[^@\s]+$`)
	personForm = regexp.MustCompile(`^PER-[1-9][0-9]*$`)
)

func plainText(text string) bool {
	return utf8.ValidString(text) && utf8.RuneCountInString(text) <= maxPersonText &&
		strings.IndexFunc(text, func(r rune) bool { return !unicode.IsPrint(r) }) < 0
}

// IsPersonID tells whether the text has the form of a person's id.
func IsPersonID(text string) bool { return personForm.MatchString(text) }

// Names are what ids of people are shown as.
type Names map[string]string

// Of returns how people read who did something: a person by name, anything else, such as a program
// or a name that an older ledger recorded, as it is.
func (n Names) Of(by string) string {
	if shown, ok := n[by]; ok {
		return shown
	}
	return by
}
