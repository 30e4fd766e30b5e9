package enrol

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"

	"github.com/leasewatch/leasewatch/exporter/push"
)

// path is the server's operation.
const path = "/api/v1/enroll"

// maxAnswer bounds what is read of an answer, in bytes.
const maxAnswer = 64 << 10

// question is what is sent; the server's API has the same by the name of Enroll.
type question struct {
	Host string `json:"host"`
	Hash string `json:"hash"`
}

// reply is the server's yes.
type reply struct {
	Name      string `json:"name"`
	Lease     string `json:"lease"`
	Host      string `json:"host"`
	WritePath string `json:"write_path"`
}

// ask sends the question with the one-time token.
func ask(ctx context.Context, client *http.Client, server string, ticket push.Secret, q question) (reply, error) {
	body, err := json.Marshal(q)
	if err != nil {
		return reply{}, fmt.Errorf("writing the question: %w", err)
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, server+path, bytes.NewReader(body))
	if err != nil {
		return reply{}, fmt.Errorf("--server %s: %w", server, err)
	}
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("User-Agent", "leasewatch-exporter")
	request.Header.Set("Authorization", "Bearer "+string(ticket))
	response, err := straight(client).Do(request)
	if err != nil {
		return reply{}, unreachable(err)
	}
	defer response.Body.Close()
	text, err := io.ReadAll(io.LimitReader(response.Body, maxAnswer))
	if err != nil {
		return reply{}, unreachable(err)
	}
	switch code := response.StatusCode; {
	case code == http.StatusOK:
	case code >= 400 && code < 500 && code != http.StatusRequestTimeout && code != http.StatusTooManyRequests:
		return reply{}, &RefusedError{Status: code, Says: words(text)}
	default:
		return reply{}, fmt.Errorf("the server answers %d (%s): expected 200; look at --server, or try again", code, words(text))
	}
	var said reply
	if err := json.Unmarshal(text, &said); err != nil || said.Host != q.Host || !strings.HasPrefix(said.WritePath, "/") || strings.ContainsAny(said.WritePath, "\r\n") {
		return reply{}, fmt.Errorf("at %s answers no leasewatch: expected the address of one", server)
	}
	return said, nil
}

// straight is a client that takes the token nowhere else.
func straight(client *http.Client) *http.Client {
	if client == nil {
		client = http.DefaultClient
	}
	own := *client
	own.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	return &own
}

// words are what an answer says to people: the detail of a problem, else its beginning. Control
// characters of a stranger's server stay out of terminals.
func words(text []byte) string {
	var problem struct {
		Detail string `json:"detail"`
		Title  string `json:"title"`
	}
	said := string(text)
	if json.Unmarshal(text, &problem) == nil && problem.Detail+problem.Title != "" {
		said = problem.Detail
		if said == "" {
			said = problem.Title
		}
	}
	said = strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f {
			return ' '
		}
		return r
	}, strings.TrimSpace(said))
	if len(said) > 500 {
		said = strings.ToValidUTF8(said[:500], "") + "..."
	}
	return said
}
