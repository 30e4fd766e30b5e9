package manifest

import (
	"embed"
	"fmt"
	"path"
	"strings"
)

//go:embed profiles/*.yaml
var profileFiles embed.FS

// Profile is the terms of a contract that somebody published, as text for a contract's spec: every
// field that decides a verdict or a credit is written out, to be copied and looked at, and nothing
// is filled in behind anybody's back.
type Profile struct {
	Name string
	// Source says whose text it follows, Date of when that text or what is known of it is.
	Source, Date string
	// Text is YAML, with what the profile cannot say as comments.
	Text string
}

// Profiles returns the profiles by name.
func Profiles() ([]Profile, error) {
	entries, err := profileFiles.ReadDir("profiles")
	if err != nil {
		return nil, fmt.Errorf("profiles: %w", err)
	}
	out := make([]Profile, len(entries))
	for i, entry := range entries {
		text, err := profileFiles.ReadFile(path.Join("profiles", entry.Name()))
		if err != nil {
			return nil, fmt.Errorf("profiles: %w", err)
		}
		p := Profile{Name: strings.TrimSuffix(entry.Name(), ".yaml"), Text: string(text)}
		for line := range strings.Lines(p.Text) {
			if source, ok := strings.CutPrefix(line, "# source: "); ok {
				p.Source = strings.TrimSpace(source)
			}
			if date, ok := strings.CutPrefix(line, "# date: "); ok {
				p.Date = strings.TrimSpace(date)
			}
		}
		out[i] = p
	}
	return out, nil
}
