package slack_test

import (
	"context"
	"strings"
	"testing"

	"github.com/leasewatch/leasewatch/internal/rental"
	"github.com/leasewatch/leasewatch/internal/slack"
	"github.com/leasewatch/leasewatch/internal/slack/slackfake"
)

func TestAMessageShowsThePersonBehindAnID(t *testing.T) {
	s, fake := workspace(t, slackfake.Options{}, func(o *slack.Options) {
		o.Shown = rental.Names{"PER-7": "<Wang> Li (PER-7)"}.Of
	})
	inc := incident(lost(3))
	inc.Status, inc.AckedBy, inc.AckedAt = rental.IncidentAcked, "PER-7", inc.OpenedAt+130_000
	inc.Silence = &rental.IncidentSilence{ID: "s1", Until: inc.OpenedAt + 3_600_000, By: "PER-7"}
	_, err := s.Send(context.Background(), delivery(1, "post"), inc)
	must(t, err)
	if said := fake.Messages()[0].Rendered(); strings.Count(said, "Wang") != 2 || strings.Count(said, "PER-7") != 2 {
		t.Errorf("expected who acknowledged and who silenced it by name, found:\n%s", said)
	}
}
