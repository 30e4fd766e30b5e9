package oncall

import (
	"bytes"
	"errors"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/leasewatch/leasewatch/internal/rental"
)

func links(t testing.TB, fill byte) *Links {
	t.Helper()
	l, err := NewLinks(bytes.Repeat([]byte{fill}, 32))
	if err != nil {
		t.Fatal(err)
	}
	return l
}

func TestALinkIsReadBackUntilItExpiresAndByItsOwnKeyAlone(t *testing.T) {
	l, now := links(t, 1), moment(t, "2026-11-30T03:00:00Z")
	text, err := l.Sign("INC-42", "Wang Li", true, now-1000, now)
	if err != nil {
		t.Fatal(err)
	}
	end := now + rental.Millis(LinkLife.Milliseconds())
	link, err := l.Read(text, end-1)
	if err != nil || link.Incident != "INC-42" || link.By != "Wang Li" || link.Opened != now-1000 || len(link.ID) != 24 {
		t.Errorf("read back: %+v, %v", link, err)
	}
	if _, err := l.Read(text, end); !errors.Is(err, ErrExpired) {
		t.Errorf("a day later: %v, want %v", err, ErrExpired)
	}
	if _, err := links(t, 2).Read(text, now); !errors.Is(err, ErrForged) {
		t.Errorf("by another key: %v, want %v", err, ErrForged)
	}
	again, err := l.Sign("INC-42", "Wang Li", true, now-1000, now)
	if err != nil || again == text {
		t.Errorf("a second link is the same as the first (%v)", err)
	}
	if strings.ContainsAny(text, "/+=?&# ") {
		t.Errorf("link %q does not fit into an address", text)
	}
	if _, err := NewLinks([]byte("short")); err == nil {
		t.Error("a short key is taken")
	}
}

func TestNoChangedLinkIsTaken(t *testing.T) {
	l, now := links(t, 1), moment(t, "2026-11-30T03:00:00Z")
	text, err := l.Sign("INC-42", "Wang Li", true, now, now)
	if err != nil {
		t.Fatal(err)
	}
	rapid.Check(t, func(t *rapid.T) {
		changed := []byte(text)
		at := rapid.IntRange(0, len(changed)-1).Draw(t, "at")
		changed[at] = rapid.Byte().Draw(t, "byte")
		if string(changed) == text {
			return
		}
		if _, err := l.Read(string(changed), now); !errors.Is(err, ErrForged) {
			t.Fatalf("%q, changed at %d, is taken: %v", changed, at, err)
		}
	})
}

func FuzzLink(f *testing.F) {
	l := links(f, 1)
	text, err := l.Sign("INC-42", "Wang Li", true, 1, 1)
	if err != nil {
		f.Fatal(err)
	}
	for _, seed := range []string{text, "", ".", "e30.", text + "=", strings.ToUpper(text)} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, given string) {
		if link, err := l.Read(given, 2); err == nil && given != text {
			t.Errorf("%q is taken as %+v", given, link)
		}
	})
}
