package portal

import (
	"bytes"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"errors"
	"fmt"
	"html/template"
	"net/http"
	"net/url"
	"runtime/debug"

	"github.com/leasewatch/leasewatch/internal/api"
	"github.com/leasewatch/leasewatch/internal/phrase"
	"github.com/leasewatch/leasewatch/internal/rental"
)

//go:embed templates/*.html templates/style.css
var files embed.FS

const stylePath = "/portal.css"

// langCookie keeps the language that a person chose by ?lang=.
const langCookie = "leasewatch_lang"

// page is what a template is given.
type page struct {
	Say phrase.Printer
	// Template is the page's own template; Title goes into the tab, Heading is the page's
	// question, Answer its answer, Lead what stands below it.
	Template, Title, Heading, Answer, Lead string
	// Section is the entry of the navigation that the page belongs to.
	Section string
	Who     rental.Principal
	// ByCookie tells whether somebody signed in, so that they can sign out.
	ByCookie bool
	Banners  []banner
	Status   api.Status
	// LangLink leads to the same page in the other language.
	LangLink string
	// Refresh reloads the page after so many seconds; 0 never.
	Refresh int
	Code    int
	Now     moment
	Style   string
	Body    any
}

// Watches tells whether the reader may see fleet and incidents: finance may not.
func (pg *page) Watches() bool { return pg.Who.Role != rental.RoleFinance }

// home is the page that a reader begins with.
func (pg *page) home() string {
	if pg.Watches() {
		return "/fleet"
	}
	return "/leases"
}

// banner is a line above the page about the server itself.
type banner struct{ Kind, Glyph, Text string }

// pages holds each page's template in each language.
type pages struct {
	byLang map[string]map[string]*template.Template
	css    []byte
	style  string // the style sheet's address, with its hash
}

var pageNames = []string{"fleet", "leases", "lease", "scorecard", "incidents", "incident", "runbook", "login", "error", "acklink"}

func parsePages() (pages, error) {
	css, err := files.ReadFile("templates/style.css")
	if err != nil {
		return pages{}, fmt.Errorf("style sheet: %w", err)
	}
	sum := sha256.Sum256(css)
	out := pages{byLang: map[string]map[string]*template.Template{}, css: css, style: stylePath + "?v=" + hex.EncodeToString(sum[:6])}
	for _, lang := range []string{phrase.English, phrase.Chinese} {
		say := phrase.For(lang)
		out.byLang[lang] = map[string]*template.Template{}
		for _, name := range pageNames {
			t, err := template.New("layout.html").Funcs(functions(say)).ParseFS(files, "templates/layout.html", "templates/parts.html", "templates/"+name+".html")
			if err != nil {
				return pages{}, fmt.Errorf("page %s: %w", name, err)
			}
			out.byLang[lang][name] = t
		}
	}
	return out, nil
}

// functions are what templates may call. A key that the catalogue lacks fails the page's
// test, not a person.
func functions(say phrase.Printer) template.FuncMap {
	return template.FuncMap{
		"t": func(key string, args ...any) string { return say.Say(phrase.Key("portal."+key), args...) },
	}
}

// page makes a handler of a function that fills a page: it knows who asks, how the server
// is and in which language to answer, and shows an error as a page too.
func (p *portal) page(fill func(r *http.Request, pg *page) error) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		pg := p.blank(w, r)
		defer func() { //nolint:contextcheck // the request carries it
			if v := recover(); v != nil {
				p.opts.Log.ErrorContext(r.Context(), "a page panicked", "path", r.URL.Path, "panic", v, "stack", string(debug.Stack()))
				p.fail(w, r, pg, api.Errorf(http.StatusInternalServerError, ""))
			}
		}()
		who, err := p.opts.API.Whoami(r.Context())
		if err != nil {
			p.fail(w, r, pg, err)
			return
		}
		pg.Who = who
		if pg.Status, err = p.opts.API.Status(r.Context()); err != nil {
			pg.Banners = []banner{{Kind: phrase.KindUnknown, Glyph: phrase.Glyph(phrase.KindUnknown), Text: pg.Say.Say(phrase.PortalStatusFails)}}
		} else {
			pg.Banners = banners(pg.Say, pg.Status)
		}
		if err := fill(r, pg); err != nil {
			p.fail(w, r, pg, err)
			return
		}
		p.write(w, r, pg)
	}
}

// blank starts a page: its language and the time.
func (p *portal) blank(w http.ResponseWriter, r *http.Request) *page {
	lang := r.Header.Get("Accept-Language")
	if c, err := r.Cookie(langCookie); err == nil {
		lang = c.Value
	}
	if asked := r.URL.Query().Get("lang"); asked != "" {
		lang = phrase.Match(asked)
		//nolint:gosec // a language is no secret, and must survive plain HTTP on loopback
		http.SetCookie(w, &http.Cookie{Name: langCookie, Value: lang, Path: "/", SameSite: http.SameSiteLaxMode, HttpOnly: true, MaxAge: 365 * 24 * 3600})
	}
	say := phrase.For(phrase.Match(lang))
	_, cookie := r.Cookie(api.SessionCookie)
	query := r.URL.Query()
	query.Set("lang", map[bool]string{true: phrase.Chinese, false: phrase.English}[say.Lang() == phrase.English])
	link := url.URL{Path: r.URL.Path, RawQuery: query.Encode()}
	return &page{
		Say: say, Code: http.StatusOK, ByCookie: cookie == nil, Style: p.pages.style,
		LangLink: link.String(), Now: at(say, rental.At(p.opts.Now()), nil),
	}
}

