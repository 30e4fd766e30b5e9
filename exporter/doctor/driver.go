package doctor

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/leasewatch/leasewatch/exporter/catalog"
	"github.com/leasewatch/leasewatch/exporter/gpu"
)

// driverRemedies say what to do about a driver that does not answer.
var driverRemedies = map[gpu.DriverState]string{
	gpu.DriverNoLibrary: "install the NVIDIA driver, or give --nvml.library; in a container, let the NVIDIA runtime add the driver " +
		"(--gpus all, or NVIDIA_VISIBLE_DEVICES=all) with the capability utility",
	gpu.DriverNotLoaded:  "load the kernel module (modprobe nvidia) and read dmesg for NVRM lines; the exporter finds the driver by itself once it is there",
	gpu.DriverMismatch:   "reboot, or stop what uses the GPUs and reload the nvidia modules: library and kernel module must be of one version. A running exporter holds the module while it asks GPUs: stop it before rmmod. In a container, make it anew, for it has the old library mounted",
	gpu.DriverInitFailed: "read dmesg for NVRM lines; in a container, start it anew: a reload of the host's service manager can take its devices away",
}

// Driver judges the way to the driver and what the GPUs answered. waited is how long the
// first round was given.
func Driver(s *gpu.Snapshot, waited time.Duration) []Finding {
	d := s.Driver
	if s.At.IsZero() {
		return []Finding{ok("driver", "did not answer within %s", waited).but(Fail,
			"a call into the driver hangs: read dmesg for NVRM lines, and see whether nvidia-smi hangs too; a reboot may be the only way")}
	}
	if d.State != gpu.DriverOK {
		found := strings.ReplaceAll(string(d.State), "_", " ")
		if d.Reason != "" {
			found += ": " + d.Reason
		}
		return []Finding{ok("driver", "%s", found).but(Fail, driverRemedies[d.State])}
	}
	findings := []Finding{ok("driver", "%s, library %s, CUDA up to %s", orUnknown(d.Version), orUnknown(d.NVMLVersion), orUnknown(d.CUDAVersion))}
	if len(s.GPUs) == 0 && d.Listed == 0 {
		return append(findings, ok("gpus", "the driver lists none").but(Fail,
			"see the finding on the bus; in a container, give it the GPUs (--gpus all)"))
	}
	return slices.Concat(findings, states(s, waited), persistence(s), calls(s))
}

func orUnknown(s string) string {
	if s == "" {
		return "unknown"
	}
	return s
}

// stateRemedies say what to do about a GPU that is not ok.
var stateRemedies = map[gpu.State]string{
	gpu.Lost:             "the card is off the bus: see the runbook gpu-lost",
	gpu.ResetRequired:    "drain and reset it: see the runbook gpu-reset-required",
	gpu.Unresponsive:     "a driver call hangs: see the runbook gpu-unusable; before a reset the exporter must be stopped, release cannot end the call",
	gpu.DriverDown:       "see the finding on the driver",
	gpu.FabricIncomplete: "see that nv-fabricmanager runs and has the driver's version",
	gpu.Unknown:          "the driver refuses without a reason: in a container start it anew, else read dmesg for NVRM lines",
}

// states says which GPUs answer, and what the others say.
func states(s *gpu.Snapshot, waited time.Duration) []Finding {
	var findings []Finding
	models := map[string]int{}
	fine := 0
	for i := range s.GPUs {
		g := &s.GPUs[i]
		switch g.Status.State {
		case gpu.OK:
			fine++
			models[g.Identity.Name]++
		case gpu.Released:
			findings = append(findings, ok("gpus", "%s is released by policy and not asked", name(g)).but(Note, ""))
		case gpu.Unknown:
			found := fmt.Sprintf("%s: %s", name(g), g.Status.Reason)
			if g.Readings.At.IsZero() && !catalog.Answers(g.Status.State) {
				found += fmt.Sprintf(" (waited %s)", waited)
			}
			findings = append(findings, ok("gpus", "%s", found).but(Warn, stateRemedies[gpu.Unknown]))
		default:
			findings = append(findings, ok("gpus", "%s is %s: %s", name(g), g.Status.State, g.Status.Reason).but(Warn, stateRemedies[g.Status.State]))
		}
	}
	head := ok("gpus", "%d of %d answer%s", fine, max(len(s.GPUs), s.Driver.Listed), inventory(models))
	if fine == 0 {
		head.Level = Fail
	}
	if silent := s.Driver.Listed - len(s.GPUs); silent > 0 {
		findings = append(findings, ok("gpus", "%d of the %d that the driver lists did not say which they are within %s", silent, s.Driver.Listed, waited).but(Warn, stateRemedies[gpu.Unresponsive]))
	}
	return slices.Insert(findings, 0, head)
}

