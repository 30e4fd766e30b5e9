package plugin

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"

	"github.com/grafana/grafana-plugin-sdk-go/backend"
	"github.com/grafana/grafana-plugin-sdk-go/backend/resource/httpadapter"

	"github.com/leasewatch/leasewatch/internal/api"
)

// CallResource serves what the editors complete with: the leases that the token may see.
func (d *Datasource) CallResource(ctx context.Context, req *backend.CallResourceRequest, sender backend.CallResourceResponseSender) error {
	return httpadapter.New(d.resources).CallResource(ctx, req, sender)
}

func (d *Datasource) routes() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /leases", func(w http.ResponseWriter, r *http.Request) {
		client, err := d.admit(backend.PluginConfigFromContext(r.Context()))
		if err != nil {
			respond(w, http.StatusForbidden, map[string]string{"message": err.Error()})
			return
		}
		leases, err := client.Leases(r.Context(), api.LeaseQuery{})
		if err != nil {
			respond(w, statusOf(err), map[string]string{"message": d.remedy(err)})
			return
		}
		type choice struct {
			Lease  string `json:"lease"`
			Tenant string `json:"tenant"`
			SKU    string `json:"sku"`
		}
		choices := make([]choice, 0, len(leases))
		for _, l := range leases {
			choices = append(choices, choice{Lease: l.ID, Tenant: l.Tenant, SKU: l.SKU})
		}
		respond(w, http.StatusOK, choices)
	})
	return mux
}

// statusOf is the server's status, but never 401: Grafana's pages take that for the end of
// the visitor's own session.
func statusOf(err error) int {
	var wire *api.Error
	switch {
	case errors.Is(err, api.ErrUnauthenticated):
		return http.StatusForbidden
	case errors.As(err, &wire) && wire.Status >= 400:
		return wire.Status
	}
	return http.StatusBadGateway
}

func respond(w http.ResponseWriter, status int, body any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(body) // the other side is gone: nobody is left to tell
}