// redirect is returned by a page that leads to another instead.
type redirect struct{ to string }

func (r redirect) Error() string { return "see " + r.to }

// fail answers with what went wrong, as a page.
func (p *portal) fail(w http.ResponseWriter, r *http.Request, pg *page, err error) {
	if to, ok := errors.AsType[redirect](err); ok {
		http.Redirect(w, r, to.to, http.StatusSeeOther)
		return
	}
	if errors.Is(err, api.ErrUnauthenticated) {
		p.askToSignIn(w, r)
		return
	}
	pg.Template, pg.Heading, pg.Body, pg.Refresh = "error", pg.Say.Say(phrase.PortalErrorHeading), nil, 0
	pg.Title, pg.Lead = pg.Heading, ""
	var told *api.Error
	switch {
	case errors.Is(err, api.ErrNotFound):
		pg.Code, pg.Answer = http.StatusNotFound, pg.Say.Say(phrase.PortalNotFound)
	case errors.Is(err, api.ErrForbidden):
		pg.Code, pg.Answer = http.StatusForbidden, pg.Say.Say(phrase.PortalForbidden)
	case errors.As(err, &told) && told.Status >= 400:
		pg.Code, pg.Answer = told.Status, pg.Say.Say(phrase.PortalFailed, told.Error())
	default:
		p.opts.Log.ErrorContext(r.Context(), "a page failed", "path", r.URL.Path, "error", err)
		pg.Code, pg.Answer = http.StatusInternalServerError, pg.Say.Say(phrase.PortalFailed, http.StatusText(http.StatusInternalServerError))
	}
	p.write(w, r, pg)
}

// write renders the page whole before the first byte goes out.
func (p *portal) write(w http.ResponseWriter, r *http.Request, pg *page) {
	var out bytes.Buffer
	if err := p.pages.byLang[pg.Say.Lang()][pg.Template].Execute(&out, pg); err != nil {
		p.opts.Log.ErrorContext(r.Context(), "a template failed", "page", pg.Template, "error", err)
		http.Error(w, "the page could not be made; the server's log says why", http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.Header().Set("Content-Language", pg.Say.Lang())
	w.WriteHeader(pg.Code)
	_, _ = w.Write(out.Bytes()) // the reader is gone: nobody is left to tell
}

func (p *portal) style(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "text/css; charset=utf-8")
	w.Header().Set("Cache-Control", "public, max-age=31536000, immutable") // its address holds its hash
	_, _ = w.Write(p.pages.css)
}

// banners says what is wrong with the server itself, the worst first.
func banners(say phrase.Printer, s api.Status) []banner {
	var out []banner
	add := func(kind string, key phrase.Key, args ...any) {
		out = append(out, banner{Kind: kind, Glyph: phrase.Glyph(kind), Text: say.Say(key, args...)})
	}
	if !s.Paging.Enabled {
		why := s.Paging.Reason
		if why == "" || s.Paging.Cause == api.PagingNoToken {
			why = say.Say(phrase.PortalNobodyPagedWhy)
		}
		add(phrase.KindDegraded, phrase.PortalNobodyPaged, why)
	}
	if s.Store.Reason != "" && !s.Store.Healthy {
		since := say.Time(s.Store.Since, nil)
		switch s.Store.Cause {
		case api.StoreFull:
			add(phrase.KindDown, phrase.PortalStoreFull, since)
		case api.StoreReadOnly:
			add(phrase.KindDown, phrase.PortalStoreReadOnly, since)
		default:
			add(phrase.KindDown, phrase.PortalStoreSick, since, s.Store.Reason)
		}
	}
	if s.Paging.Enabled && s.Outbox.Pending+s.Outbox.Failed > 0 && s.Outbox.OldestSeconds >= staleOutbox {
		add(phrase.KindDown, phrase.PortalOutboxWaits, s.Outbox.Pending+s.Outbox.Failed, say.Duration(s.Outbox.OldestSeconds*1000), say.Undelivered(s.Outbox.Reason))
	}
	if n := len(s.EvaluationFailures); n > 0 {
		add(phrase.KindDegraded, phrase.PortalRulesFail, n, named(s.EvaluationFailures[0]))
	}
	if s.ChangesWaiting > 0 {
		add(phrase.KindUnknown, phrase.PortalChangesWait, s.ChangesWaiting)
	}
	if n := len(s.TargetsDown); n > 0 {
		add(phrase.KindUnknown, phrase.PortalTargetsFail, n, named(s.TargetsDown[0]))
	}
	return out
}

// named is a failure's name with its reason, in the words of the program that failed.
func named(f api.Failure) string {
	if f.Reason == "" {
		return f.Name
	}
	return f.Name + " (" + f.Reason + ")"
}

// staleOutbox is the age in seconds from which a waiting message is worth a banner: Slack's
// own Retry-After is commonly 30 s.
const staleOutbox = 60
