package portal_test

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/leasewatch/leasewatch/internal/api"
	"github.com/leasewatch/leasewatch/internal/portal"
	"github.com/leasewatch/leasewatch/internal/rental"
)

// identity is who holds a token.
type identity struct {
	*demo

	err error
}

func (i identity) Whoami(context.Context) (rental.Principal, error) { return i.who, i.err }

func handler(tb testing.TB, d *demo) http.Handler {
	tb.Helper()
	h, err := portal.New(portal.Options{
		API: d, Links: d, Runbooks: runbooks{}, Log: slog.New(slog.DiscardHandler), Now: func() time.Time { return now },
		As: func(token api.Secret) portal.Identity {
			if token.Reveal() == "good" {
				return identity{demo: d}
			}
			return identity{demo: d, err: api.ErrUnauthenticated}
		},
	})
	if err != nil {
		tb.Fatal(err)
	}
	return h
}

func get(h http.Handler, target, lang string) *httptest.ResponseRecorder {
	r := httptest.NewRequest(http.MethodGet, target, nil)
	r.Header.Set("Accept-Language", lang)
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w
}

var tags = regexp.MustCompile(`<[^>]*>|\s+`)

// text is what a person reads of a page, its white space folded.
func text(w *httptest.ResponseRecorder) string {
	body := strings.NewReplacer("\u00a0", " ", "\u202f", " ", "&#34;", `"`, "&lt;", "<", "&gt;", ">").Replace(tags.ReplaceAllString(w.Body.String(), " "))
	return regexp.MustCompile(` +`).ReplaceAllString(body, " ")
}

var all = []string{"/fleet", "/leases", "/leases/acme-train", "/leases/globex-batch", "/incidents", "/incidents/INC-42", "/incidents/INC-41", "/incidents/INC-39", "/providers/northwind/scorecard", "/runbooks/gpu-lost", "/login", "/nothing"}

