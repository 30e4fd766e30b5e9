package server

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"

	"github.com/prometheus/client_golang/prometheus/promhttp"
	"github.com/prometheus/exporter-toolkit/web"

	alertmanagerrules "github.com/leasewatch/leasewatch/alertmanager-rules"
	"github.com/leasewatch/leasewatch/internal/api"
	"github.com/leasewatch/leasewatch/internal/httpapi"
	"github.com/leasewatch/leasewatch/internal/portal"
	"github.com/leasewatch/leasewatch/internal/rental"
)

// Who may use what is not the API itself; a tenant may use none of it. PromQL and /metrics hold
// serials and names of tenants: neither is for finance, nor for a push token, which lies on a
// machine that somebody rents.
var (
	watchers = []rental.Role{rental.RoleAdmin, rental.RoleOperator, rental.RoleOnCall}
	pushers  = []rental.Role{rental.RoleAdmin, rental.RoleOperator, rental.RolePush}
	admins   = []rental.Role{rental.RoleAdmin}
)

// slackPath is where Slack posts pressed buttons to, where a signing secret is configured.
const slackPath = api.Root + "/slack/interactions"

// openWeb makes the one handler of everything that is served.
func (a *App) openWeb(context.Context) error {
	gate := a.gate()
	apiHandler, err := httpapi.New(a.deps(gate))
	if err != nil {
		return err
	}
	inProcess := api.NewInProcess(apiHandler, api.Secret{})
	pages, err := portal.New(portal.Options{
		API: inProcess, As: func(token api.Secret) portal.Identity { return inProcess.As(token) },
		Links: ackLinks{a}, Runbooks: runbooks{}, Log: a.log.With("room", "portal"), Now: a.now,
	})
	if err != nil {
		return err
	}
	limits, err := newPushLimits(a.ledger, a.now, a.registry)
	if err != nil {
		return err
	}
	mux := http.NewServeMux()
	mux.Handle(api.Root+"/", apiHandler)
	mux.Handle("POST "+api.Root+"/webhook/alertmanager", gate.Guard(pushers...)(unbound(a.pager.Webhook)))
	if a.slack != nil && a.secrets[2] != "" {
		mux.Handle("POST "+slackPath, a.slack.Interactions(a.lifetime, a.engine)) // Slack's signature is its own gate
	}
	mux.Handle("POST "+api.WritePath, gate.Guard(pushers...)(http.StripPrefix("/prometheus", a.monitor.LimitedWriteHandler(limits.of))))
	mux.Handle("/prometheus/", gate.Guard(watchers...)(http.StripPrefix("/prometheus", a.monitor.Handler())))
	mux.Handle("/alertmanager/", gate.Guard(watchers...)(http.StripPrefix("/alertmanager", a.pager.Handler())))
	mux.Handle("GET /metrics", gate.Guard(watchers...)(promhttp.HandlerFor(a.registry,
		promhttp.HandlerOpts{EnableOpenMetrics: true, Registry: a.registry})))
	mux.HandleFunc("GET /-/healthy", func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "healthy\n") })
	mux.HandleFunc("GET /-/ready", a.readiness)
	mux.Handle("POST /-/reload", gate.Guard(admins...)(http.HandlerFunc(a.reloadHandler)))
	mux.Handle("/", gate.Know(pages))
	a.handler = mux
	a.http = &http.Server{Handler: mux, ReadHeaderTimeout: 10 * time.Second, IdleTimeout: 2 * time.Minute}
	return nil
}

// unbound refuses a push token that is bound to a host: what alerts say is not bound to one.
func unbound(next http.HandlerFunc) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if who, _ := httpapi.PrincipalOf(r.Context()); who.Host != "" {
			http.Error(w, fmt.Sprintf("the token writes samples of host %s only: alerts take a push token without a host", who.Host), http.StatusForbidden)
			return
		}
		next(w, r)
	})
}

// gate decides who asks: whoever reaches loopback where access is not configured, else the
// holder of a token.
func (a *App) gate() *httpapi.Gate {
	anonymous := &httpapi.Local
	if a.config.Load().Access.Required {
		anonymous = nil
	}
	return httpapi.NewGate(a.ledger, anonymous, a.log.With("room", "httpapi"))
}

