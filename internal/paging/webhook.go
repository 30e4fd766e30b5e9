package paging

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"

	"github.com/leasewatch/leasewatch/internal/rental"
	"github.com/prometheus/common/model"
)

// maxWebhookBody bounds one message of an Alertmanager: 10,000 alerts of some kilobytes.
const maxWebhookBody = 64 << 20

// webhookMessage is what a stock Alertmanager posts (version 4 of its message). Only what we use is named.
type webhookMessage struct {
	Version         string            `json:"version"`
	Receiver        string            `json:"receiver"`
	GroupLabels     map[string]string `json:"groupLabels"`
	TruncatedAlerts int               `json:"truncatedAlerts"`
	Alerts          []webhookAlert    `json:"alerts"`
}

type webhookAlert struct {
	Status      string            `json:"status"`
	Labels      map[string]string `json:"labels"`
	Annotations map[string]string `json:"annotations"`
	StartsAt    time.Time         `json:"startsAt"`
	EndsAt      time.Time         `json:"endsAt"`
	Fingerprint string            `json:"fingerprint"`
}

// Webhook takes the message of a stock Alertmanager and delivers it as the embedded pipeline does,
// under the same key. 400: the message is wrong, and sending it again will not help; 503: deliver
// failed, and Alertmanager tries again.
func (p *Pager) Webhook(w http.ResponseWriter, r *http.Request) {
	group, err := readWebhook(http.MaxBytesReader(w, r.Body, maxWebhookBody))
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	group.At, group.Outside = rental.At(p.opts.Now()), true
	for i, a := range group.Alerts {
		if a.EndsAt != rental.Forever && a.EndsAt > group.At {
			group.Alerts[i].EndsAt = group.At // it says that it is over: its clock is ahead of ours
		}
	}
	if err := p.opts.Deliver(r.Context(), group); err != nil {
		p.logger.Error("a group of a stock Alertmanager could not be taken: it will send it again", "group", group.Key, "err", err)
		http.Error(w, "the group could not be stored: try again", http.StatusServiceUnavailable)
		return
	}
	w.WriteHeader(http.StatusNoContent)
}

func readWebhook(body io.Reader) (rental.AlertGroup, error) {
	var m webhookMessage
	if err := json.NewDecoder(body).Decode(&m); err != nil {
		return rental.AlertGroup{}, fmt.Errorf("webhook message: %w: expected Alertmanager's JSON, version 4", err)
	}
	if m.Version != "4" {
		return rental.AlertGroup{}, fmt.Errorf("webhook message: version %q: expected 4", m.Version)
	}
	if m.Receiver == "" || len(m.Alerts) == 0 {
		return rental.AlertGroup{}, errors.New("webhook message: no receiver or no alerts: expected both")
	}
	group := rental.AlertGroup{
		Key: GroupKey(m.Receiver, m.GroupLabels), Receiver: m.Receiver, Labels: m.GroupLabels, Truncated: m.TruncatedAlerts,
	}
	for i, a := range m.Alerts {
		converted, err := a.toRental()
		if err != nil {
			return rental.AlertGroup{}, fmt.Errorf("webhook message: alert %d: %w", i, err)
		}
		group.Alerts = append(group.Alerts, converted)
	}
	return group, nil
}

func (a webhookAlert) toRental() (rental.Alert, error) {
	converted := rental.Alert{
		Fingerprint: a.Fingerprint, Labels: a.Labels, Annotations: a.Annotations,
		StartsAt: rental.At(a.StartsAt), EndsAt: rental.Forever,
	}
	switch model.AlertStatus(a.Status) {
	case model.AlertFiring:
	case model.AlertResolved:
		converted.EndsAt = rental.At(a.EndsAt)
	default:
		return rental.Alert{}, fmt.Errorf("status %q: expected firing or resolved", a.Status)
	}
	if converted.Fingerprint == "" {
		converted.Fingerprint = labelSet(a.Labels).Fingerprint().String()
	}
	return converted, nil
}