func TestWhatAPageSays(t *testing.T) {
	cases := []struct {
		name, target, lang string
		want               []string
	}{
		{"the fleet answers its question first", "/fleet", "en", []string{
			"Which GPUs need somebody?", "3 of 24 GPUs: 1 down, 1 degraded, 1 without data.", "In maintenance, stopped or not measured: 1.",
			"Nobody is paged: no Slack token is configured.", "✕ Down: GPU lost", "? No data", "◐ Degraded", "▢ Not measured from here: released by policy",
			"XID 79: GPU has fallen off the bus", "52", "310", "4 s ago", "14 min 00 s ago", "not leased", "● Up seen from the guest",
		}},
		{"the fleet in Chinese", "/fleet", "zh-CN", []string{
			"哪些 GPU 需要处理？", "24 块 GPU 中有 3 块：停机 1，降级 1，无数据 1。", "当前不会呼叫任何人：未配置 Slack 令牌。", "停机：GPU 丢失", "租约", "服务商", "客户机内采集",
		}},
		{"leases by who suffers most", "/leases", "en", []string{
			"4 running on 20 GPUs: 1 breached, 1 not proven, 1 with a GPU down now.", "EUR 87 688.87", "72.6 %, 98 % seen", "99.4969", "99.1000 to 100.0000", "✕ Breached", "? Not proven",
			"JPY 3 604 117", "not measured", "no objective", "Ended",
		}},
		{"one lease answers with cost, use, waste and availability", "/leases/acme-train", "en", []string{
			"What did lease acme-train cost in 2026-05, and how well was it used?",
			"EUR 87 688.87; utilisation 72.6 %, 98 % seen; idle cost EUR 26 696.39; availability 99.4969 %, ✕ Breached.",
			"overspent by 2 min 00 s", "43,200 min in the period - 60 maintenance = 43,140; down 217, unknown 0", "Down: reset required", "gpu-a17/6",
			"the contract, automatically", "waits for approval; changes no money", "disputed by tom; held until a person decides", "entered, ann: ping failed on two paths", "SLA credit", "EUR −9 743.21", "rounded half up once to 97,432.08 EUR", "Provisional", "This bill may still change: the month is open",
			"on 2026-05-09 the exporter of gpu-a17 was silent for 7 h", "CEST", "Wrong now",
			"M-31 announced gpu-a17 delivered 2026-05-", ", in time: excluded", "delivered to acme (mail), ann: ticket 7", "announced, ann: new <firmware>",
			"with less notice than the 2 d", "not delivered: not excluded",
		}},
		{"one lease in Chinese", "/leases/acme-train", "zh", []string{
			"租约 acme-train 在 2026-05 花费多少，使用得如何？", "利用率 72.6 %，采样覆盖率 98 %", "未达标", "已超支 2 分 00 秒", "停机 217", "响应与恢复", "15m0.001s", "RPO（数据损失）", "责任方", "赔付", "闲置成本", "待批准，不影响费用", "tom 有异议，裁定前暂不影响费用", "提出异议（tom）：it was a drill",
			"已公告 gpu-a17", "符合提前通知要求：不计入", "送达 acme（mail，ann）：ticket 7", "未送达：照常计入",
		}},
		{"a lease whose use nobody measured and that promises nothing", "/leases/globex-batch", "en", []string{
			"utilisation not measured; idle cost not measured; availability no objective.", "use was not measured", "JPY",
		}},
		{"incidents by urgency", "/incidents", "en", []string{
			"1 open, 1 acknowledged, 0 unknown. The oldest open one has waited 14 min 02 s.", "PAGE", "GPU lost gpu-a17 slot 3", "acme-train, acme", "Resolved", "bo",
		}},
		{"an incident says what to do first", "/incidents/INC-42", "en", []string{
			"What happened in INC-42, and what is to be done?", "Nobody has acknowledged it for 14 min 00 s.", "Drain the job, then power-cycle the host.", "Runbook",
			"Acknowledge", "not delivered: channel_not_found", "Opened", "Told",
		}},
		{"an incident in Chinese", "/incidents/INC-42", "zh", []string{"INC-42 发生了什么，该怎么处理？", "GPU 丢失 gpu-a17 插槽 3", "迁走作业", "确认", "未送达：channel_not_found"}},
		{"an acknowledged incident", "/incidents/INC-41", "en", []string{"Acknowledged by bo after 3 min 00 s.", "fan tray ordered"}},
		{"a resolved incident", "/incidents/INC-39", "en", []string{"Resolved after 1 h 00 min 00 s."}},
		{"a runbook", "/runbooks/gpu-lost", "zh", []string{"GPU 丢失", "Power-cycle the host."}},
		{"a provider's scorecard says what is not measured", "/providers/northwind/scorecard?month=2026-04", "en", []string{
			"How did northwind do in 2026-04?", "8 of 19 figures are measured (leases looked at: 1)", "availability, low to high bound", "99.9000 % – 100.0000 %", "99.0000 % of the time",
			"1 of 1 leases", "network against the contract", "not measured", "(older than 30 days)", "← 2026-03", "2026-05 →",
		}},
		{"a provider's scorecard in Chinese", "/providers/northwind/scorecard", "zh", []string{"northwind 在 2026-05 表现如何？", "未测量", "达标的目标", "时间的 99.0000 %"}},
		{"a month of the past", "/leases/acme-train?month=2026-04", "en", []string{"cost in 2026-04", "← 2026-03", "2026-05 →"}},
	}
	for _, tc := range cases {
		t.Run(tc.name, func(t *testing.T) {
			d := newDemo()
			if strings.HasPrefix(tc.target, "/leases/") {
				d.who.Role = rental.RoleFinance
			}
			got := get(handler(t, d), tc.target, tc.lang)
			if got.Code != 200 {
				t.Fatalf("status %d: %s", got.Code, got.Body)
			}
			read := text(got)
			for _, want := range tc.want {
				if !strings.Contains(read, want) {
					t.Errorf("the page does not say %q:\n%s", want, read)
				}
			}
			if strings.Contains(read, "[portal.") {
				t.Errorf("the page has a sentence that the catalogue lacks: %s", read)
			}
		})
	}
}

func TestWhatIsWrongWithTheServerStandsAboveEachPageInItsReadersLanguage(t *testing.T) {
	for what, c := range map[string]struct {
		change func(*api.Status)
		en, zh string
	}{
		"nobody is paged": {func(*api.Status) {}, "Nobody is paged: no Slack token is configured.", "当前不会呼叫任何人：未配置 Slack 令牌。"},
		"messages wait for a token": {
			func(s *api.Status) {
				s.Paging = api.Paging{Enabled: true}
				s.Outbox = api.Outbox{Pending: 1, Failed: 1, OldestSeconds: 125, Reason: "slack chat.postMessage: invalid_auth (put a working bot token into the file that slack.bot_token_file names)"}
			},
			"Messages that wait to be delivered: 2, the oldest for 2 min 05 s. Last error: Slack does not accept the token of the bot (invalid_auth)",
			"2 条消息待送达，最早的已等待 2 分 05 秒。最近的错误：Slack 不接受机器人令牌（invalid_auth）",
		},
		"messages wait for Slack": {
			func(s *api.Status) {
				s.Paging = api.Paging{Enabled: true}
				s.Outbox = api.Outbox{Pending: 1, OldestSeconds: 60, Reason: `slack chat.postMessage: Post "https://slack.com/api/chat.postMessage": dial tcp: lookup slack.com: no such host`}
			},
			"Last error: Slack cannot be reached", "最近的错误：无法连接 Slack",
		},
		"the disk is full": {
			func(s *api.Status) {
				s.Store = api.Store{Cause: api.StoreFull, Reason: "write: no space left on device", Since: ago(time.Minute)}
			},
			"no space is left in the data directory", "数据目录空间已满",
		},
		"the disk is read-only": {
			func(s *api.Status) {
				s.Store = api.Store{Cause: api.StoreReadOnly, Reason: "write: read-only file system", Since: ago(time.Minute)}
			},
			"the data directory cannot be written", "数据目录不可写",
		},
		"the disk fails": {
			func(s *api.Status) {
				s.Store = api.Store{Cause: api.StoreFails, Reason: "write: input/output error", Since: ago(time.Minute)}
			},
			"Last error: write: input/output error", "最近的错误：write: input/output error",
		},
		"an exporter that refuses": {
			func(s *api.Status) {
				s.TargetsDown = []api.Failure{{Name: "gpu-a17", Reason: "connect: connection refused"}}
			},
			"The first: gpu-a17 (connect: connection refused)", "首个为 gpu-a17 (connect: connection refused)",
		},
	} {
		t.Run(what, func(t *testing.T) {
			d := newDemo()
			c.change(&d.status)
			for lang, want := range map[string]string{"en": c.en, "zh": c.zh} {
				if read := text(get(handler(t, d), "/leases", lang)); !strings.Contains(read, want) {
					t.Errorf("in %s the page does not say %q:\n%s", lang, want, read)
				}
			}
		})
	}
}

