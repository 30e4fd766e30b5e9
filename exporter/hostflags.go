package exporter

import (
	"regexp"
	"slices"
	"time"

	"github.com/alecthomas/kingpin/v2"

	"github.com/leasewatch/leasewatch/exporter/host"
)

// hostFlags say what of the machine around the GPUs is read, and from where.
type hostFlags struct {
	on, onSaid    bool
	sysfs, rootfs string
	mountsOff     *regexp.Regexp
	collectors    map[string]*bool

	kmsg, kmsgSaid      bool
	kmsgPath, kmsgSince string
}

func (h *hostFlags) register(app *kingpin.Application) {
	app.Flag("path.sysfs", "Where sysfs of the machine is mounted.").Default("/sys").StringVar(&h.sysfs)
	app.Flag("path.rootfs", "Where the root of the machine is mounted.").Default("/").StringVar(&h.rootfs)
	app.Flag("collector.host", "Read the machine around the GPUs; off for --source=replay unless asked for.").
		Default("true").IsSetByUser(&h.onSaid).BoolVar(&h.on)
	h.collectors = map[string]*bool{}
	for _, c := range host.Collectors() {
		h.collectors[c.Name] = app.Flag("collector."+c.Name, "Read "+c.About+".").Default("true").Bool()
	}
	app.Flag("collector.kmsg", "Read the kernel log for XIDs and for the NVSwitches' SXids; off for --source=replay unless asked for.").
		Default("true").IsSetByUser(&h.kmsgSaid).BoolVar(&h.kmsg)
	app.Flag("collector.kmsg.path", "The kernel log's device.").Default("/dev/kmsg").StringVar(&h.kmsgPath)
	app.Flag("collector.kmsg.since", "From when the kernel log counts: boot, as far as it goes back, or the exporter's start.").
		Default("boot").EnumVar(&h.kmsgSince, "boot", "start")
	app.Flag("collector.filesystem.mount-points-exclude", "Regular expression of mount points that are not asked.").
		Default(host.DefaultMountsOff).RegexpVar(&h.mountsOff)
}

// complete turns the collectors off where the GPUs are simulated: what this machine does says
// nothing about those.
func (h *hostFlags) complete(source string) {
	if source == "replay" {
		h.on = h.on && h.onSaid
		h.kmsg = h.kmsg && h.kmsgSaid
	}
}

// options are those of the reader; nil where the machine is not read. procfs is where the
// machine's is mounted, interval that of the fast tier.
func (h *hostFlags) options(procfs string, interval time.Duration) *host.Options {
	if !h.on {
		return nil
	}
	o := &host.Options{Proc: procfs, Sys: h.sysfs, Root: h.rootfs, MountsOff: h.mountsOff,
		Fast: interval, Slow: SlowEvery * interval, Identity: IdentityEvery * interval}
	for name, on := range h.collectors {
		if !*on {
			o.Off = append(o.Off, name)
		}
	}
	slices.Sort(o.Off)
	return o
}
