package httpapi

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"slices"
	"strings"

	"github.com/leasewatch/leasewatch/internal/api"
	"github.com/leasewatch/leasewatch/internal/rental"
)

// Gate decides who asks, and turns away who may not. It guards the API and whatever else
// the server mounts.
type Gate struct {
	auth      Authenticator
	anonymous *rental.Principal
	csrf      *http.CrossOriginProtection
	log       *slog.Logger
}

// Local is whom a request without a token is taken for where no access is configured and
// the server listens on loopback only.
var Local = rental.Principal{Name: "local", Role: rental.RoleAdmin}

// NewGate returns a gate. A request without a token is taken for anonymous, or refused
// where that is nil; it is never taken for anonymous unless it comes straight from this
// machine: from a loopback address, for a loopback host name, through no proxy.
func NewGate(auth Authenticator, anonymous *rental.Principal, log *slog.Logger) *Gate {
	return &Gate{auth: auth, anonymous: anonymous, csrf: http.NewCrossOriginProtection(), log: log}
}

// Principal returns who asks. The error is an *api.Error: 401 where nobody can be told, 503
// where tokens cannot be looked up.
func (g *Gate) Principal(r *http.Request) (rental.Principal, error) {
	secret, err := secretOf(r)
	if err != nil {
		return rental.Principal{}, err
	}
	if secret == "" {
		if known, ok := r.Context().Value(knownKey{}).(known); ok {
			return known.who, known.err
		}
		if g.anonymous != nil && direct(r) {
			return *g.anonymous, nil
		}
		return rental.Principal{}, api.Errorf(http.StatusUnauthorized,
			"no token was given: send it as \"Authorization: Bearer TOKEN\", or sign in at /login")
	}
	p, err := g.auth.Authenticate(r.Context(), secret)
	switch code := rental.CodeOf(err); {
	case err == nil && valid(p):
		return p, nil
	case err == nil:
		g.log.ErrorContext(r.Context(), "a token's role and tenant do not fit together; it is refused", "name", p.Name, "role", p.Role)
		return rental.Principal{}, api.Errorf(http.StatusUnauthorized, "the token's role and tenant do not fit together: ask for a new one")
	case code == rental.CodeNotFound, code == rental.CodeRefused, errors.Is(err, rental.ErrNotFound), errors.Is(err, api.ErrUnauthenticated):
		return rental.Principal{}, api.Errorf(http.StatusUnauthorized, "the token is not known or was revoked: ask an admin for a new one")
	default:
		g.log.ErrorContext(r.Context(), "tokens cannot be looked up", "error", err)
		return rental.Principal{}, api.Errorf(http.StatusServiceUnavailable, "tokens cannot be looked up now; the server's log says why")
	}
}

// valid tells whether a principal is one that the rules below can be applied to: a tenant
// without a name would own whatever has none.
func valid(p rental.Principal) bool {
	return p.Coherent()
}

// Guard lets a request pass to a handler only where one of the roles asks, and refuses
// requests that another site's page had a browser send. It is how the server guards
// /prometheus, /alertmanager, /metrics and the webhook: leave out rental.RoleTenant there.
func (g *Gate) Guard(roles ...rental.Role) func(http.Handler) http.Handler {
	return func(next http.Handler) http.Handler {
		return g.identify(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			p, _ := principalFrom(r.Context())
			if !slices.Contains(roles, p.Role) {
				writeProblem(w, forbidden(p.Role, roles))
				return
			}
			next.ServeHTTP(w, r)
		}))
	}
}

// Know tells who asks and lets everybody pass: for the portal, which has a page to sign in
// and asks the API in process. A call in process that gives no token of its own is then
// taken for whoever sent the outer request; without Know around the portal it would be taken
// for one from this machine.
func (g *Gate) Know(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		who, err := g.Principal(r)
		next.ServeHTTP(w, r.WithContext(context.WithValue(r.Context(), knownKey{}, known{who: who, err: err})))
	})
}

type knownKey struct{}

// known is who sent the outer request of a call in process, or why that cannot be told.
type known struct {
	who rental.Principal
	err error
}

// identify lets a request pass only where it is known who asks, and says so in its context.
func (g *Gate) identify(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if err := g.csrf.Check(r); err != nil {
			writeProblem(w, api.Errorf(http.StatusForbidden, "the request was sent by another site's page: %s", err))
			return
		}
		p, err := g.Principal(r)
		if err != nil {
			writeProblem(w, apiError(r.Context(), g.log, err))
			return
		}
		next.ServeHTTP(w, r.WithContext(context.WithValue(r.Context(), principalKey{}, p)))
	})
}

type principalKey struct{}

// PrincipalOf returns who sent a request that Guard let pass.
func PrincipalOf(ctx context.Context) (rental.Principal, bool) { return principalFrom(ctx) }

func principalFrom(ctx context.Context) (rental.Principal, bool) {
	p, ok := ctx.Value(principalKey{}).(rental.Principal)
	return p, ok
}

func forbidden(role rental.Role, allowed []rental.Role) *api.Error {
	return api.Errorf(http.StatusForbidden, "role %q may not do this; it takes one of: %s", role, roleNames(allowed))
}

// secretOf returns the token of a request: the bearer token, the password of basic
// authentication (for amtool and others that know no bearer tokens), else the portal's
// cookie. A header of another scheme is refused rather than passed over.
func secretOf(r *http.Request) (string, error) {
	if header := r.Header.Get("Authorization"); header != "" {
		if _, password, ok := r.BasicAuth(); ok && password != "" {
			return password, nil
		}
		scheme, secret, _ := strings.Cut(header, " ")
		secret = strings.TrimSpace(secret)
		if !strings.EqualFold(scheme, "Bearer") || secret == "" {
			return "", api.Errorf(http.StatusUnauthorized, "the Authorization header was not understood: expected \"Bearer TOKEN\", or the token as the password of basic authentication")
		}
		return secret, nil
	}
	if cookie, err := r.Cookie(api.SessionCookie); err == nil {
		return cookie.Value, nil
	}
	return "", nil
}

// direct tells whether a request comes straight from this machine. The host name is checked
// because a page of a foreign name that resolves to 127.0.0.1 could else speak as anonymous.
func direct(r *http.Request) bool {
	for _, header := range []string{"Forwarded", "X-Forwarded-For", "X-Real-Ip", "Via"} {
		if r.Header.Get(header) != "" {
			return false
		}
	}
	from, err := netip.ParseAddrPort(r.RemoteAddr)
	if err != nil || !from.Addr().Unmap().IsLoopback() {
		return false
	}
	host := r.Host
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	if strings.EqualFold(host, "localhost") {
		return true
	}
	addr, err := netip.ParseAddr(strings.Trim(host, "[]"))
	return err == nil && addr.Unmap().IsLoopback()
}
