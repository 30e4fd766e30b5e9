package slack

import (
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"
)

func TestTextsAreCutAtAWord(t *testing.T) {
	for _, test := range []struct {
		text  string
		limit int
		want  string
	}{
		{"short", 10, "short"},
		{"exactly ten", 11, "exactly ten"},
		{"one two three four", 12, "one two…"},
		{"一二三四五六七八九十", 5, "一二三四…"},
		{strings.Repeat("x", 100), 50, strings.Repeat("x", 49) + "…"},
	} {
		if got := cut(test.text, test.limit); got != test.want {
			t.Errorf("cut(%q, %d) = %q, want %q", test.text, test.limit, got, test.want)
		}
	}
}

func TestOnlyHTTPAddressesBecomeButtons(t *testing.T) {
	for address, want := range map[string]string{
		"https://example.org/runbooks/gpu-lost":      "https://example.org/runbooks/gpu-lost",
		" http://10.0.0.1:8080/x ":                   "http://10.0.0.1:8080/x",
		"javascript:alert(1)":                        "",
		"/runbooks/gpu-lost":                         "",
		"https://":                                   "",
		"https://e.org/" + strings.Repeat("x", 3000): "",
		"": "",
	} {
		if got := safeURL(address); got != want {
			t.Errorf("safeURL(%q) = %q, want %q", address, got, want)
		}
	}
}

func FuzzCleanAndCut(f *testing.F) {
	f.Add("GPU\tlost\n\u202eevil\x00", 5)
	f.Add("警报 \xff\xfe", 1)
	f.Fuzz(func(t *testing.T, text string, limit int) {
		limit = max(2, limit%5000)
		got := cut(clean(text), limit)
		if !utf8.ValidString(got) || utf8.RuneCountInString(got) > limit {
			t.Fatalf("%q has %d characters, limit %d", got, utf8.RuneCountInString(got), limit)
		}
		for _, r := range got {
			if unicode.IsControl(r) || unicode.Is(unicode.Cf, r) {
				t.Fatalf("%q still holds %U", got, r)
			}
		}
		if escaped := fallbackText(text); strings.ContainsAny(escaped, "<>") {
			t.Fatalf("%q is not escaped", escaped)
		}
	})
}
