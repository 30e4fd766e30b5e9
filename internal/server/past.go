package server

import (
	"time"

	"github.com/leasewatch/leasewatch/internal/billing"
	"github.com/leasewatch/leasewatch/internal/httpapi"
	"github.com/leasewatch/leasewatch/internal/ledger"
	"github.com/leasewatch/leasewatch/internal/rental"
	"github.com/leasewatch/leasewatch/internal/sla"
)

// judges makes what judges and charges over a ledger, at the time that now tells.
func (a *App) judges(l *ledger.Ledger, now func() time.Time) (*sla.Service, *billing.Service) {
	judge := sla.New(l, lateSamples{a}, sla.Options{Now: now, Log: a.log.With("room", "sla"), SampleInterval: a.interval,
		WitnessInterval: time.Duration(a.config.Load().Witnesses.Interval)})
	return judge, billing.New(l, billing.Options{Credits: judge, Now: now})
}

// past answers as things were known at a moment: the same rooms over the ledger of that moment,
// with a clock that stands there.
type past struct{ a *App }

// AsOf returns the readers of a moment.
func (p past) AsOf(at rental.Millis) httpapi.Known {
	l := p.a.ledger.AsOf(at)
	judge, bills := p.a.judges(l, at.Time)
	rented := leases{ledger: l, billing: bills, sla: judge, now: at.Time}
	return httpapi.Known{
		Leases: rented, Bills: rented, Books: books{ledger: l, billing: bills, now: at.Time},
		SLA: availability{ledger: l, sla: judge, now: at.Time},
	}
}
