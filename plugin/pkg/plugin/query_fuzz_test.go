package plugin

import (
	"strings"
	"testing"
)

func FuzzAQueryIsUnderstoodOrRefused(f *testing.F) {
	f.Add(`{"type":"usage","lease":" L-1 ","step":"day","metric":"cost"}`)
	f.Add(`{"type":"cards"}`)
	f.Add(`{"type":1}`)
	f.Fuzz(func(t *testing.T, text string) {
		q, err := parseQuery([]byte(text))
		if err != nil {
			if err.Error() == "" {
				t.Error("a refusal without a word")
			}
			return
		}
		if q.Type == "" || q.Type != QueryLeases && q.Lease == "" || q.Lease != strings.TrimSpace(q.Lease) {
			t.Errorf("taken: %+v", q)
		}
	})
}
