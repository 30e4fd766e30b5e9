package record

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"fmt"
	"reflect"
	"regexp"
	"strings"

	"github.com/leasewatch/leasewatch/exporter/gpu"
)

// plain are the fields that say what a thing is and not which one, or whose. Every other
// text becomes a pseudonym: a field that is added later is hidden until it is named here.
var plain = map[string]bool{
	"Driver.Call": true, "GPUs.Status.Call": true,
	"Driver.State": true, "Driver.Version": true, "Driver.CUDAVersion": true, "Driver.NVMLVersion": true,
	"GPUs.Identity.Name": true, "GPUs.Identity.Brand": true, "GPUs.Identity.Architecture": true, "GPUs.Identity.BoardPart": true,
	"GPUs.Identity.VBIOS": true, "GPUs.Identity.PCIAddress": true, "GPUs.Identity.MIGMode": true, "GPUs.Identity.ECCMode": true,
	"GPUs.Identity.Make.ComputeCapability": true, "GPUs.Identity.Make.PCIDevice": true, "GPUs.Identity.Make.PCISubsystem": true, "GPUs.Identity.Make.GSPFirmware": true,
	"GPUs.Identity.Make.InfoROMOEM": true, "GPUs.Identity.Make.InfoROMECC": true, "GPUs.Identity.Make.InfoROMPower": true,
	"GPU.Make.ComputeCapability": true, "GPU.Make.PCIDevice": true, "GPU.Make.PCISubsystem": true, "GPU.Make.GSPFirmware": true,
	"GPU.Make.InfoROMOEM": true, "GPU.Make.InfoROMECC": true, "GPU.Make.InfoROMPower": true,
	"GPUs.Instances.Profile": true, "GPUs.Instances.Placement": true,
	"GPUs.Status.State": true, "GPUs.Unsupported": true, "GPUs.Readings.Occupancy.Uses.Workload.Runtime": true,
	"GPUs.Allocation.Holders.Workload.Runtime": true, "GPUs.Instances.Readings.Occupancy.Uses.Workload.Runtime": true,
	"GPUs.Instances.Allocation.Holders.Workload.Runtime": true,
	"GPU.Name": true, "GPU.Brand": true, "GPU.Architecture": true, "GPU.BoardPart": true,
	"GPU.VBIOS": true, "GPU.PCIAddress": true, "GPU.MIGMode": true, "GPU.ECCMode": true, "From": true, "To": true,
	"SXID.Switch": true, "SXID.Severity": true,
	"Host.Kernel.Release": true, "Host.Kernel.Version": true, "Host.Kernel.Architecture": true, "Host.Kernel.OS": true,
	"Host.Hardware.Vendor": true, "Host.Hardware.Product": true, "Host.Hardware.Board": true, "Host.Hardware.BIOS": true,
	"Host.CPU.Model": true, "Host.Disks.Device": true, "Host.Filesystems.Type": true,
	"Host.Networks.Device": true,
	"Host.Links.Device":    true, "Host.Links.Driver": true, "Host.Links.PCIAddress": true, "Host.Links.NUMANode": true,
	"Host.InfiniBand.Device": true, "Host.InfiniBand.Board": true, "Host.InfiniBand.Firmware": true, "Host.InfiniBand.HCAType": true,
	"Host.InfiniBand.PCIAddress": true, "Host.InfiniBand.NUMANode": true, "Host.InfiniBand.Ports.Port": true,
	"Host.InfiniBand.Ports.LinkLayer": true, "Host.InfiniBand.Ports.State": true, "Host.InfiniBand.Ports.PhysicalState": true,
	"Host.PCIGPUs.PCIAddress": true, "Host.PCIGPUs.DeviceID": true, "Host.PCIGPUs.Driver": true, "Host.PCIGPUs.NUMANode": true,
}

// sentences are free texts: they stay, but for the names in them.
var sentences = map[string]bool{"Driver.Reason": true, "GPUs.Status.Reason": true, "Reason": true}

// redactor gives names their pseudonyms.
type redactor struct {
	key   []byte
	known map[string]string // name to pseudonym
}

func newRedactor() (*redactor, error) {
	key := make([]byte, 32)
	if _, err := rand.Read(key); err != nil {
		return nil, fmt.Errorf("making a key for the pseudonyms: %w", err)
	}
	return &redactor{key: key, known: map[string]string{}}, nil
}

// uuids are those of cards and MIG instances, wherever they stand.
var uuids = regexp.MustCompile(`\b(GPU|MIG)-[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}\b`)

// name returns the pseudonym of a name. A UUID stays a UUID, for others read it as one.
func (r *redactor) name(s string) string {
	if s == "" {
		return ""
	}
	if p, ok := r.known[s]; ok {
		return p
	}
	hash := hmac.New(sha256.New, r.key)
	hash.Write([]byte(s))
	sum := hash.Sum(nil)
	pseudonym := fmt.Sprintf("x%x", sum[:6])
	if m := uuids.FindString(s); m == s {
		pseudonym = fmt.Sprintf("%s-%x-%x-%x-%x-%x", s[:3], sum[:4], sum[4:6], sum[6:8], sum[8:10], sum[10:16])
	}
	r.known[s] = pseudonym
	return pseudonym
}

// sentence puts pseudonyms for the names that stand in a text.
func (r *redactor) sentence(s string) string {
	s = uuids.ReplaceAllStringFunc(s, r.name)
	for name, pseudonym := range r.known {
		if len(name) >= minName {
			s = strings.ReplaceAll(s, name, pseudonym)
		}
	}
	return s
}

// minName is the length from which a name is looked for in sentences: shorter ones would
// match parts of words.
const minName = 5

// line returns a redacted copy: snapshots are not ours to change.
func (r *redactor) line(l line) (line, error) {
	copied, err := l.clone()
	if err != nil {
		return line{}, err
	}
	for _, pass := range []func(path, s string) string{r.names, r.texts} { // names first: sentences hold them
		if copied.Snapshot != nil {
			apply(copied.Snapshot, pass)
		}
		if copied.Event != nil {
			apply(copied.Event, pass)
		}
	}
	return copied, nil
}

func (r *redactor) names(path, s string) string {
	if plain[path] || sentences[path] {
		return s
	}
	return r.name(s)
}

func (r *redactor) texts(path, s string) string {
	if sentences[path] {
		return r.sentence(s)
	}
	return s
}

// apply changes every text below, the elements of lists and the texts that may be absent too.
func apply(v any, change func(path, s string) string) {
	walk(reflect.ValueOf(v), "", func(path string, v reflect.Value) bool {
		if v.Kind() == reflect.String {
			v.SetString(change(path, v.String()))
			return false
		}
		if v.CanAddr() {
			if text, ok := v.Addr().Interface().(*gpu.Maybe[string]); ok {
				if s, there := text.Get(); there {
					*text = gpu.Some(change(path, s))
				}
				return false
			}
		}
		return true
	})
}
