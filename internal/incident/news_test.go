package incident

import (
	"testing"

	"github.com/leasewatch/leasewatch/internal/rental"
)

func TestWhichNewAlertsAreWorthAMention(t *testing.T) {
	alert := func(fingerprint, uuid string, ends rental.Millis) rental.Alert {
		return rental.Alert{Fingerprint: fingerprint, Labels: map[string]string{"uuid": uuid}, EndsAt: ends}
	}
	known := []rental.Alert{alert("xid79", "GPU-1", rental.Forever), alert("hot", "GPU-2", 5)}
	for name, c := range map[string]struct {
		fired rental.Alert
		want  bool
	}{
		"one more symptom of a card that is already told only changes the message": {alert("lost", "GPU-1", rental.Forever), false},
		"another card of the host is news":                                         {alert("lost", "GPU-3", rental.Forever), true},
		"a card whose alert had ended is news":                                     {alert("lost", "GPU-2", rental.Forever), true},
		"the same alert that fires again is news":                                  {alert("hot", "GPU-2", rental.Forever), true},
		"an alert about no card is news":                                           {alert("silent", "", rental.Forever), true},
	} {
		t.Run(name, func(t *testing.T) {
			if got := news(known, []rental.Alert{c.fired}); got != c.want {
				t.Errorf("news = %v, want %v", got, c.want)
			}
		})
	}
	if news(known, nil) {
		t.Error("no alert is no news")
	}
}
