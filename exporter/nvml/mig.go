//go:build linux && cgo

package nvml

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/NVIDIA/go-nvml/pkg/nvml"

	"github.com/leasewatch/leasewatch/exporter/gpu"
)

// The calls of MIG, and the keys of those that a card answers too: what one does not support
// the other may.
const (
	migModeCall       = "nvmlDeviceGetMigMode"
	migCountCall      = "nvmlDeviceGetMaxMigDeviceCount"
	migHandleCall     = "nvmlDeviceGetMigDeviceHandleByIndex"
	migGPUCall        = "nvmlDeviceGetGpuInstanceId"
	migComputeCall    = "nvmlDeviceGetComputeInstanceId"
	migAttributesCall = "nvmlDeviceGetAttributes"
	migPlacementCall  = "nvmlDeviceGetGpuInstanceById"
	migInfoCall       = "nvmlGpuInstanceGetInfo"
	migGPMCall        = "nvmlGpmMigSampleGet"

	migUUIDKey    = "nvmlDeviceGetUUID(mig)"
	migNameKey    = "nvmlDeviceGetName(mig)"
	migMemoryKey  = "nvmlDeviceGetMemoryInfo(mig)"
	migMemory2Key = "nvmlDeviceGetMemoryInfo_v2(mig)"
)

// maxInstances is far more than any card can be cut into.
const maxInstances = 64

// migReader reads the MIG devices of one slot's card.
type migReader struct {
	on     bool // MIG is on, as of the last time that the card said
	places int  // how many MIG devices there can be
	known  map[string]*migInstance
}

// migInstance is a MIG device whose identity was read, and the window of its counters.
type migInstance struct {
	gpu.Instance
	window gpmWindow
}

// switched asks whether MIG is on and tells whether that is news. A reading that the card
// refused with MIG off, or on, it may give now.
func (m *migReader) switched(c *caller, d device) bool {
	mode, ok := value(c, migModeCall, func() (int, nvml.Return) {
		current, _, ret := d.GetMigMode()
		return current, ret
	})
	if !ok || (mode == nvml.DEVICE_MIG_ENABLE) == m.on {
		return false
	}
	m.on = !m.on
	return true
}

// read lists the MIG devices of a card, with their memory. Handles are fetched at each round,
// because the driver gives an old one to a new device, and each says its uuid: figures of one
// tenant must not come to stand under the name of another. The rest of an identity is read
// when a uuid is new, and anew with each full round: an instance that is cut once more in the
// same place has the uuid that it had before, whatever its size.
func (m *migReader) read(c *caller, d device, card string, total gpu.Maybe[float64], full bool) (found []*migInstance) {
	if !m.on {
		return nil
	}
	if full || m.places == 0 {
		m.places = 0
		if n, ok := number(c, migCountCall, d.GetMaxMigDeviceCount, 0, maxInstances, 1).Get(); ok {
			m.places = int(n)
		}
	}
	for place := range m.places {
		handle, there := instanceHandle(c, d, place)
		if !there {
			continue
		}
		uuid, ok := ofInstance(c, "nvmlDeviceGetUUID", migUUIDKey, handle.GetUUID)
		uuid = clean(uuid)
		if !ok {
			continue
		}
		if uuid == "" || uuid == card || slices.ContainsFunc(found, func(i *migInstance) bool { return i.UUID == uuid }) {
			c.drop(migUUIDKey) // a name for two is a name for none
			continue
		}
		i := m.known[uuid]
		if i == nil {
			i = &migInstance{}
		}
		if full || i.UUID == "" {
			if !identify(c, d, handle, uuid, total, i) {
				continue
			}
		}
		i.Readings = instanceMemory(c, handle)
		found = append(found, i)
	}
	slices.SortFunc(found, func(a, b *migInstance) int {
		return cmp.Or(cmp.Compare(a.GPUInstance, b.GPUInstance), cmp.Compare(a.ComputeInstance, b.ComputeInstance))
	})
	return found
}

