package witness

import (
	"context"
	"crypto/rand"
	"encoding/binary"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"os"
	"strings"
	"syscall"
	"time"

	"golang.org/x/net/icmp"
	"golang.org/x/net/ipv4"
	"golang.org/x/net/ipv6"
)

// errCannot says that a probe could not be sent from here.
var errCannot = errors.New("the probe could not be sent")

func cannot(err error) bool { return errors.Is(err, errCannot) }

// network probes the real one.
type network struct{}

var _ Prober = network{}

// Probe sends one probe and waits for its answer.
func (network) Probe(ctx context.Context, source netip.Addr, address string, way Way) error {
	to, err := lookUp(ctx, source, address)
	if err != nil {
		return err
	}
	if port, ok := strings.CutPrefix(string(way), "tcp:"); ok {
		return connect(ctx, source, net.JoinHostPort(to.String(), port))
	}
	return echo(ctx, source, to)
}

// connect opens a TCP connection and closes it. A refusal is an answer: the host's kernel gave it.
func connect(ctx context.Context, source netip.Addr, address string) error {
	var dialer net.Dialer
	if source.IsValid() {
		dialer.LocalAddr = &net.TCPAddr{IP: source.AsSlice(), Zone: source.Zone()}
	}
	conn, err := dialer.DialContext(ctx, "tcp", address)
	switch {
	case err == nil:
		return conn.Close()
	case errors.Is(err, syscall.ECONNREFUSED):
		return nil
	}
	return local(err)
}

// local marks the errors that are of this machine, not of the target: a source address that it does
// not have, no route, no right to send, no descriptor left, a name that nobody resolves.
func local(err error) error {
	var dns *net.DNSError
	for _, own := range []error{syscall.EADDRNOTAVAIL, syscall.ENETUNREACH, syscall.EACCES, syscall.EPERM, syscall.EMFILE, syscall.ENFILE, syscall.ENOBUFS, syscall.EAFNOSUPPORT} {
		if errors.Is(err, own) {
			return fmt.Errorf("%w: %w", errCannot, err)
		}
	}
	if errors.As(err, &dns) {
		return fmt.Errorf("%w: %w", errCannot, err)
	}
	return err
}

// lookUp returns an address of the host of the source's family.
func lookUp(ctx context.Context, source netip.Addr, host string) (netip.Addr, error) {
	if addr, err := netip.ParseAddr(host); err == nil {
		if addr = addr.Unmap(); source.IsValid() && source.Unmap().Is4() != addr.Is4() {
			return addr, fmt.Errorf("%w: found the source %s and the address %s, expected two of one family", errCannot, source, addr)
		}
		return addr, nil
	}
	family := "ip"
	if source.IsValid() {
		family = map[bool]string{true: "ip4", false: "ip6"}[source.Unmap().Is4()]
	}
	found, err := net.DefaultResolver.LookupNetIP(ctx, family, host)
	if err != nil {
		return netip.Addr{}, local(err)
	}
	return found[0].Unmap(), nil
}

// echo sends one echo request and waits for the reply that carries the same secret.
func echo(ctx context.Context, source, to netip.Addr) error {
	conn, raw, err := listen(source, to)
	if err != nil {
		return local(err)
	}
	defer conn.Close()
	if deadline, ok := ctx.Deadline(); ok {
		if err := conn.SetDeadline(deadline); err != nil {
			return err
		}
	}
	// A canceled context ends the wait at once.
	stop := context.AfterFunc(ctx, func() { _ = conn.SetDeadline(time.Unix(1, 0)) })
	defer stop()
	token := make([]byte, 16)
	_, _ = rand.Read(token)
	ask := icmp.Message{Type: ipv4.ICMPTypeEcho, Body: &icmp.Echo{ID: int(binary.BigEndian.Uint16(token)), Seq: 1, Data: token}}
	if to.Is6() {
		ask.Type = ipv6.ICMPTypeEchoRequest
	}
	packet, err := ask.Marshal(nil)
	if err != nil {
		return err
	}
	if _, err := conn.WriteTo(packet, peer(to, raw)); err != nil {
		return local(err)
	}
	return await(conn, to, token)
}

// listen opens a socket for echo requests: the kernel's own for everybody, where it allows that
// (net.ipv4.ping_group_range), else a raw one.
func listen(source, to netip.Addr) (*icmp.PacketConn, bool, error) {
	ping, raw, from := "udp4", "ip4:icmp", "0.0.0.0"
	if to.Is6() {
		ping, raw, from = "udp6", "ip6:ipv6-icmp", "::"
	}
	if source.IsValid() {
		from = source.String()
	}
	conn, err := icmp.ListenPacket(ping, from)
	if err == nil {
		return conn, false, nil
	}
	if conn, rawErr := icmp.ListenPacket(raw, from); rawErr == nil {
		return conn, true, nil
	}
	if errors.Is(err, os.ErrPermission) {
		err = fmt.Errorf("%w: allow it by net.ipv4.ping_group_range or CAP_NET_RAW", err)
	}
	return nil, false, err
}

func peer(to netip.Addr, raw bool) net.Addr {
	if raw {
		return &net.IPAddr{IP: to.AsSlice(), Zone: to.Zone()}
	}
	return &net.UDPAddr{IP: to.AsSlice(), Zone: to.Zone()}
}

// await reads until the reply with the token comes. Others' replies come to a raw socket too.
func await(conn *icmp.PacketConn, to netip.Addr, token []byte) error {
	protocol := 1 // of ICMP, and 58 of ICMPv6, as the IANA numbers them
	if to.Is6() {
		protocol = 58
	}
	buf := make([]byte, 1500)
	for {
		n, _, err := conn.ReadFrom(buf)
		if err != nil {
			return err
		}
		m, err := icmp.ParseMessage(protocol, buf[:n])
		if err != nil || m.Type != ipv4.ICMPTypeEchoReply && m.Type != ipv6.ICMPTypeEchoReply {
			continue
		}
		if reply, ok := m.Body.(*icmp.Echo); ok && string(reply.Data) == string(token) {
			return nil
		}
	}
}
