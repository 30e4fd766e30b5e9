package rental

import "testing"

func TestADowntimeThatTakesOverTheTimeOfOthersKeepsWhatWasSaidOfThem(t *testing.T) {
	other := func(d Downtime, start, end Millis) Downtime {
		d.ID, d.Span = AutomaticPrefix+"other", Span{Start: start, End: end}
		return d
	}
	automatic := measuredDowntime()
	automatic.ApprovedBy = ApprovalAutomatic
	rejected, approved := after(measuredDowntime(), act(ActRejected)), after(measuredDowntime(), act(ActApproved))
	second := other(approved, 21, 30)
	second.ID += "2"
	for name, tc := range map[string]struct {
		before []Downtime
		status string
		acts   int
	}{
		"nobody said anything":                    {[]Downtime{other(automatic, 12, 20)}, DowntimeApproved, 0},
		"a dispute goes on":                       {[]Downtime{other(disputed(automatic), 12, 20)}, DowntimeDisputed, 2},
		"a rejection of more time":                {[]Downtime{other(rejected, 0, 100)}, DowntimeRejected, 2},
		"a rejection of less time":                {[]Downtime{other(rejected, 12, 20)}, DowntimeWaiting, 3},
		"an approval and a rejection":             {[]Downtime{other(rejected, 0, 100), {ID: second.ID, Span: Span{0, 100}, Cause: second.Cause, Reason: second.Reason, ApprovedBy: second.ApprovedBy, Acts: second.Acts}}, DowntimeWaiting, 4},
		"a dispute of one of two":                 {[]Downtime{other(disputed(automatic), 12, 14), second}, DowntimeDisputed, 5},
		"what was said of another time is not it": {[]Downtime{other(disputed(automatic), 200, 300)}, DowntimeApproved, 0},
	} {
		t.Run(name, func(t *testing.T) {
			fresh := measuredDowntime()
			fresh.Span, fresh.ApprovedBy = Span{Start: 10, End: 30}, ApprovalAutomatic
			got := fresh.Succeeding(tc.before, 500)
			if got.Status() != tc.status || len(got.Acts) != tc.acts || got.ID != fresh.ID || got.Span != fresh.Span {
				t.Errorf("%s with %d acts %+v, expected %s with %d", got.Status(), len(got.Acts), got.Acts, tc.status, tc.acts)
			}
		})
	}
}
