package rental

import (
	"strings"
	"testing"

	"golang.org/x/text/currency"
)

func TestCurrenciesHaveTheirMinorDigits(t *testing.T) {
	for code, want := range map[Currency]int{"USD": 2, "CNY": 2, "EUR": 2, "JPY": 0, "KRW": 0, "KWD": 3, "BHD": 3, "CLF": 4, "CLP": 0, "VND": 0, "ISK": 0, "IDR": 2, "HUF": 2, "XCG": 2} {
		if got, err := code.MinorDigits(); err != nil || got != want {
			t.Errorf("%s has %d, %v, want %d", code, got, err, want)
		}
	}
}

func TestWhatIsNoActiveCurrencyIsRefused(t *testing.T) {
	for _, code := range []Currency{"", "usd", "US", "USDT", "RMB", "XXX", "XAU", "XTS", "DEM", "HRK", "D2 ", "AED2", " AE", "２USD"} {
		if _, err := code.MinorDigits(); err == nil {
			t.Errorf("currency %q was accepted", code)
		}
	}
}

func TestTheTableHoldsOnlyCodesThatOthersKnow(t *testing.T) {
	// Codes younger than the library's table.
	young := map[string]bool{"MRU": true, "UYW": true, "VES": true, "SLE": true, "VED": true, "XCG": true, "ZWG": true, "XAD": true}
	seen := map[string]bool{}
	for entry := range strings.FieldsSeq(currencyTable) {
		code := entry[:3]
		if seen[code] {
			t.Errorf("%s is there twice", code)
		}
		seen[code] = true
		if _, err := currency.ParseISO(code); err != nil && !young[code] {
			t.Errorf("%s: %v", code, err)
		}
	}
	if len(seen) < 150 {
		t.Errorf("%d currencies, expected all of them", len(seen))
	}
}

func TestAmountsReadAsMoney(t *testing.T) {
	for want, a := range map[string]Amount{
		"59,520.00 CNY": {"CNY", 5_952_000}, "-0.05 USD": {"USD", -5}, "1,234,567 JPY": {"JPY", 1_234_567},
		"0.001 KWD": {"KWD", 1}, "-1,000.00 USD": {"USD", -100_000}, "999.00 USD": {"USD", 99_900},
	} {
		if got := a.String(); got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
}

func FuzzParseDecimal(f *testing.F) {
	for _, seed := range []string{"2.49", "-1", "1e9", "0x10", "1,000", ".5", "5.", "00.10", "NaN"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		d, err := ParseDecimal(text)
		if err != nil {
			return
		}
		if d.String() != text || !d.IsSet() {
			t.Errorf("%q was read as %q", text, d)
		}
		back, err := ParseDecimal(d.Rat().FloatString(30))
		if err != nil || back.Rat().Cmp(d.Rat()) != 0 {
			t.Errorf("%q is not exact: %s, %v", text, d.Rat().RatString(), err)
		}
	})
}

func FuzzMillis(f *testing.F) {
	for _, seed := range []string{"2026-05-01T00:00:00Z", "open", "2026-05-01T00:00:00.1234+08:00", "2026-05-01", ""} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		var m, again Millis
		if m.UnmarshalText([]byte(text)) != nil {
			return
		}
		if err := again.UnmarshalText([]byte(m.String())); err != nil || again != m {
			t.Errorf("%q was read as %s and that as %s, %v", text, m, again, err)
		}
	})
}

func FuzzDuration(f *testing.F) {
	for _, seed := range []string{"60s", "48h", "-1s", "1d", "", "1h2m3s"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		var d, again Duration
		if d.UnmarshalText([]byte(text)) != nil {
			return
		}
		out, err := d.MarshalText()
		if err != nil || again.UnmarshalText(out) != nil || again != d || d < 0 {
			t.Errorf("%q does not survive: %s", text, out)
		}
	})
}