func TestAMessageThatWaitsForSecondsIsNoTrouble(t *testing.T) {
	d := newDemo()
	d.status.Paging, d.status.Outbox = api.Paging{Enabled: true}, api.Outbox{Pending: 1, OldestSeconds: 59, Reason: "slack chat.postMessage: ratelimited"}
	if read := text(get(handler(t, d), "/leases", "en")); strings.Contains(read, "wait to be delivered") {
		t.Errorf("the page makes trouble of a minute that is not over:\n%s", read)
	}
}

func TestEachRoleBeginsWhereItMayRead(t *testing.T) {
	for role, home := range map[rental.Role]string{rental.RoleOperator: "/fleet", rental.RoleTenant: "/fleet", rental.RoleFinance: "/leases"} {
		d := newDemo()
		d.who.Role = role
		h := handler(t, d)
		if to := get(h, "/", "en").Header().Get("Location"); to != home {
			t.Errorf("%s begins at %q, expected %s", role, to, home)
		}
		if linked := strings.Contains(get(h, "/leases", "en").Body.String(), `href="/fleet"`); linked != (home == "/fleet") {
			t.Errorf("%s: the navigation leads to the fleet: %v", role, linked)
		}
	}
}

func TestNoPageTakesAStringForMarkup(t *testing.T) {
	d := newDemo()
	d.who.Name = hostile
	d.status.TargetsDown = []api.Failure{{Name: hostile, Reason: hostile}}
	d.fleet.Hosts[0].Host, d.fleet.Hosts[0].Provider, d.fleet.Hosts[0].GPUs[0].Lease = hostile, `"><img src=x>`, `"><img src=x>`
	d.leases[0].Tenant, d.leases[0].SKU = hostile, hostile
	for _, target := range append(all, "/login?next="+url.QueryEscape(`"><script>`), "/leases/%3Cscript%3E", "/runbooks/%3Cscript%3E", "/fleet?provider=%22%3E%3Cscript%3E") {
		for _, lang := range []string{"en", "zh"} {
			body := strings.ToLower(get(handler(t, d), target, lang).Body.String())
			for _, bad := range []string{"<script", "<img", "javascript:", "onerror=", "style=\""} {
				if strings.Contains(body, bad) {
					t.Errorf("%s in %s holds %q", target, lang, bad)
				}
			}
		}
	}
}

func TestEveryPageIsWholeAndForbidsWhatItDoesNotNeed(t *testing.T) {
	for _, target := range all {
		got := get(handler(t, newDemo()), target, "en")
		if !strings.HasSuffix(strings.TrimSpace(got.Body.String()), "</html>") {
			t.Errorf("%s breaks off", target)
		}
		policy := got.Header().Get("Content-Security-Policy")
		if !strings.Contains(policy, "default-src 'none'") || strings.Contains(policy, "unsafe") {
			t.Errorf("%s: policy %q", target, policy)
		}
		for _, link := range regexp.MustCompile(`(?:href|src|action)="([^"]*)"`).FindAllStringSubmatch(got.Body.String(), -1) {
			if !strings.HasPrefix(link[1], "/") && !strings.HasPrefix(link[1], "#") && link[1] != "" {
				t.Errorf("%s refers to %q, which is not on this server", target, link[1])
			}
		}
	}
}

