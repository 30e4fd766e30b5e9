package witness

import (
	"context"
	"fmt"
	"net"
	"net/netip"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/leasewatch/leasewatch/internal/testenv"
)

func TestAPortThatAnswersOrRefusesShowsThatTheHostIsThere(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	_, port, _ := net.SplitHostPort(listener.Addr().String())
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	own := netip.MustParseAddr("127.0.0.1")
	if err := (network{}).Probe(ctx, own, "127.0.0.1", Way("tcp:"+port)); err != nil {
		t.Errorf("an open port: %v", err)
	}
	if err := listener.Close(); err != nil {
		t.Fatal(err)
	}
	if err := (network{}).Probe(ctx, own, "127.0.0.1", Way("tcp:"+port)); err != nil {
		t.Errorf("a port that refuses: %v", err)
	}
}

func TestWhatIsWrongOnThisMachineIsNoWordOnTheHost(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	for what, source := range map[string]string{"a source that it does not have": "203.0.113.77", "a source of another family": "::1"} {
		if err := (network{}).Probe(ctx, netip.MustParseAddr(source), "127.0.0.1", "tcp:9"); !cannot(err) {
			t.Errorf("%s: %v, expected that it could not be sent", what, err)
		}
	}
}

// inNamespace marks the process that runs in a network of its own.
const inNamespace = "LEASEWATCH_WITNESS_NAMESPACE"

// TestProbesInANetworkOfTheirOwn probes for real: over the loopback of a network namespace, and into
// a wire on which nobody answers.
func TestProbesInANetworkOfTheirOwn(t *testing.T) {
	if os.Getenv(inNamespace) == "" {
		again(t)
		return
	}
	for _, command := range []string{
		"link set lo up", "link add hole type veth peer name end", "link set hole up", "link set end up",
		"addr add 10.1.0.1/32 dev lo", "addr add 10.2.0.1/32 dev lo", "addr add 10.9.0.1/32 dev lo", "addr add fd00::1/128 dev lo nodad",
		"route add 10.9.0.0/16 dev hole",
	} {
		ip(t, command)
	}
	a, b := netip.MustParseAddr("10.1.0.1"), netip.MustParseAddr("10.2.0.1")
	probe := func(source netip.Addr, address string, way Way, patience time.Duration) error {
		ctx, cancel := context.WithTimeout(t.Context(), patience)
		defer cancel()
		return network{}.Probe(ctx, source, address, way)
	}
	answered := func(source netip.Addr, address string) {
		t.Helper()
		var err error
		for range 30 { // an address is not at once in use everywhere
			if err = probe(source, address, ICMP, 2*time.Second); err == nil {
				return
			}
		}
		t.Errorf("an echo from %v to %s: %v", source, address, err)
	}
	for _, source := range []netip.Addr{a, b, {}} {
		answered(source, "10.9.0.1")
	}
	answered(netip.Addr{}, "fd00::1")
	// Switched off: what is sent to it is lost.
	ip(t, "addr del 10.9.0.1/32 dev lo")
	for _, way := range []Way{ICMP, "tcp:22"} {
		if err := probe(a, "10.9.0.1", way, time.Second); err == nil || cannot(err) {
			t.Errorf("%s of a host that is gone: %v, expected no answer", way, err)
		}
	}
	if err := probe(a, "192.0.2.1", ICMP, time.Second); !cannot(err) {
		t.Errorf("an address without a route: %v, expected that it could not be sent", err)
	}
}

func ip(t *testing.T, command string) {
	t.Helper()
	if out, err := exec.Command(testenv.Binary(t, "ip"), strings.Fields(command)...).CombinedOutput(); err != nil {
		t.Fatalf("ip %s: %v\n%s", command, err, out)
	}
}

// again runs the test in a network namespace of its own.
func again(t *testing.T) {
	t.Helper()
	unshare := testenv.Binary(t, "unshare")
	testenv.Binary(t, "ip")
	args := []string{"--net"}
	if os.Geteuid() != 0 {
		args = []string{"--user", "--map-root-user", "--net"}
	}
	if out, err := exec.Command(unshare, append(slices.Clone(args), "true")...).CombinedOutput(); err != nil {
		testenv.Skip(t, fmt.Sprintf("no network namespace can be made here: %v %s", err, out))
	}
	inside := exec.CommandContext(t.Context(), unshare, append(args, os.Args[0], "-test.run=^"+t.Name()+"$", "-test.v")...)
	inside.Env = append(os.Environ(), inNamespace+"=1")
	if out, err := inside.CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}
