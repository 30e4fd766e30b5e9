package paging

import (
	"context"
	"log/slog"

	"github.com/prometheus/alertmanager/alert"
	"github.com/prometheus/alertmanager/featurecontrol"
	"github.com/prometheus/alertmanager/inhibit"
	"github.com/prometheus/alertmanager/nflog/nflogpb"
	"github.com/prometheus/alertmanager/notify"
	"github.com/prometheus/alertmanager/timeinterval"
)

// pipeline is the way of a group's alerts to each receiver. It is Alertmanager's but for muting; see quiet.
func (p *Pager) pipeline(r *routing, inhibitor *inhibit.Inhibitor, muter *timeinterval.Intervener) notify.Stage {
	muted := quiet{
		notify.NewMuteStage(inhibitor, p.metrics),
		notify.NewTimeActiveStage(muter, p.metrics),
		notify.NewTimeMuteStage(muter, p.metrics),
		notify.NewMuteStage(p.silencer, p.metrics),
	}
	integrations := p.integrations(r)
	p.metrics.InitializeFor(integrations)
	routes := make(notify.RoutingStage, len(integrations))
	for name, outs := range integrations {
		stage := notify.MultiStage{muted}
		for i := range outs {
			recipient := &nflogpb.Receiver{GroupName: name, Integration: outs[i].Name(), Idx: uint32(outs[i].Index())}
			stage = append(stage,
				notify.NewDedupStage(&outs[i], p.log, recipient),
				notify.NewRetryStage(outs[i], name, p.metrics, p.recorder),
				notify.NewSetNotifiesStage(p.log, recipient, featurecontrol.NoopFlags{}))
		}
		routes[name] = stage
	}
	return routes
}

// quiet mutes alerts that fire. Ended ones pass: Alertmanager mutes them too, and an incident whose
// alert ended under a silence would stay open for ever. But where all that fire are muted, the group
// says nothing: with the ended ones alone it would look resolved while something still fires.
type quiet []notify.Stage

var _ notify.Stage = quiet{}

// Exec returns the alerts that may be told.
func (q quiet) Exec(ctx context.Context, logger *slog.Logger, alerts ...*alert.Alert) (context.Context, []*alert.Alert, error) {
	var firing, ended []*alert.Alert
	for _, a := range alerts {
		if a.EndsAt.IsZero() {
			firing = append(firing, a)
		} else {
			ended = append(ended, a)
		}
	}
	if len(firing) == 0 {
		return ctx, ended, nil
	}
	ctx, left, err := notify.MultiStage(q).Exec(ctx, logger, firing...)
	if err != nil || len(left) == 0 {
		return ctx, nil, err
	}
	return ctx, append(left, ended...), nil
}
