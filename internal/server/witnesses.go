package server

import (
	"cmp"
	"context"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/leasewatch/leasewatch/internal/witness"
)

// Witnesses says how hosts are looked at from outside, by probes and by their BMCs.
type Witnesses struct {
	// Interval is the distance of two looks. Each witness of an installation has the same.
	Interval Duration `yaml:"interval"`
	// Ways are how a path probes: icmp, or tcp:PORT.
	Ways []string `yaml:"ways"`
	// Paths are this server's ways through the network; none where it probes nothing.
	Paths []WitnessPath `yaml:"paths"`
	// BMC are the accounts by which BMCs are asked; none where they are not.
	BMC []WitnessBMC `yaml:"bmc"`
}

// WitnessPath is one way through the network.
type WitnessPath struct {
	Name string `yaml:"name"`
	// Source is the address of this machine that probes leave from; empty for any.
	Source string `yaml:"source"`
	// Reference answers whenever the path works: ADDRESS for a ping, ADDRESS:PORT for a port.
	Reference string `yaml:"reference"`
}

// WitnessBMC is an account by which the BMCs of a site are asked.
type WitnessBMC struct {
	Site         string `yaml:"site"` // empty for every site
	User         string `yaml:"user"`
	PasswordFile string `yaml:"password_file"`
	// Session asks with a session instead of the password each time.
	Session bool `yaml:"session"`
	// CAFile holds the authorities that may have signed the BMCs' certificates.
	CAFile             string `yaml:"ca_file"`
	InsecureSkipVerify bool   `yaml:"insecure_skip_verify"`
}

// Bounds of Witnesses.Interval: a look takes some seconds, and a reading counts for two intervals
// and at most a minute.
const (
	witnessEveryLeast = 5 * time.Second
	witnessEveryMost  = 30 * time.Second
)

// pathName is the form of a path's name: it is a label of series.
var pathName = regexp.MustCompile(`^[a-z0-9][a-z0-9-]*$`)

func (c *checker) witnesses() {
	w := c.config.Witnesses
	if every := time.Duration(w.Interval); every < witnessEveryLeast || every > witnessEveryMost {
		c.bad("witnesses.interval", w.Interval, "5s to 30s: a reading counts for two intervals, and none older than a minute is shown as live")
	}
	if len(w.Ways) == 0 {
		c.bad("witnesses.ways", "nothing", "icmp, tcp:PORT, or both")
	}
	for i, way := range w.Ways {
		if !validWay(way) {
			c.bad(fmt.Sprintf("witnesses.ways[%d]", i), way, "icmp or tcp:PORT, such as tcp:22")
		}
	}
	names := map[string]bool{}
	for i, p := range w.Paths {
		field := fmt.Sprintf("witnesses.paths[%d]", i)
		if !pathName.MatchString(p.Name) {
			c.bad(field+".name", p.Name, "small letters, digits and dashes, such as office")
		}
		if names[p.Name] {
			c.bad(field+".name", p.Name, "another name than an earlier path's: two paths are told apart by it")
		}
		names[p.Name] = true
		if _, err := netip.ParseAddr(p.Source); p.Source != "" && err != nil {
			c.bad(field+".source", p.Source, "an address of this machine, such as 192.0.2.10, or nothing")
		}
		if p.Reference == "" {
			c.bad(field+".reference", "", "what answers whenever the path works, such as its gateway: while it does not, hosts that are silent are not taken for down")
		}
	}
	for i, b := range w.BMC {
		field := fmt.Sprintf("witnesses.bmc[%d]", i)
		if (b.User == "") != (b.PasswordFile == "") {
			c.bad(field, "one of user and password_file", "both or none")
		}
		if b.CAFile != "" && b.InsecureSkipVerify {
			c.bad(field, "ca_file and insecure_skip_verify", "one of them")
		}
	}
}

func validWay(way string) bool {
	port, tcp := strings.CutPrefix(way, "tcp:")
	if !tcp {
		return way == string(witness.ICMP)
	}
	n, err := strconv.Atoi(port)
	return err == nil && n > 0 && n < 65536
}

// bmcAccounts reads the secrets and authorities of the accounts.
func (c *Config) bmcAccounts(file string) ([]witness.Account, error) {
	var out []witness.Account
	var errs []error
	for i, b := range c.Witnesses.BMC {
		field := fmt.Sprintf("witnesses.bmc[%d].", i)
		password, err := c.secret(c.place(file, field+"password_file")+": "+field+"password_file", b.PasswordFile)
		errs = append(errs, err)
		account := witness.Account{Site: b.Site, User: b.User, Password: witness.Secret(password), Session: b.Session, InsecureSkipVerify: b.InsecureSkipVerify}
		if b.CAFile != "" {
			pem, err := os.ReadFile(c.path(b.CAFile))
			account.CAs = x509.NewCertPool()
			switch {
			case err != nil:
				errs = append(errs, fmt.Errorf("%s: %sca_file: expected a file of certificates that this user can read: %w", c.place(file, field+"ca_file"), field, err))
			case !account.CAs.AppendCertsFromPEM(pem):
				errs = append(errs, fmt.Errorf("%s: %sca_file: found no certificate in %s, expected PEM", c.place(file, field+"ca_file"), field, c.path(b.CAFile)))
			}
		}
		out = append(out, account)
	}
	return out, errors.Join(errs...)
}

// openWitnesses makes what looks at hosts, where the configuration says how.
func (a *App) openWitnesses(context.Context) error {
	cfg := a.config.Load()
	w := cfg.Witnesses
	if len(w.Paths)+len(w.BMC) == 0 {
		return nil
	}
	accounts, err := cfg.bmcAccounts(a.opts.ConfigFile)
	if err != nil {
		return err
	}
	o := witness.Options{
		Interval: time.Duration(w.Interval), BMCs: accounts, Targets: a.witnessed, Now: a.now, Log: a.log.With("room", "witness"),
	}
	for _, way := range w.Ways {
		o.Ways = append(o.Ways, witness.Way(way))
	}
	for _, p := range w.Paths {
		path := witness.Path{Name: p.Name, Reference: p.Reference}
		if p.Source != "" {
			if path.Source, err = netip.ParseAddr(p.Source); err != nil {
				return fmt.Errorf("witnesses: path %s: %w", p.Name, err)
			}
		}
		o.Paths = append(o.Paths, path)
	}
	a.witness = witness.New(o)
	return a.registry.Register(a.witness)
}

// witnessed are the hosts of the inventory as witnesses find them.
func (a *App) witnessed(ctx context.Context) ([]witness.Target, error) {
	hosts, err := a.ledger.Hosts(ctx)
	if err != nil {
		return nil, err
	}
	out := make([]witness.Target, 0, len(hosts))
	for _, h := range hosts {
		address := cmp.Or(h.Address, h.Name)
		if bare, _, err := net.SplitHostPort(address); err == nil {
			address = bare
		}
		out = append(out, witness.Target{Host: h.Name, Site: h.Site, Address: address, BMC: h.BMC})
	}
	slices.SortFunc(out, func(x, y witness.Target) int { return strings.Compare(x.Host, y.Host) })
	return out, nil
}

// witnessSeries are the series of witnesses. A host's own token writes none of them: the machine is
// rented, and its tenant would be the witness of its own outage.
func witnessSeries(name string) bool {
	return name == "host_probe_success" || name == "host_power_on" || strings.HasPrefix(name, "host_bmc_")
}
