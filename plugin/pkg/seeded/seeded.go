// Package seeded is a Leasewatch API for the tests of the plugin: the real handlers with
// their real isolation, over a few leases of two tenants in memory.
package seeded

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"time"

	"github.com/leasewatch/leasewatch/internal/httpapi"
	"github.com/leasewatch/leasewatch/internal/rental"
)

// The tokens that the server knows, by whom they let in.
const (
	TokenAcme    = "lw_acme-4f1c-do-not-print"
	TokenGlobex  = "lw_globex-77aa-do-not-print"
	TokenFinance = "lw_finance-90b2-do-not-print"
	TokenOnCall  = "lw_oncall-1d3e-do-not-print"
	TokenPush    = "lw_push-5c6f-do-not-print"
	TokenWrong   = "lw_wrong-2e8d-do-not-print"
)

// The leases. Names of tenant globex hold its name, so that a leak is found by looking for it.
const (
	LeaseTrain  = "acme-train"   // well used, its SLA breached
	LeaseIdle   = "acme-idle"    // dear and little used, without an objective
	LeaseDark   = "acme-dark"    // its use is not measured
	LeaseInfer  = "globex-infer" // another tenant's, in another currency
	TenantAcme  = "acme"
	TenantOther = "globex"
)

// Handler serves the API as a server at the moment now would.
func Handler(now func() time.Time, log *slog.Logger) (http.Handler, error) {
	b := books{now: now}
	h, err := httpapi.New(httpapi.Deps{
		Gate:   httpapi.NewGate(doorkeeper{}, nil, log),
		Leases: b, Usage: b, SLA: b,
		Status: b, Ender: b, Bills: b, Renderer: b, Fleet: b, Incidents: b, Ledger: b, Adopter: b, Tokens: b, People: nobody{},
		Log: log, Now: now, Version: "test",
	})
	if err != nil {
		return nil, fmt.Errorf("seeded API: %w", err)
	}
	return h, nil
}

// nobody is behind an id: what is recorded here was recorded by programs.
type nobody struct{ keeper }

type keeper = httpapi.People

// Names knows none.
func (nobody) Names(context.Context, string) (rental.Names, error) { return rental.Names{}, nil }

type doorkeeper struct{}

func (doorkeeper) Authenticate(_ context.Context, secret string) (rental.Principal, error) {
	switch secret {
	case TokenAcme:
		return rental.Principal{Name: "acme-grafana", Role: rental.RoleTenant, Tenant: TenantAcme}, nil
	case TokenGlobex:
		return rental.Principal{Name: "globex-grafana", Role: rental.RoleTenant, Tenant: TenantOther}, nil
	case TokenFinance:
		return rental.Principal{Name: "ledger-office", Role: rental.RoleFinance}, nil
	case TokenOnCall:
		return rental.Principal{Name: "ann", Role: rental.RoleOnCall}, nil
	case TokenPush:
		return rental.Principal{Name: "host-7", Role: rental.RolePush}, nil
	}
	return rental.Principal{}, &rental.Error{Code: rental.CodeNotFound, Message: "no such token"}
}
