package plugin

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/grafana/grafana-plugin-sdk-go/backend"
	"github.com/grafana/grafana-plugin-sdk-go/data"

	"github.com/leasewatch/leasewatch/internal/api"
	"github.com/leasewatch/leasewatch/internal/rental"
)

// The types of queries, as the query editor names them.
const (
	QueryUsage    = "usage"    // one lease: cost beside use, over time
	QueryLeases   = "leases"   // one row a lease: cost against use
	QueryCards    = "cards"    // one lease, one row a GPU or MIG instance: cost against use
	QuerySLA      = "sla"      // one lease: the verdict of a month
	QueryDowntime = "downtime" // one lease: its downtime
)

// Query is what the query editor sends.
type Query struct {
	Type  string `json:"type"`
	Lease string `json:"lease"`
	// Step is hour, day or "" for one that fits the span.
	Step string `json:"step"`
	// Metric chooses one column, as alerting needs it; "" is all.
	Metric string `json:"metric"`
	// Month is YYYY-MM for QuerySLA; "" is the present one.
	Month string `json:"month"`
}

// parseQuery reads and checks a query; its error says what was found and what was expected.
func parseQuery(raw json.RawMessage) (Query, error) {
	var q Query
	if err := json.Unmarshal(raw, &q); err != nil {
		return q, fmt.Errorf("the query is not readable: %w", err)
	}
	if q.Type == "" {
		q.Type = QueryLeases
	}
	q.Lease = strings.TrimSpace(q.Lease)
	switch q.Type {
	case QueryLeases:
	case QueryUsage, QueryCards, QuerySLA, QueryDowntime:
		if q.Lease == "" {
			return q, fmt.Errorf("query type %q: choose a lease", q.Type)
		}
	default:
		return q, fmt.Errorf("query type %q: expected %s, %s, %s, %s or %s", q.Type, QueryUsage, QueryLeases, QueryCards, QuerySLA, QueryDowntime)
	}
	if q.Step != "" && q.Step != api.StepHour && q.Step != api.StepDay {
		return q, fmt.Errorf("step %q: expected hour, day or nothing", q.Step)
	}
	return q, nil
}

// QueryData answers every query of a request by itself: one that fails does not take the rest down.
func (d *Datasource) QueryData(ctx context.Context, req *backend.QueryDataRequest) (*backend.QueryDataResponse, error) {
	response := backend.NewQueryDataResponse()
	client, err := d.admit(req.PluginContext)
	for _, q := range req.Queries {
		if err != nil {
			response.Responses[q.RefID] = failure(err)
			continue
		}
		response.Responses[q.RefID] = answer(ctx, client, q)
	}
	return response, nil
}

func answer(ctx context.Context, client *api.Client, raw backend.DataQuery) backend.DataResponse {
	q, err := parseQuery(raw.JSON)
	if err != nil {
		return backend.ErrDataResponse(backend.StatusValidationFailed, err.Error())
	}
	span := rental.Span{Start: rental.At(raw.TimeRange.From), End: rental.At(raw.TimeRange.To)}
	var frame *data.Frame
	switch q.Type {
	case QueryUsage:
		frame, err = usageFrame(ctx, client, q, span)
	case QueryCards:
		frame, err = cardsFrame(ctx, client, q, span)
	case QuerySLA:
		frame, err = slaFrame(ctx, client, q)
	case QueryDowntime:
		frame, err = downtimeFrame(ctx, client, q, span)
	default:
		frame, err = leasesFrame(ctx, client, q, span)
	}
	if err != nil {
		return failure(err)
	}
	frame.RefID = raw.RefID
	return backend.DataResponse{Frames: data.Frames{frame}}
}

// failure tells the server's refusals (downstream) from ours.
func failure(err error) backend.DataResponse {
	var denied errDenied
	if errors.As(err, &denied) {
		return backend.ErrDataResponse(backend.StatusForbidden, err.Error())
	}
	var wire *api.Error
	if errors.As(err, &wire) {
		response := backend.ErrDataResponse(backend.Status(wire.Status), wire.Error())
		response.ErrorSource = backend.ErrorSourceDownstream
		return response
	}
	response := backend.ErrDataResponse(backend.StatusBadGateway, err.Error())
	response.ErrorSource = backend.ErrorSourceDownstream
	return response
}
