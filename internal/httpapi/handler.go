package httpapi

import (
	"context"
	"fmt"
	"net/http"
	"runtime/debug"
	"slices"
	"strings"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"

	"github.com/leasewatch/leasewatch/internal/api"
	"github.com/leasewatch/leasewatch/internal/rental"
)

// routes is the API while it is put together.
type routes struct {
	deps Deps
	huma huma.API
	seen []string // operations that were registered
}

// New returns the handler of everything under api.Root. It fails only where the table of
// access and the operations do not match, which is a fault of this package.
func New(deps Deps) (http.Handler, error) {
	mux := http.NewServeMux()
	config := huma.DefaultConfig("Leasewatch", deps.Version)
	config.Info.Description = description
	config.OpenAPIPath = "/openapi"
	config.DocsPath, config.SchemasPath = "", "" // huma's pages load from elsewhere
	config.CreateHooks = nil                     // no $schema links into answers
	config.Servers = []*huma.Server{{URL: api.Root}}
	config.RejectUnknownQueryParameters = true // a mistyped filter must not widen an answer
	config.Components.SecuritySchemes = map[string]*huma.SecurityScheme{
		"token":   {Type: "http", Scheme: "bearer", Description: "A token made by `leasewatch token create`."},
		"session": {Type: "apiKey", In: "cookie", Name: api.SessionCookie, Description: "The portal's cookie."},
	}
	config.Security = []map[string][]string{{"token": {}}, {"session": {}}}

	r := &routes{deps: deps, huma: humago.NewWithPrefix(mux, api.Root, config)}
	for _, add := range []func() error{r.addServer, r.addLeases, r.addBill, r.addBooks, r.addUse, r.addSLA, r.addDowntimes, r.addCredits, r.addMaintenances, r.addIncidents, r.addIncidentClocks, r.addProtection, r.addIncidentActs, r.addOnCall, r.addInventory, r.addCards, r.addRMAs, r.addPending, r.addTokens, r.addPeople, r.addHolds} {
		if err := add(); err != nil {
			return nil, err
		}
	}
	for _, a := range accessTable {
		if !slices.Contains(r.seen, a.ID) {
			return nil, fmt.Errorf("access table names operation %q, which does not exist", a.ID)
		}
	}
	describeNulls(r.huma.OpenAPI().Components.Schemas)
	mux.HandleFunc(api.Root+"/", func(w http.ResponseWriter, req *http.Request) {
		writeProblem(w, api.Errorf(http.StatusNotFound, "%s %s: no such operation; %s/openapi.json lists them", req.Method, req.URL.Path, api.Root))
	})

	// The description of the API is the same everywhere and holds no data: it is open.
	guarded := deps.Gate.identify(mux)
	return harden(deps, http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		switch req.URL.Path {
		case api.Root + "/openapi.json", api.Root + "/openapi.yaml":
			mux.ServeHTTP(w, req)
		default:
			guarded.ServeHTTP(w, req)
		}
	})), nil
}

const description = `Leases of GPUs: what they cost, how they were used, how available they were.

Times are RFC 3339, spans are half-open, money is in minor units with a decimal copy for show, a figure that nobody measured is null. Errors are application/problem+json (RFC 9457).`

// operation adds one operation: what it is called, who may call it, what it does.
func operation[I, O any](r *routes, id, summary string, do func(ctx context.Context, v view, in *I) (*O, error), with ...func(*huma.Operation)) error {
	access, ok := accessOf(id)
	if !ok {
		return fmt.Errorf("operation %q is not in the table of access", id)
	}
	r.seen = append(r.seen, id)
	op := huma.Operation{
		OperationID: id, Method: access.Method, Path: access.Path, Summary: summary,
		Description:  fmt.Sprintf("May be called by: %s.", roleNames(access.Roles)),
		MaxBodyBytes: maxBody,
		Errors:       []int{http.StatusUnauthorized, http.StatusForbidden, http.StatusNotFound, http.StatusUnprocessableEntity, http.StatusInternalServerError},
		Middlewares: huma.Middlewares{func(ctx huma.Context, next func(huma.Context)) {
			who, known := principalFrom(ctx.Context())
			if !known || !slices.Contains(access.Roles, who.Role) {
				_, w := humago.Unwrap(ctx)
				writeProblem(w, forbidden(who.Role, access.Roles))
				return
			}
			next(ctx)
		}},
	}
	for _, change := range with {
		change(&op)
	}
	huma.Register(r.huma, op, func(ctx context.Context, in *I) (*O, error) {
		who, _ := principalFrom(ctx)
		v, err := view{deps: r.deps, who: who}.asOf(in)
		if err != nil {
			return nil, problem(apiError(ctx, r.deps.Log, err))
		}
		out, err := do(ctx, v, in)
		if err == nil {
			out, err = named(ctx, v, out)
		}
		if err != nil {
			return nil, problem(apiError(ctx, r.deps.Log, err))
		}
		return out, nil
	})
	return nil
}

func roleNames(roles []rental.Role) string {
	names := make([]string, len(roles))
	for i, role := range roles {
		names[i] = string(role)
	}
	return strings.Join(names, ", ")
}

// harden bounds the time of an answer, sets the headers that keep browsers from doing more
// than they are asked, and turns a panic of one request into its 500.
func harden(deps Deps, next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		ctx, cancel := context.WithTimeout(r.Context(), answerWithin)
		defer cancel()
		defer func() {
			if p := recover(); p != nil {
				deps.Log.ErrorContext(ctx, "a request panicked", "path", r.URL.Path, "panic", p, "stack", string(debug.Stack()))
				writeProblem(w, api.Errorf(http.StatusInternalServerError, "the server failed to answer; its log says why"))
			}
		}()
		secure(w.Header())
		next.ServeHTTP(w, r.WithContext(ctx))
	})
}

func secure(h http.Header) {
	h.Set("Cache-Control", "no-store")
	h.Set("Content-Security-Policy", "default-src 'none'; frame-ancestors 'none'")
	h.Set("Cross-Origin-Resource-Policy", "same-origin")
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("X-Content-Type-Options", "nosniff")
}

// body is an answer with a JSON body.
type body[T any] struct{ Body T }

func answer[T any](value T, err error) (*body[T], error) {
	if err != nil {
		return nil, err
	}
	return &body[T]{Body: value}, nil
}

// items makes an answer of a list; an empty one is [], not null.
func items[T any](values []T, err error) (*body[api.List[T]], error) {
	if values == nil {
		values = []T{}
	}
	return answer(api.List[T]{Items: values}, err)
}
