package httpapi

import (
	"context"
	"reflect"

	"github.com/danielgtaylor/huma/v2"

	"github.com/leasewatch/leasewatch/internal/api"
	"github.com/leasewatch/leasewatch/internal/rental"
)

// IncidentPath is the path of one incident.
type IncidentPath struct {
	ID string `doc:"The incident's id, such as INC-42." maxLength:"200" path:"id"`
}

func (r *routes) addIncidents() error {
	type query struct {
		SpanQuery

		Status string `enum:"open,acked,resolved,unknown" query:"status"`
		Limit  int    `default:"100"                      maximum:"999"  minimum:"1" query:"limit"`
	}
	if err := operation(r, "list-incidents", "List incidents, the newest first",
		func(ctx context.Context, v view, in *query) (*body[api.IncidentList], error) {
			span, err := in.span(rental.At(v.deps.Now()))
			if err != nil {
				return nil, err
			}
			return answer(v.incidents(ctx, api.IncidentQuery{
				Span: span, Status: rental.IncidentStatus(in.Status), Limit: in.Limit,
			}))
		}); err != nil {
		return err
	}
	if err := operation(r, "get-incident", "Show one incident with its timeline",
		func(ctx context.Context, v view, in *IncidentPath) (*body[api.IncidentDetail], error) {
			d, err := v.incident(ctx, in.ID)
			d.Deliveries = orEmpty(d.Deliveries)
			return answer(d, err)
		}); err != nil {
		return err
	}
	type ack struct {
		IncidentPath

		Body api.AckIncident
	}
	return operation(r, "ack-incident", "Acknowledge an incident",
		func(ctx context.Context, v view, in *ack) (*body[rental.Incident], error) {
			if _, err := v.incident(ctx, in.ID); err != nil {
				return nil, err
			}
			return answer(v.deps.Incidents.AckIncident(ctx, v.who, in.ID, in.Body.Note))
		})
}

func (r *routes) addInventory() error {
	type apply struct {
		DryRun  bool   `doc:"Say what would change, and change nothing." query:"dry_run"`
		RawBody []byte `contentType:"application/yaml"                   required:"true"`
	}
	if err := operation(r, "apply", "Record resources as a whole, or refuse them as a whole",
		func(ctx context.Context, v view, in *apply) (*body[api.Changes], error) {
			changes, err := v.deps.Ledger.Apply(ctx, v.who, in.RawBody, in.DryRun)
			changes.Changes = orEmpty(changes.Changes)
			return answer(changes, err)
		},
		func(op *huma.Operation) { op.MaxBodyBytes = maxYAML }); err != nil {
		return err
	}
	if err := operation(r, "list-proposals", "Compare the inventory with what exporters report",
		func(ctx context.Context, v view, _ *struct{}) (*body[api.Proposals], error) {
			p, err := v.deps.Adopter.Proposals(ctx)
			p.Hosts = orEmpty(p.Hosts)
			return answer(p, err)
		}); err != nil {
		return err
	}
	if err := operation(r, "list-inventory-conflicts", "List where records and reports contradict each other",
		func(ctx context.Context, v view, _ *struct{}) (*body[api.List[rental.InventoryConflict]], error) {
			return items(v.deps.Adopter.Conflicts(ctx))
		}); err != nil {
		return err
	}
	if err := operation(r, "tell-assignments", "Say which GPUs a scheduler gave to which lease, and when",
		func(ctx context.Context, v view, in *body[api.TellAssignments]) (*body[api.ToldAssignments], error) {
			told, err := v.deps.Assigner.TellAssignments(ctx, v.who, in.Body)
			told.Held, told.Over = orEmpty(told.Held), orEmpty(told.Over)
			return answer(told, err)
		},
		func(op *huma.Operation) { op.MaxBodyBytes = maxSessions }); err != nil {
		return err
	}
	if err := operation(r, "adopt", "Take proposals into the inventory",
		func(ctx context.Context, v view, in *body[api.Adopt]) (*body[api.Changes], error) {
			changes, err := v.deps.Adopter.Adopt(ctx, v.who, in.Body)
			changes.Changes = orEmpty(changes.Changes)
			return answer(changes, err)
		}); err != nil {
		return err
	}
	for _, add := range []func() error{
		func() error {
			return resourceList(r, "list-providers", "List providers", func(s rental.Resources) []rental.Provider { return s.Providers })
		},
		func() error {
			return resourceList(r, "list-tenants", "List tenants", func(s rental.Resources) []rental.Tenant { return s.Tenants })
		},
		func() error {
			return resourceList(r, "list-sites", "List sites", func(s rental.Resources) []rental.Site { return s.Sites })
		},
		func() error {
			return resourceList(r, "list-hosts", "List hosts", func(s rental.Resources) []rental.Host { return s.Hosts })
		},
		func() error {
			return resourceList(r, "list-gpus", "List GPUs", func(s rental.Resources) []rental.GPU { return s.GPUs })
		},
		func() error {
			return resourceList(r, "list-mig-instances", "List MIG instances", func(s rental.Resources) []rental.MIGInstance { return s.MIGInstances })
		},
		func() error {
			return resourceList(r, "list-skus", "List hardware classes", func(s rental.Resources) []rental.SKU { return s.SKUs })
		},
		func() error {
			return resourceList(r, "list-contracts", "List contracts", func(s rental.Resources) []rental.Contract { return s.Contracts })
		},
	} {
		if err := add(); err != nil {
			return err
		}
	}
	return nil
}

// resourceList adds an operation that lists the resources of one kind.
func resourceList[T any](r *routes, id, summary string, pick func(rental.Resources) []T) error {
	return operation(r, id, summary, func(ctx context.Context, v view, _ *struct{}) (*body[api.List[T]], error) {
		all, err := v.deps.Ledger.Resources(ctx)
		return items(pick(all), err)
	})
}

func typeOf[T any]() reflect.Type { return reflect.TypeFor[T]() }