// keepInstances makes a round's MIG devices those of the slot, unless the round ended early:
// half a list is none.
func (s *slot) keepInstances(found []*migInstance) {
	if s.caller.ended {
		s.gpm.gone = append(s.gpm.gone, s.mig.strangers(found)...)
		return
	}
	s.gpm.gone = append(s.gpm.gone, s.mig.keep(found)...)
	s.instances = make([]gpu.Instance, len(found))
	for n, i := range found {
		s.instances[n] = i.Instance
	}
}

// keep remembers the MIG devices that were found and returns those that are gone.
func (m *migReader) keep(found []*migInstance) (gone []*migInstance) {
	now := make(map[string]*migInstance, len(found))
	for _, i := range found {
		now[i.UUID] = i
	}
	for uuid, i := range m.known {
		if now[uuid] != i {
			gone = append(gone, i)
		}
	}
	m.known = now
	return gone
}

// strangers returns those of the MIG devices that were not known before.
func (m *migReader) strangers(found []*migInstance) []*migInstance {
	return slices.DeleteFunc(found, func(i *migInstance) bool { return m.known[i.UUID] == i })
}

// instanceHandle fetches the handle of a place. That nobody is there is an answer, too.
func instanceHandle(c *caller, d device, place int) (handle nvml.Device, there bool) {
	c.ask(migHandleCall, migHandleCall, func() nvml.Return {
		h, ret := d.GetMigDeviceHandleByIndex(place)
		switch ret {
		case nvml.SUCCESS:
			handle, there = h, true
		case nvml.ERROR_NOT_FOUND, nvml.ERROR_INVALID_ARGUMENT:
			return nvml.SUCCESS
		}
		return ret
	})
	return handle, there
}

// ofInstance makes a call on a MIG device's handle. Such a handle is worth nothing from the
// moment that the device is destroyed; to hear so is a reading missed, no call unsupported.
func ofInstance[T any](c *caller, call, key string, f func() (T, nvml.Return)) (T, bool) {
	return keyed(c, call, key, func() (T, nvml.Return) {
		v, ret := f()
		if ret == nvml.ERROR_INVALID_ARGUMENT {
			ret = nvml.ERROR_NOT_FOUND
		}
		return v, ret
	})
}

// identify reads who a MIG device is. Without its ids it is nobody.
func identify(c *caller, d device, handle nvml.Device, uuid string, total gpu.Maybe[float64], i *migInstance) bool {
	instance, ok := ofInstance(c, migGPUCall, migGPUCall, handle.GetGpuInstanceId)
	if !ok {
		return false
	}
	compute, ok := ofInstance(c, migComputeCall, migComputeCall, handle.GetComputeInstanceId)
	if !ok {
		return false
	}
	fresh := gpu.Instance{UUID: uuid, GPUInstance: instance, ComputeInstance: compute, Placement: placement(c, d, instance)}
	attributes, known := ofInstance(c, migAttributesCall, migAttributesCall, handle.GetAttributes)
	if known {
		fresh.Multiprocessors = c.within(migAttributesCall, float64(attributes.MultiprocessorCount), 1, 1e4)
		fresh.GPUSlices = c.within(migAttributesCall, float64(attributes.GpuInstanceSliceCount), 1, maxInstances)
		fresh.ComputeSlices = c.within(migAttributesCall, float64(attributes.ComputeInstanceSliceCount), 1, maxInstances)
		fresh.Engines = map[string]float64{}
		for name, n := range map[string]uint32{
			"copy": attributes.SharedCopyEngineCount, "decoder": attributes.SharedDecoderCount, "encoder": attributes.SharedEncoderCount,
			"jpeg": attributes.SharedJpegCount, "ofa": attributes.SharedOfaCount,
		} {
			if n > 0 {
				put(fresh.Engines, name, c.within(migAttributesCall, float64(n), 0, 1e3))
			}
		}
	}
	if name, ok := ofInstance(c, "nvmlDeviceGetName", migNameKey, handle.GetName); ok {
		fresh.Profile = profileIn(clean(name))
	}
	if whole, ok := total.Get(); ok && known && fresh.Profile == "" {
		fresh.Profile = profileOf(attributes, whole)
	}
	if i.GPUInstance != fresh.GPUInstance || i.Profile != fresh.Profile || i.Placement != fresh.Placement {
		i.window.restart() // cut anew
	}
	i.Instance = fresh
	return true
}

