package doctor

import (
	"fmt"
	"net"
	"time"
)

// Reached is what came of asking the receiver to take an empty request.
type Reached struct {
	// Offset is this host's clock minus the receiver's; Dated says whether it was told.
	Offset time.Duration
	Dated  bool
	// Err is why the receiver does not take requests, nil where it does.
	Err error
}

// offsetBound is from where a difference of clocks is a finding: the Date header counts in
// whole seconds, and the alert on it begins at 5 s.
const offsetBound = 5 * time.Second

// Push judges the way to the receiver of pushed samples.
func Push(url string, r Reached) []Finding {
	var findings []Finding
	if r.Err != nil {
		findings = append(findings, ok("push", "%s takes nothing: %v", url, r.Err).but(Fail,
			"see that the address is the receiver's remote-write endpoint, that this host may reach it, and that the token is right"))
	} else {
		findings = append(findings, ok("push", "%s takes requests", url))
	}
	if r.Dated && r.Offset.Abs() >= offsetBound {
		findings = append(findings, ok("clock", "differs from the receiver's by %s", r.Offset.Round(time.Second)).but(Warn,
			"set the clock right: pushed samples carry this host's time"))
	}
	return findings
}

// Web judges how the page is served: by the file of --web.config.file, and on which addresses.
func Web(path string, err error, addresses []string) []Finding {
	switch {
	case path == "" && loopback(addresses):
		return []Finding{ok("web", "the page is served to this host alone, without TLS and without a password")}
	case path == "":
		return []Finding{ok("web", "the page is served to other hosts without TLS and without a password").but(Warn,
			"give --web.config.file a file with tls_server_config and basic_auth_users")}
	case err != nil:
		return []Finding{ok("web", "%s: %v", path, err).but(Fail, "mend the file: the exporter does not start with it")}
	default:
		return []Finding{ok("web", "%s holds together", path)}
	}
}

// loopback tells whether every address is one of this host alone.
func loopback(addresses []string) bool {
	for _, address := range addresses {
		host, _, err := net.SplitHostPort(address)
		if ip := net.ParseIP(host); err != nil || host != "localhost" && (ip == nil || !ip.IsLoopback()) {
			return false
		}
	}
	return true
}

// Listening is who holds an address that the page is to be served on.
type Listening string

// Who may hold the address.
const (
	Free     Listening = "free"
	Ourself  Listening = "ourself"  // an exporter of ours
	Stranger Listening = "stranger" // another program
)

// Port judges one address of --web.listen-address. err is why it cannot be opened.
func Port(address string, held Listening, err error) []Finding {
	switch held {
	case Free:
		return []Finding{ok("port", "%s is free", address)}
	case Ourself:
		return []Finding{ok("port", "%s is served by a leasewatch-exporter that runs", address)}
	default:
		return []Finding{ok("port", "%s cannot be opened: %v", address, err).but(Fail,
			fmt.Sprintf("end the program that holds it (ss -ltnp 'sport = :%s'), or give another --web.listen-address", portOf(address)))}
	}
}

func portOf(address string) string {
	_, port, err := net.SplitHostPort(address)
	if err != nil {
		return address
	}
	return port
}
