package portal

import (
	"testing"

	"github.com/leasewatch/leasewatch/internal/phrase"
	"github.com/leasewatch/leasewatch/internal/rental"
)

func TestTheLeasesPageSaysWhereTheExporterCountedOtherwise(t *testing.T) {
	check := rental.StateCheck{DifferenceMS: 20 * 60_000, States: []rental.StateTime{
		{State: "lost", CountedMS: 60_000, DerivedMS: 60_000}, {State: "ok", CountedMS: 3_600_000, DerivedMS: 2_400_000}}}
	for language, want := range map[string]string{
		"en": "gpu-a1/3: the exporter itself counted otherwise for 20 min 00 s: Up 1 h 00 min 00 s, seen 40 min 00 s",
		"zh": "gpu-a1/3：采集代理自身的计时与此相差 20 分 00 秒：正常 计 1 小时 00 分 00 秒，所见 40 分 00 秒",
	} {
		if got, ok := differs(phrase.For(language), "gpu-a1/3", &check); !ok || got != want {
			t.Errorf("%q, expected %q", got, want)
		}
	}
	check.DifferenceMS = checkFrom - 1
	for _, c := range []*rental.StateCheck{nil, &check} {
		if got, ok := differs(phrase.For("en"), "gpu-a1/3", c); ok {
			t.Errorf("told %q of %+v", got, c)
		}
	}
}
