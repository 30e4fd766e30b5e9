// Package enrol makes an exporter inside a lease, in a passthrough machine or a rented container,
// one that may push: it turns a one-time token into a push token of its own, and keeps that token
// with the arguments that the exporter starts with. The push token is made here and never sent; the
// server is told its SHA-256.
package enrol

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"unicode"

	"github.com/leasewatch/leasewatch/exporter/push"
)

// The files of an enrolment, in its folder.
const (
	// ArgsFile holds the exporter's arguments, one a line; "leasewatch-exporter @FILE" reads it.
	ArgsFile = "exporter.args"
	// TokenFile holds the push token; only its owner may read it.
	TokenFile = "push-token"
	// pendingFile holds the push token while it is not known whether the server took it.
	pendingFile = "push-token.pending"
	// spoolDir keeps what is not delivered yet.
	spoolDir = "spool"
)

// ErrToken marks a token file that cannot be used.
var ErrToken = errors.New("the one-time token cannot be read")

// RefusedError is what the server said where it will not enrol this guest; asking again changes nothing.
type RefusedError struct {
	Status int // HTTP
	Says   string
}

// Error gives the server's words.
func (e *RefusedError) Error() string {
	return fmt.Sprintf("the server refuses (%d): %s", e.Status, e.Says)
}

// Request is what an enrolment takes.
type Request struct {
	// Server is the server's address, https://HOST[:PORT][/PATH]; http only on loopback.
	Server string
	// TokenFile holds the one-time token, in one line.
	TokenFile string
	// Host is what this guest's samples carry in the label host.
	Host string
	// Folder is where the result is kept; it is made where it is not there.
	Folder string
	// Client asks the server; nil is http.DefaultClient. Its timeout is the caller's.
	Client *http.Client
}

// Result is what came of an enrolment.
type Result struct {
	// Name is what the server knows the token by, Lease the lease that it is bound to.
	Name, Lease string
	// Args is the file to start the exporter with.
	Args string
}

// Do enrols this guest. Where it is cut off between asking and keeping the answer, doing it again
// with the same token and folder goes on. A *RefusedError is the server's no; any other error is
// the network's, the disk's or the caller's.
func Do(ctx context.Context, r Request) (Result, error) {
	server, err := address(r.Server)
	if err != nil {
		return Result{}, err
	}
	if strings.ContainsFunc(r.Host, unicode.IsControl) {
		return Result{}, fmt.Errorf("--host.name %q: expected a name in one line", r.Host)
	}
	ticket, err := push.ReadToken(r.TokenFile)
	if err != nil {
		return Result{}, fmt.Errorf("%w: %w", ErrToken, err)
	}
	folder, err := filepath.Abs(r.Folder)
	if err != nil {
		return Result{}, fmt.Errorf("folder of the enrolment: %w", err)
	}
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return Result{}, fmt.Errorf("making the folder of the enrolment: %w", err)
	}
	pending := filepath.Join(folder, pendingFile)
	own, err := secretIn(pending)
	if err != nil {
		return Result{}, err
	}
	sum := sha256.Sum256([]byte(own))
	said, err := ask(ctx, r.Client, server, ticket, question{Host: r.Host, Hash: hex.EncodeToString(sum[:])})
	if err != nil {
		var refused *RefusedError
		if errors.As(err, &refused) { // the secret is good for nothing
			err = errors.Join(err, os.Remove(pending))
		}
		return Result{}, err
	}
	result := Result{Name: said.Name, Lease: said.Lease, Args: filepath.Join(folder, ArgsFile)}
	token := filepath.Join(folder, TokenFile)
	args := strings.Join([]string{
		"--vantage=guest",
		"--host.name=" + said.Host,
		"--push.url=" + server + said.WritePath,
		"--push.bearer-token-file=" + token,
		"--push.spool-dir=" + filepath.Join(folder, spoolDir),
	}, "\n") + "\n"
	if err := os.WriteFile(result.Args, []byte(args), 0o600); err != nil {
		return Result{}, fmt.Errorf("keeping the exporter's arguments: %w", err)
	}
	// Last, so that an enrolment that is cut off before can be done again.
	if err := os.Rename(pending, token); err != nil {
		return Result{}, fmt.Errorf("keeping the push token: %w", err)
	}
	return result, nil
}

// CheckAddress tells what is wrong with a server's address, nil where nothing is.
func CheckAddress(server string) error {
	_, err := address(server)
	return err
}

// address checks the server's address and gives it without a slash at its end. A token goes
// encrypted, or nowhere beyond this machine.
func address(server string) (string, error) {
	u, err := url.Parse(server)
	if err != nil || (u.Scheme != "http" && u.Scheme != "https") || u.Host == "" {
		return "", fmt.Errorf("--server: expected https://HOST, or http:// on loopback")
	}
	if u.User != nil || u.RawQuery != "" || u.Fragment != "" {
		return "", fmt.Errorf("--server %s: expected neither user, query nor fragment", u.Redacted())
	}
	if u.Scheme == "http" && !loopback(u.Hostname()) {
		return "", fmt.Errorf("--server %s: the token would cross the network in the clear: expected https://, or a loopback address", server)
	}
	return strings.TrimRight(u.String(), "/"), nil
}

func loopback(host string) bool {
	if strings.EqualFold(host, "localhost") {
		return true
	}
	addr, err := netip.ParseAddr(host)
	return err == nil && addr.Unmap().IsLoopback()
}

// secretIn returns the secret of an enrolment that was cut off, else makes one and keeps it.
func secretIn(path string) (push.Secret, error) {
	found, err := push.ReadToken(path)
	if err == nil {
		return found, nil
	}
	if !errors.Is(err, fs.ErrNotExist) {
		return "", err
	}
	random := make([]byte, 32)
	rand.Read(random) // it never fails: without random numbers the process ends
	made := "lwt_" + base64.RawURLEncoding.EncodeToString(random)
	file, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return "", fmt.Errorf("keeping the push token: %w", err)
	}
	_, err = file.WriteString(made + "\n")
	if err := errors.Join(err, file.Sync(), file.Close()); err != nil {
		return "", errors.Join(fmt.Errorf("keeping the push token: %w", err), os.Remove(path))
	}
	return push.Secret(made), nil
}

// unreachable says what to do where no answer came.
func unreachable(err error) error {
	var dns *net.DNSError
	if errors.As(err, &dns) {
		return fmt.Errorf("asking the server: %w: look at the name in --server", err)
	}
	return fmt.Errorf("asking the server: %w: try again, the token is not lost", err)
}
