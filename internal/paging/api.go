package paging

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"

	apiv2 "github.com/prometheus/alertmanager/api/v2"
	"github.com/prometheus/alertmanager/config"
	"github.com/prometheus/alertmanager/dispatch"
	"github.com/prometheus/alertmanager/labelset"
	"github.com/prometheus/common/model"
)

// api is Alertmanager's own, on our groups.
type api struct {
	v2     *apiv2.API
	handle http.Handler
	mark   func(ctx context.Context, labels labelset.LabelSet)
}

func (p *Pager) newAPI(logger *slog.Logger) (*api, error) {
	v2, err := apiv2.NewAPI(p.alerts, p.groups, p.silences, nil, logger, p.opts.Registerer)
	if err != nil {
		return nil, fmt.Errorf("paging: API: %w", err)
	}
	a := &api{v2: v2, handle: v2.Handler, mark: p.mark}
	a.update(p.routing.config)
	return a, nil
}

// update shows the API another routing.
func (a *api) update(cfg *config.Config) { a.v2.Update(cfg, a.mark) }

// ServeHTTP answers requests under /api/v2.
func (a *api) ServeHTTP(w http.ResponseWriter, r *http.Request) { a.handle.ServeHTTP(w, r) }

// groups returns the groups of the running dispatcher, or none before Start.
func (p *Pager) groups(ctx context.Context, route func(*dispatch.Route) bool, keep dispatch.AlertFilter) (dispatch.AlertGroups, map[model.Fingerprint][]string, error) {
	p.mu.RLock()
	d := p.dispatcher
	p.mu.RUnlock()
	if d == nil {
		return nil, nil, nil
	}
	return d.Groups(ctx, route, keep)
}

// mark sets on an alert that the API shows what silences and inhibits it.
func (p *Pager) mark(ctx context.Context, labels labelset.LabelSet) {
	p.mu.RLock()
	inhibitor := p.inhibitor
	p.mu.RUnlock()
	if inhibitor != nil {
		inhibitor.Mutes(ctx, labels)
	}
	p.silencer.Mutes(ctx, labels)
}