// inventory lists the models, "" for none.
func inventory(models map[string]int) string {
	var parts []string
	for model, n := range models {
		parts = append(parts, fmt.Sprintf("%d x %s", n, orUnknown(model)))
	}
	if len(parts) == 0 {
		return ""
	}
	slices.Sort(parts)
	return ": " + strings.Join(parts, ", ")
}

func name(g *gpu.GPU) string {
	return fmt.Sprintf("GPU %d (%s)", g.Identity.Index, orUnknown(g.Identity.UUID))
}

// persistence says where the driver unloads without clients.
func persistence(s *gpu.Snapshot) []Finding {
	var off []string
	told := 0
	for i := range s.GPUs {
		if on, tells := s.GPUs[i].Readings.Persistence.Get(); tells {
			told++
			if !on {
				off = append(off, strconv.Itoa(s.GPUs[i].Identity.Index))
			}
		}
	}
	switch {
	case told == 0:
		return nil
	case len(off) == 0:
		return []Finding{ok("persistence", "on")}
	default:
		return []Finding{ok("persistence", "off on GPU %s: without clients the driver unloads, and its volatile counters begin anew", strings.Join(off, ", ")).but(Warn,
			"run nvidia-persistenced as a service")}
	}
}

// calls says what the cards do not answer.
func calls(s *gpu.Snapshot) []Finding {
	cards := map[string]int{}
	dropped := map[string]uint64{}
	asked := 0
	for i := range s.GPUs {
		if !catalog.Answers(s.GPUs[i].Status.State) {
			continue
		}
		asked++
		for _, call := range s.GPUs[i].Unsupported {
			cards[call]++
		}
		for call, n := range s.GPUs[i].Dropped {
			dropped[call] += n
		}
	}
	byCount := map[int][]string{}
	for call, n := range cards {
		byCount[n] = append(byCount[n], call)
	}
	var findings []Finding
	for n := asked; n > 0; n-- {
		if names := byCount[n]; len(names) > 0 {
			findings = append(findings, ok("calls", "%d of %d GPUs do not answer %s: those readings are absent", n, asked, byFunction(names)).but(Note, ""))
		}
	}
	if len(dropped) > 0 {
		findings = append(findings, ok("calls", "impossible answers were dropped from %s", byFunction(slices.Collect(maps.Keys(dropped)))).but(Note,
			"nothing, unless it goes on: leasewatch_exporter_dropped_readings_total counts them"))
	}
	if asked > 0 && len(findings) == 0 {
		findings = append(findings, ok("calls", "every call is answered"))
	}
	return findings
}

// byFunction lists calls, those of one function together: f(1), f(2), g become f(1, 2), g.
func byFunction(calls []string) string {
	arguments := map[string][]string{}
	for _, call := range calls {
		function, rest, _ := strings.Cut(call, "(")
		arguments[function] = append(arguments[function], strings.TrimSuffix(rest, ")"))
	}
	var parts []string
	for _, function := range slices.Sorted(maps.Keys(arguments)) {
		of := slices.DeleteFunc(arguments[function], func(a string) bool { return a == "" })
		slices.SortFunc(of, func(a, b string) int { return cmp.Or(cmp.Compare(len(a), len(b)), cmp.Compare(a, b)) })
		if len(of) > 0 {
			function += "(" + strings.Join(of, ", ") + ")"
		}
		parts = append(parts, function)
	}
	return strings.Join(parts, ", ")
}