// placement tells where a GPU instance lies. To ask may need the right to manage MIG.
func placement(c *caller, d device, id int) string {
	instance, ok := ofInstance(c, migPlacementCall, migPlacementCall, with(d.GetGpuInstanceById, id))
	if !ok {
		return ""
	}
	info, ok := ofInstance(c, migInfoCall, migInfoCall, instance.GetInfo)
	if !ok || info.Placement.Size == 0 || info.Placement.Size > maxInstances || info.Placement.Start > maxInstances {
		return ""
	}
	return fmt.Sprintf("%d:%d", info.Placement.Start, info.Placement.Size)
}

// profileIn finds the profile in a MIG device's name, "NVIDIA H100 80GB HBM3 MIG 1g.10gb".
func profileIn(name string) string {
	_, profile, _ := strings.Cut(name, " MIG ")
	return strings.TrimSpace(profile)
}

// profileOf names the profile of a MIG device whose driver does not. The memory in such a name
// is the instance's part of the card in eighths, of the card's whole gigabytes.
func profileOf(a nvml.DeviceAttributes, cardBytes float64) string {
	const gib, mib = 1 << 30, 1 << 20
	eighths := math.Ceil(float64(a.MemorySizeMB) * mib / cardBytes * 8)
	if a.GpuInstanceSliceCount == 0 || !(eighths >= 1 && eighths <= 8) {
		return "" // no part of this card
	}
	name := fmt.Sprintf("%dg.%.0fgb", a.GpuInstanceSliceCount, math.Round(eighths/8*math.Ceil(cardBytes/gib)))
	if a.ComputeInstanceSliceCount != a.GpuInstanceSliceCount {
		return fmt.Sprintf("%dc.%s", a.ComputeInstanceSliceCount, name)
	}
	return name
}

func instanceMemory(c *caller, handle nvml.Device) (r gpu.InstanceReadings) {
	if m, ok := ofInstance(c, "nvmlDeviceGetMemoryInfo_v2", migMemory2Key, handle.GetMemoryInfo_v2); ok {
		r.MemoryTotalBytes = c.within(migMemory2Key, float64(m.Total), 1, maxMemoryBytes)
		r.MemoryUsedBytes = c.within(migMemory2Key, float64(m.Used), 0, float64(m.Total))
		r.MemoryFreeBytes = c.within(migMemory2Key, float64(m.Free), 0, float64(m.Total))
		r.MemoryReservedBytes = c.within(migMemory2Key, float64(m.Reserved), 0, float64(m.Total))
		return r
	}
	if m, ok := ofInstance(c, "nvmlDeviceGetMemoryInfo", migMemoryKey, handle.GetMemoryInfo); ok {
		r.MemoryTotalBytes = c.within(migMemoryKey, float64(m.Total), 1, maxMemoryBytes)
		r.MemoryUsedBytes = c.within(migMemoryKey, float64(m.Used), 0, float64(m.Total))
		r.MemoryFreeBytes = c.within(migMemoryKey, float64(m.Free), 0, float64(m.Total))
	}
	return r
}

// whole tells whether a compute instance is all of its GPU instance, which is what the
// counters count.
func (i *migInstance) whole() bool {
	all, known := i.GPUSlices.Get()
	own, _ := i.ComputeSlices.Get()
	return known && all == own
}
