package paging

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/leasewatch/leasewatch/internal/rental"
)

func TestWhatAWayOutSaysHoldsNoLinkToAcknowledge(t *testing.T) {
	const link = "https://gpu.example.org/ack/secret.word"
	err := without(errors.New("400: I was told "+link+" by you"), link)
	if strings.Contains(err.Error(), "secret.word") || !strings.Contains(err.Error(), "400: I was told <secret> by you") {
		t.Errorf("said %q", err)
	}
	plain := errors.New("400")
	if without(plain, link) != plain || without(plain, "") != plain { //nolint:errorlint // the very same
		t.Error("an error without the link was changed")
	}
}

func TestANoticeOfAnOpenIncidentAloneCarriesALinkToAcknowledge(t *testing.T) {
	told := make(chan string, 4)
	phone := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
		told <- string(body)
	}))
	t.Cleanup(phone.Close)
	p := linked(t, phone.URL)
	inc := rental.Incident{
		ID: "INC-1", Status: rental.IncidentOpen, Severity: rental.Page, Subject: "gpu-a17",
		Alerts: []rental.Alert{{Fingerprint: "f1", StartsAt: 1, EndsAt: rental.Forever, Labels: map[string]string{"alertname": "GPULost"}, Annotations: map[string]string{"summary": "GPU lost"}}},
	}
	route := p.Routes("phone")[0]
	send := func(d rental.Delivery) {
		t.Helper()
		d.Route, d.Incident = route, inc.ID
		if _, err := p.Send(context.Background(), d, inc); err != nil {
			t.Fatal(err)
		}
	}
	send(rental.Delivery{Kind: "post"})
	if body := <-told; !strings.Contains(body, "https://gpu.example.org/ack/INC-1-phone") {
		t.Errorf("expected a link in %s", body)
	}
	send(rental.Delivery{Kind: "thread"}) // details
	send(rental.Delivery{Kind: "thread", Text: rental.CallAgain})
	if body := <-told; !strings.Contains(body, "nobody has acknowledged it") {
		t.Errorf("expected the reason in %s", body)
	}
	inc.Status = rental.IncidentAcked
	send(rental.Delivery{Kind: "thread", Text: "f1"})
	if body := <-told; strings.Contains(body, "/ack/") {
		t.Errorf("a link for an incident that somebody has: %s", body)
	}
}

// linked is a pager whose receiver phone is told a link to acknowledge.
func linked(t *testing.T, address string) *Pager {
	t.Helper()
	p, err := New(t.Context(), Options{
		Config:  []byte("route: {receiver: leasewatch}\nreceivers:\n  - {name: leasewatch, webhook_configs: [{url: 'http://127.0.0.1:8080/api/v1/webhook/alertmanager'}]}\n  - {name: phone, webhook_configs: [{url: '" + address + "'}]}\n"),
		Deliver: (&desk{}).deliver, Language: "en",
		AckLink: func(inc rental.Incident, receiver string) string {
			return "https://gpu.example.org/ack/" + inc.ID + "-" + receiver
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := p.Stop(context.Background()); err != nil {
			t.Error(err)
		}
	})
	return p
}
