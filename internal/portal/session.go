package portal

import (
	"errors"
	"html/template"
	"net/http"
	"net/url"
	"strings"

	"github.com/leasewatch/leasewatch/internal/api"
	"github.com/leasewatch/leasewatch/internal/phrase"
)

// sessionSeconds is how long a browser keeps a sign-in: one shift and the hand-over.
const sessionSeconds = 12 * 3600

// loginBody is what the page to sign in shows.
type loginBody struct {
	Next    string
	Refused bool
}

// askToSignIn leads to the page to sign in. A browser that comes from another site (a link
// in Slack) has not sent the cookie, for it is SameSite=Strict; asked by a page of ours for
// the same address it does, so such a page goes first.
func (p *portal) askToSignIn(w http.ResponseWriter, r *http.Request) {
	if _, err := r.Cookie(api.SessionCookie); err != nil && r.Header.Get("Sec-Fetch-Site") == "cross-site" && r.Method == http.MethodGet {
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		_ = reload.Execute(w, r.URL.RequestURI()) // the reader is gone: nobody is left to tell
		return
	}
	next := "/"
	if r.Method == http.MethodGet {
		next = r.URL.RequestURI()
	}
	http.Redirect(w, r, "/login?"+url.Values{"next": {next}}.Encode(), http.StatusSeeOther)
}

var reload = template.Must(template.New("reload").Parse(
	`<!doctype html><meta charset="utf-8"><title>Leasewatch</title><meta http-equiv="refresh" content="0;url={{.}}"><a href="{{.}}">Leasewatch</a>`))

func (p *portal) loginPage(w http.ResponseWriter, r *http.Request) {
	pg := p.blank(w, r)
	p.showLogin(w, r, pg, loginBody{Next: local(r.URL.Query().Get("next"))})
}

func (p *portal) showLogin(w http.ResponseWriter, r *http.Request, pg *page, body loginBody) {
	pg.Template, pg.Body = "login", body
	pg.Heading, pg.Answer = pg.Say.Say(phrase.PortalSignInHeading), pg.Say.Say(phrase.PortalSignInAnswer)
	pg.Title = pg.Say.Say(phrase.PortalSignIn)
	p.write(w, r, pg)
}

// login checks a token and keeps it in the browser as a cookie that no script can read.
func (p *portal) login(w http.ResponseWriter, r *http.Request) {
	pg := p.blank(w, r)
	if err := r.ParseForm(); err != nil {
		p.fail(w, r, pg, api.Errorf(http.StatusRequestEntityTooLarge, "the form could not be read"))
		return
	}
	token, next := strings.TrimSpace(r.PostForm.Get("token")), local(r.PostForm.Get("next"))
	err := api.ErrUnauthenticated
	if token != "" {
		_, err = p.opts.As(api.NewSecret(token)).Whoami(r.Context())
	}
	switch {
	case errors.Is(err, api.ErrUnauthenticated):
		pg.Code = http.StatusUnauthorized
		p.showLogin(w, r, pg, loginBody{Next: next, Refused: true})
	case err != nil:
		p.fail(w, r, pg, err)
	default:
		http.SetCookie(w, sessionCookie(r, token, sessionSeconds))
		http.Redirect(w, r, next, http.StatusSeeOther) //nolint:gosec // local keeps it on this server; a fuzz test holds that
	}
}

func (p *portal) logout(w http.ResponseWriter, r *http.Request) {
	http.SetCookie(w, sessionCookie(r, "", -1))
	http.Redirect(w, r, "/login", http.StatusSeeOther)
}

func sessionCookie(r *http.Request, value string, seconds int) *http.Cookie {
	//nolint:gosec // Secure wherever TLS is; on loopback without TLS the cookie could else not be set
	return &http.Cookie{
		Name: api.SessionCookie, Value: value, Path: "/", MaxAge: seconds, HttpOnly: true, SameSite: http.SameSiteStrictMode,
		Secure: r.TLS != nil || strings.EqualFold(r.Header.Get("X-Forwarded-Proto"), "https"),
	}
}

// local returns a path of this server, or the first page where next would lead elsewhere.
func local(next string) string {
	u, err := url.Parse(next)
	if err != nil || u.IsAbs() || u.Host != "" || u.User != nil || !strings.HasPrefix(next, "/") ||
		strings.HasPrefix(next, "//") || strings.ContainsAny(next, "\\\r\n\t") {
		return "/"
	}
	return next
}