// deps joins the API to the rooms behind it.
func (a *App) deps(gate *httpapi.Gate) httpapi.Deps {
	present := &fleet{samples: lateSamples{a}, ledger: a.ledger, now: a.now}
	rented := leases{ledger: a.ledger, billing: a.billing, sla: a.sla, now: a.now}
	keeper := keeping{ledger: a.ledger, changed: a.series.Forget}
	accounts := books{ledger: a.ledger, billing: a.billing, now: a.now}
	return httpapi.Deps{
		Gate: gate, Status: status{a}, Leases: rented, Past: past{a}, Ender: keeper, Bills: rented, Renderer: renderer{a.ledger},
		Books:        accounts,
		Approvals:    approvals{ledger: a.ledger, books: accounts, changed: a.series.Forget},
		Usage:        usage{ledger: a.ledger, billing: a.billing, now: a.now},
		SLA:          availability{ledger: a.ledger, sla: a.sla, now: a.now},
		Downtimes:    downtimes{ledger: a.ledger, now: a.now, changed: a.series.Forget},
		Credits:      credits{ledger: a.ledger, sla: a.sla, now: a.now, changed: a.series.Forget},
		Maintenances: maintenances{ledger: a.ledger, now: a.now, changed: a.series.Forget},
		Fleet:        present, Incidents: incidents{ledger: a.ledger, engine: a.engine},
		Clocks: incidents{ledger: a.ledger, engine: a.engine}, Protection: protection{ledger: a.ledger, changed: a.series.Forget},
		IncidentActs: incidents{ledger: a.ledger, engine: a.engine}, OnCall: onCall{a},
		Proofs: reports{proofs: proofs{ledger: a.ledger, signer: a.signer}, sla: a.sla, billing: a.billing, now: a.now, version: a.opts.Version},
		Ledger: keeper, Adopter: adoption{samples: lateSamples{a}, keeping: keeper, now: a.now},
		Assigner: keeper, Cards: keeper,
		RMAs:   rmas{ledger: a.ledger, samples: lateSamples{a}, now: a.now, version: a.opts.Version, changed: a.series.Forget},
		Use:    useReports{usage{ledger: a.ledger, billing: a.billing, now: a.now}, a.metering},
		People: people{a.ledger}, Holds: holds{a.ledger},
		Tokens: tokens{a.ledger, a.log.With("room", "enrolment")}, Log: a.log.With("room", "httpapi"), Now: a.now, Version: a.opts.Version,
	}
}

// runbooks are the pages of the rules room.
type runbooks struct{}

// Runbook returns a page; each holds both languages.
func (runbooks) Runbook(name, _ string) ([]byte, bool) {
	page, err := alertmanagerrules.Runbook(name)
	return page, err == nil
}

func (a *App) readiness(w http.ResponseWriter, r *http.Request) {
	health := a.store.Health() // once: it may heal between two looks
	switch err := a.ledger.Check(r.Context()); {
	case err != nil:
		a.log.Error("the ledger does not answer", "error", err)
		http.Error(w, "the ledger does not answer; the log says why", http.StatusServiceUnavailable)
	case health.Failing:
		http.Error(w, "samples cannot be stored: "+health.Err.Error(), http.StatusServiceUnavailable)
	case !a.Ready():
		http.Error(w, "starting: the first evaluation of the rules is under way", http.StatusServiceUnavailable)
	default:
		_, _ = io.WriteString(w, "ready\n")
	}
}

func (a *App) reloadHandler(w http.ResponseWriter, r *http.Request) {
	if err := a.Reload(r.Context()); err != nil {
		http.Error(w, err.Error(), http.StatusUnprocessableEntity)
		return
	}
	_, _ = io.WriteString(w, "reloaded\n")
}

// serve answers HTTP until Stop.
func (a *App) serve() {
	file := a.opts.WebConfigFile
	flags := &web.FlagConfig{WebConfigFile: &file}
	a.running.Go(func() {
		if err := web.Serve(a.listener, a.http, flags, a.log.With("room", "web")); err != nil && !errors.Is(err, http.ErrServerClosed) {
			a.fail(fmt.Errorf("serving %s: %w", a.Addr(), err))
		}
	})
}
