package paging

import (
	"context"
	"errors"
	"maps"
	"slices"
	"time"

	"github.com/leasewatch/leasewatch/internal/rental"
	"github.com/prometheus/alertmanager/alert"
	"github.com/prometheus/alertmanager/notify"
	"github.com/prometheus/common/model"
)

// integrations gives each receiver its ways out: the notifier, others that the file names, or nothing.
func (p *Pager) integrations(r *routing) map[string][]notify.Integration {
	all := make(map[string][]notify.Integration, len(r.config.Receivers))
	for _, receiver := range r.config.Receivers {
		all[receiver.Name] = r.ways[receiver.Name]
		if delivers(receiver) {
			out := handover{deliver: p.opts.Deliver, now: p.opts.Now}
			own := notify.NewIntegration(out, out, "leasewatch", 0, receiver.Name)
			all[receiver.Name] = append([]notify.Integration{own}, r.ways[receiver.Name]...)
		}
	}
	return all
}

// handover is the notifier of Alertmanager's pipeline that hands groups on within this process.
type handover struct {
	deliver func(ctx context.Context, group rental.AlertGroup) error
	now     func() time.Time
}

var (
	_ notify.Notifier       = handover{}
	_ notify.ResolvedSender = handover{}
)

// SendResolved says that ended alerts are wanted too.
func (handover) SendResolved() bool { return true }

// Notify hands one group on. Every error is worth another try: the receiver is in this process.
func (h handover) Notify(ctx context.Context, alerts ...*alert.Alert) notify.NotifyVerdict {
	receiver, ok := notify.ReceiverName(ctx)
	if !ok {
		return notify.Unrecoverable(errors.New("no receiver named"), notify.DefaultReason)
	}
	labels, ok := notify.GroupLabels(ctx)
	if !ok {
		return notify.Unrecoverable(errors.New("no group labels"), notify.DefaultReason)
	}
	group := rental.AlertGroup{
		Receiver: receiver, Labels: stringMap(labels), Alerts: make([]rental.Alert, 0, len(alerts)), At: rental.At(h.now()),
	}
	group.Key = GroupKey(receiver, group.Labels)
	for _, a := range alerts {
		group.Alerts = append(group.Alerts, toRental(a))
	}
	if err := h.deliver(ctx, group); err != nil {
		return notify.Retry(0, err, notify.DefaultReason)
	}
	return notify.Success()
}

// toRental converts an alert of a flush, in which firing alerts have no end.
func toRental(a *alert.Alert) rental.Alert {
	ends := rental.Forever
	if !a.EndsAt.IsZero() {
		ends = rental.At(a.EndsAt)
	}
	return rental.Alert{
		Fingerprint: a.Fingerprint().String(), Labels: stringMap(a.Labels), Annotations: stringMap(a.Annotations),
		StartsAt: rental.At(a.StartsAt), EndsAt: ends,
	}
}

func stringMap(set model.LabelSet) map[string]string {
	m := make(map[string]string, len(set))
	for name, value := range set {
		m[string(name)] = string(value)
	}
	return m
}

func sortedNames(m map[string]string) []string { return slices.Sorted(maps.Keys(m)) }