func TestAFilterIsInTheURLAndCutsThePage(t *testing.T) {
	cases := []struct{ target, has, hasNot string }{
		{"/fleet?provider=dragonrent", "gpu-b02", "gpu-a18"},
		{"/fleet?state=down", "gpu-a17", "gpu-b02"},
		{"/fleet?state=trouble", "throttled by heat", "310"},
		{"/fleet?provider=nobody", "No GPU fits the filter.", "gpu-a17"},
		{"/leases?tenant=globex", "globex-lab", "acme-train"},
		{"/leases?tenant=nobody", "No lease fits the filter.", "acme-train"},
		{"/incidents?status=resolved", "INC-39", "INC-42"},
		{"/incidents?status=unknown", "No incident fits the filter.", "INC-42"},
	}
	for _, tc := range cases {
		read := text(get(handler(t, newDemo()), tc.target, "en"))
		if !strings.Contains(read, tc.has) || strings.Contains(read, tc.hasNot) {
			t.Errorf("%s: want %q and not %q in\n%s", tc.target, tc.has, tc.hasNot, read)
		}
	}
}

func TestAnEmptyPageSaysWhyAndWhatWouldFillIt(t *testing.T) {
	cases := []struct {
		target string
		role   rental.Role
		want   string
	}{
		{"/fleet", rental.RoleAdmin, "Run leasewatch-exporter on a GPU host"},
		{"/fleet", rental.RoleTenant, "None of your leases has a GPU now."},
		{"/leases", rental.RoleAdmin, `"leasewatch lease apply -f FILE"`},
		{"/leases", rental.RoleTenant, "You have no lease."},
		{"/incidents", rental.RoleAdmin, "An incident opens when an alert rule fires."},
	}
	for _, tc := range cases {
		d := newDemo()
		d.fleet.Hosts, d.leases, d.incident, d.who.Role = nil, nil, nil, tc.role
		if read := text(get(handler(t, d), tc.target, "en")); !strings.Contains(read, tc.want) {
			t.Errorf("%s as %s: want %q in\n%s", tc.target, tc.role, tc.want, read)
		}
	}
}

func TestALanguageThatWasChosenStays(t *testing.T) {
	h := handler(t, newDemo())
	first := get(h, "/fleet?provider=dragonrent&lang=zh", "en")
	if !strings.Contains(first.Body.String(), `lang="zh"`) || !strings.Contains(first.Body.String(), `href="/fleet?lang=en&amp;provider=dragonrent"`) {
		t.Errorf("got %s", first.Body)
	}
	r := httptest.NewRequest(http.MethodGet, "/leases", nil)
	r.Header.Set("Accept-Language", "en")
	for _, c := range first.Result().Cookies() {
		r.AddCookie(c)
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	if !strings.Contains(w.Body.String(), `lang="zh"`) {
		t.Error("the next page is in English again")
	}
}

func TestASectionThatFailsDoesNotTakeThePageDown(t *testing.T) {
	d := newDemo()
	d.billErr = api.Errorf(http.StatusForbidden, "role oncall may not")
	got := get(handler(t, d), "/leases/acme-train", "en")
	read := text(got)
	if got.Code != 200 || !strings.Contains(read, "Your role does not see bills.") || !strings.Contains(read, "Down: reset required") {
		t.Errorf("status %d: %s", got.Code, read)
	}
	if strings.Contains(read, "EUR 87 688.87 ") {
		t.Error("the bill is shown in spite of it")
	}
	d.billErr = errors.New("disk /secret is gone")
	if read := text(get(handler(t, d), "/leases/acme-train", "en")); strings.Contains(read, "/secret") || !strings.Contains(read, "99.4969") {
		t.Errorf("got %s", read)
	}
}

func TestAFailureIsAPageWithItsStatus(t *testing.T) {
	cases := []struct {
		name, target string
		err          error
		status       int
		want         string
	}{
		{"a page that is not there", "/nothing", nil, 404, "This does not exist, or not for you."},
		{"a lease that is not there", "/leases/none", nil, 404, "This does not exist, or not for you."},
		{"a month that is none", "/leases/acme-train?month=soon", nil, 422, "expected YYYY-MM"},
		{"a refusal", "/fleet", api.Errorf(403, "role push may not"), 403, "Your role may not see this."},
		{"a store that is gone", "/fleet", api.Errorf(503, "the ledger is read-only"), 503, "the ledger is read-only"},
		{"anything else", "/fleet", errors.New("disk /secret is gone"), 500, "Internal Server Error"},
	}
	for _, tc := range cases {
		t.Run(tc.name, func(t *testing.T) {
			d := newDemo()
			d.err = tc.err
			got := get(handler(t, d), tc.target, "en")
			if got.Code != tc.status || !strings.Contains(text(got), tc.want) || strings.Contains(got.Body.String(), "/secret") {
				t.Errorf("status %d: %s", got.Code, text(got))
			}
		})
	}
}
