// Package portal serves the web pages of Leasewatch: fleet, leases, incidents and runbooks,
// rendered on the server, in English and Chinese, without a script. It asks the HTTP API in
// process and in the name of whoever is signed in, so it shows nobody more than the API does.
package portal

import (
	"context"
	"log/slog"
	"net/http"
	"time"

	"github.com/leasewatch/leasewatch/internal/api"
	"github.com/leasewatch/leasewatch/internal/rental"
)

// Identity tells who is signed in and how the server is.
type Identity interface {
	Whoami(ctx context.Context) (rental.Principal, error)
	Status(ctx context.Context) (api.Status, error)
}

// Leases reads the fleet and its leases.
type Leases interface {
	Fleet(ctx context.Context) (api.Fleet, error)
	InventoryConflicts(ctx context.Context) ([]rental.InventoryConflict, error)
	Leases(ctx context.Context, q api.LeaseQuery) ([]api.LeaseSummary, error)
	Lease(ctx context.Context, id string) (api.LeaseDetail, error)
	// Maintenances returns windows; a tenant's person who asks was told of them by that.
	Maintenances(ctx context.Context, q api.MaintenanceQuery) ([]api.MaintenanceFact, error)
}

// Money reads what a lease cost and how it was used.
type Money interface {
	Bill(ctx context.Context, id string, p api.Period) (rental.Bill, error)
	Usage(ctx context.Context, id string, p api.Period, step string) (api.Usage, error)
}

// Availability reads how a lease's GPUs were.
type Availability interface {
	SLA(ctx context.Context, id, month string) (api.SLA, error)
	States(ctx context.Context, id string, p api.Period) (api.StateHistory, error)
	Scorecard(ctx context.Context, q api.SLAQuery) (rental.Scorecard, error)
}

// Incidents reads incidents and acknowledges them.
type Incidents interface {
	Incidents(ctx context.Context, q api.IncidentQuery) (api.IncidentList, error)
	Incident(ctx context.Context, id string) (api.IncidentDetail, error)
	AckIncident(ctx context.Context, id string, in api.AckIncident) (rental.Incident, error)
}

// OnCall tells who is on call, and does what people do with an incident beside acknowledging it.
type OnCall interface {
	// OnCall returns api.ErrNotFound where no schedule is configured.
	OnCall(ctx context.Context, q api.OnCallQuery) (api.OnCall, error)
	SilenceIncident(ctx context.Context, id string, in api.SilenceIncident) (rental.Incident, error)
	EscalateIncident(ctx context.Context, id string) (rental.Incident, error)
	NoteIncident(ctx context.Context, id string, in api.NoteIncident) (rental.Incident, error)
}

// API is all that the pages ask; *api.Client is one.
type API interface {
	Identity
	Leases
	Money
	Availability
	Incidents
	OnCall
}

var _ API = (*api.Client)(nil)

// Links reads and uses links to acknowledge. A link that is not taken is an error that matches
// rental.ErrUsed, rental.ErrOver or one of those below.
type Links interface {
	// Look returns the incident of a link, and in whose name it acknowledges. It changes nothing.
	Look(ctx context.Context, link string) (inc rental.Incident, by string, err error)
	// Use acknowledges, once.
	Use(ctx context.Context, link string) (inc rental.Incident, by string, err error)
}

// Runbooks holds the pages that say what to do.
type Runbooks interface {
	// Runbook returns a page in Markdown, in the language ("en", "zh") where there is one in
	// it; false where there is none of the name.
	Runbook(name, lang string) ([]byte, bool)
}

// Options is what the portal needs; every field is mandatory.
type Options struct {
	// API answers in the name of whoever sent the request whose context it is given: an
	// in-process client behind httpapi's Gate.Know, which must be around the portal.
	API API
	// As returns who holds a token that somebody signs in with.
	As func(token api.Secret) Identity
	// Links are those by which somebody who is not signed in acknowledges.
	Links    Links
	Runbooks Runbooks
	Log      *slog.Logger
	Now      func() time.Time
}

// portal is the handler's state: nothing that changes.
type portal struct {
	opts  Options
	pages pages
}

// New returns the handler of the pages: /, /fleet, /leases, /incidents, /runbooks, /login,
// /logout and their style sheet. It fails only where a template is broken.
func New(opts Options) (http.Handler, error) {
	pages, err := parsePages()
	if err != nil {
		return nil, err
	}
	p := &portal{opts: opts, pages: pages}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /{$}", p.page(func(_ *http.Request, pg *page) error { return redirect{pg.home()} }))
	mux.HandleFunc("GET "+stylePath, p.style)
	mux.HandleFunc("GET /login", p.loginPage)
	mux.HandleFunc("POST /login", p.login)
	mux.HandleFunc("POST /logout", p.logout)
	mux.HandleFunc("GET "+AckPath+"{link}", p.ackLink)
	mux.HandleFunc("POST "+AckPath+"{link}", p.useAckLink)
	mux.HandleFunc("GET /fleet", p.page(p.fleet))
	mux.HandleFunc("GET /leases", p.page(p.leases))
	mux.HandleFunc("GET /leases/{id}", p.page(p.lease))
	mux.HandleFunc("GET /providers/{name}/scorecard", p.page(p.scorecard))
	mux.HandleFunc("GET /incidents", p.page(p.incidents))
	mux.HandleFunc("GET /incidents/{id}", p.page(p.incident))
	mux.HandleFunc("POST /incidents/{id}/ack", p.page(p.ack))
	mux.HandleFunc("POST /incidents/{id}/silence", p.page(p.silence))
	mux.HandleFunc("POST /incidents/{id}/escalate", p.page(p.escalate))
	mux.HandleFunc("POST /incidents/{id}/note", p.page(p.note))
	mux.HandleFunc("GET /runbooks/{name}", p.page(p.runbook))
	mux.HandleFunc("/", p.page(func(*http.Request, *page) error { return api.ErrNotFound }))

	csrf := http.NewCrossOriginProtection()
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		secure(w.Header())
		if err := csrf.Check(r); err != nil {
			http.Error(w, "the request was sent by another site's page", http.StatusForbidden)
			return
		}
		r.Body = http.MaxBytesReader(w, r.Body, maxForm)
		mux.ServeHTTP(w, r)
	}), nil
}

// maxForm bounds what a form may send.
const maxForm = 16 << 10

// secure sets the headers that keep a browser from doing more than showing the page.
func secure(h http.Header) {
	h.Set("Cache-Control", "no-store")
	h.Set("Content-Security-Policy", "default-src 'none'; style-src 'self'; img-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'")
	h.Set("Cross-Origin-Opener-Policy", "same-origin")
	h.Set("Cross-Origin-Resource-Policy", "same-origin")
	h.Set("Referrer-Policy", "same-origin")
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Vary", "Cookie, Accept-Language")
}
