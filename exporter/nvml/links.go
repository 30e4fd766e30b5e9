//go:build linux && cgo

package nvml

import (
	"strconv"

	"github.com/NVIDIA/go-nvml/pkg/nvml"

	"github.com/leasewatch/leasewatch/exporter/gpu"
)

const (
	linkStateCall  = "nvmlDeviceGetNvLinkState"
	linkErrorsCall = "nvmlDeviceGetNvLinkErrorCounter"
)

// linkTotals are the NVLink error counters of the whole card until Hopper, and the getter's
// counter of the same by link.
var linkTotals = []struct {
	kind    string
	field   uint32
	counter nvml.NvLinkErrorCounter
}{
	{"crc_flit", nvml.FI_DEV_NVLINK_CRC_FLIT_ERROR_COUNT_TOTAL, nvml.NVLINK_ERROR_DL_CRC_FLIT},
	{"crc_data", nvml.FI_DEV_NVLINK_CRC_DATA_ERROR_COUNT_TOTAL, nvml.NVLINK_ERROR_DL_CRC_DATA},
	{"replay", nvml.FI_DEV_NVLINK_REPLAY_ERROR_COUNT_TOTAL, nvml.NVLINK_ERROR_DL_REPLAY},
	{"recovery", nvml.FI_DEV_NVLINK_RECOVERY_ERROR_COUNT_TOTAL, nvml.NVLINK_ERROR_DL_RECOVERY},
	{"ecc_data", nvml.FI_DEV_NVLINK_ECC_DATA_ERROR_COUNT_TOTAL, nvml.NVLINK_ERROR_DL_ECC_DATA},
}

func linkErrors(r *gpu.Readings) map[string]float64 { return r.NVLinkErrors }

// totalFields are linkTotals as fields, with the links' speed.
func totalFields() []field {
	fields := []field{
		{id: nvml.FI_DEV_NVLINK_SPEED_MBPS_COMMON, low: 1, high: 1e9, scale: 1e6, put: reading(func(r *gpu.Readings) *gpu.Maybe[float64] { return &r.NVLink.SpeedBytesPerSec })},
	}
	for _, t := range linkTotals {
		fields = append(fields, field{id: t.field, high: maxCount, scale: 1, put: into(linkErrors, t.kind)})
	}
	return fields
}

// linkField is a counter that each link has, told by its scope.
type linkField struct {
	id   uint32
	kind string // of error; "tx" and "rx" are bytes
	// sums marks a counter whose sum over the links is the card's only one (since Blackwell).
	sums bool
}

var linkFields = []linkField{
	{nvml.FI_DEV_NVLINK_ERROR_DL_REPLAY, "replay", false},
	{nvml.FI_DEV_NVLINK_ERROR_DL_RECOVERY, "recovery", false},
	{nvml.FI_DEV_NVLINK_ERROR_DL_CRC, "crc", false},
	{nvml.FI_DEV_NVLINK_COUNT_MALFORMED_PACKET_ERRORS, "malformed_packet", true},
	{nvml.FI_DEV_NVLINK_COUNT_BUFFER_OVERRUN_ERRORS, "buffer_overrun", true},
	{nvml.FI_DEV_NVLINK_COUNT_RCV_ERRORS, "receive", true},
	{nvml.FI_DEV_NVLINK_COUNT_RCV_REMOTE_ERRORS, "receive_remote", true},
	{nvml.FI_DEV_NVLINK_COUNT_RCV_GENERAL_ERRORS, "receive_general", true},
	{nvml.FI_DEV_NVLINK_COUNT_LOCAL_LINK_INTEGRITY_ERRORS, "link_integrity", true},
	{nvml.FI_DEV_NVLINK_COUNT_XMIT_DISCARDS, "transmit_discard", true},
	{nvml.FI_DEV_NVLINK_COUNT_LINK_RECOVERY_SUCCESSFUL_EVENTS, "recovery_succeeded", true},
	{nvml.FI_DEV_NVLINK_COUNT_LINK_RECOVERY_FAILED_EVENTS, "recovery_failed", true},
	{nvml.FI_DEV_NVLINK_COUNT_LINK_RECOVERY_EVENTS, "recovery", true},
	{nvml.FI_DEV_NVLINK_COUNT_EFFECTIVE_ERRORS, "effective", true},
	{nvml.FI_DEV_NVLINK_COUNT_SYMBOL_ERRORS, "symbol", true},
	{nvml.FI_DEV_NVLINK_COUNT_XMIT_BYTES, "tx", true},
	{nvml.FI_DEV_NVLINK_COUNT_RCV_BYTES, "rx", true},
}

func (f linkField) isBytes() bool { return f.kind == "tx" || f.kind == "rx" }

// linkPlan is what a card tells of its links.
type linkPlan struct {
	count  gpu.Maybe[float64]
	totals *batch
	fields []linkField // those that the card answers
}

// planLinks finds out how many links there are and which counters they have.
func planLinks(c *caller, d device) linkPlan {
	const countID = nvml.FI_DEV_NVLINK_LINK_COUNT
	plan := linkPlan{totals: batchOf(totalFields())}
	if n, ok := probe(c, d, scopeGPU, countID)[countID]; ok {
		plan.count = c.within(fieldKey(countID, scopeGPU), n.v, 0, nvml.NVLINK_MAX_LINKS)
	}
	n, ok := plan.count.Get()
	if !ok || n == 0 {
		return plan // one call more would only be refused
	}
	ids := make([]uint32, len(linkFields))
	for i, f := range linkFields {
		ids[i] = f.id
	}
	found := probe(c, d, uint32(firstUp(c, d, int(n))), ids...)
	for _, f := range linkFields {
		if _, answered := found[f.id]; answered {
			plan.fields = append(plan.fields, f)
		}
	}
	return plan
}

// firstUp returns the first link that is up, for one that is down may not answer; 0 if none is.
func firstUp(c *caller, d device, links int) int {
	for link := range links {
		state, ok := keyed(c, linkStateCall, linkStateKey(link), with(d.GetNvLinkState, link))
		if ok && state == nvml.FEATURE_ENABLED {
			return link
		}
	}
	return 0
}

func linkStateKey(link int) string { return linkStateCall + "(" + strconv.Itoa(link) + ")" }

func readLinks(c *caller, d device, f *fixed, r *gpu.Readings) {
	expected := readLinkStates(c, d, f.links.count, r)
	if expected == 0 {
		return
	}
	up := 0
	for _, link := range r.NVLink.Links {
		if link.Up {
			up++
		}
	}
	r.NVLinkActive, r.NVLinkExpected = gpu.Some(float64(up)), gpu.Some(expected)
	r.NVLinkErrors = map[string]float64{}
	f.links.totals.read(c, d, r)
	for _, t := range linkTotals {
		if !f.links.totals.asks(t.field) {
			put(r.NVLinkErrors, t.kind, sumOfLinks(c, d, t.kind, t.counter, r.NVLink.Links))
		}
	}
	readLinkFields(c, d, f.links.fields, r)
}

// readLinkStates reads which links are up, and returns how many there are.
func readLinkStates(c *caller, d device, count gpu.Maybe[float64], r *gpu.Readings) float64 {
	links, counted := count.Get()
	if !counted {
		links = nvml.NVLINK_MAX_LINKS // ask until the card says that there is no such link
	}
	for link := range int(links) {
		key := linkStateKey(link)
		state, ok := keyed(c, linkStateCall, key, with(d.GetNvLinkState, link))
		if !ok && !counted && c.unsupported[key] {
			break
		}
		if ok {
			r.NVLink.Links = append(r.NVLink.Links, gpu.NVLink{Number: link, Up: state == nvml.FEATURE_ENABLED})
		}
	}
	if there := float64(len(r.NVLink.Links)); !counted || there == 0 {
		return there
	}
	return links
}

// sumOfLinks adds a counter of all links; if one link does not tell, there is no sum.
func sumOfLinks(c *caller, d device, kind string, counter nvml.NvLinkErrorCounter, links []gpu.NVLink) gpu.Maybe[float64] {
	sum := 0.0
	for _, link := range links {
		count := keyedNumber(c, linkErrorsCall, linkErrorsCall+"("+kind+")", func() (uint64, nvml.Return) {
			return d.GetNvLinkErrorCounter(link.Number, counter)
		}, 0, maxCount, 1)
		n, ok := count.Get()
		if !ok {
			return gpu.Maybe[float64]{}
		}
		sum += n
	}
	return gpu.Some(sum)
}

// readLinkFields reads the counters of each link, in one call for each, and the sums that the
// card has not itself. A link that is down may not answer; then there are no sums: a sum that
// leaves a link out would go back.
func readLinkFields(c *caller, d device, fields []linkField, r *gpu.Readings) {
	if len(fields) == 0 {
		return
	}
	values := make([]nvml.FieldValue, len(fields))
	sums, answers := make([]float64, len(fields)), make([]int, len(fields))
	for i := range r.NVLink.Links {
		link := &r.NVLink.Links[i]
		for j, f := range fields {
			values[j] = unanswered(f.id, uint32(link.Number))
		}
		if !askFields(c, d, values) {
			return
		}
		for j, f := range fields {
			n, ok := linkValue(c, f, link, values[j]).Get()
			if !ok {
				continue
			}
			sums[j] += n
			answers[j]++
			if n > 0 && !f.isBytes() {
				if link.Errors == nil {
					link.Errors = map[string]float64{}
				}
				link.Errors[f.kind] = n
			}
		}
	}
	for j, f := range fields {
		switch complete := answers[j] == len(r.NVLink.Links); {
		case !complete || !f.sums:
		case f.isBytes():
			if r.NVLink.BytesTotal == nil {
				r.NVLink.BytesTotal = map[string]float64{}
			}
			r.NVLink.BytesTotal[f.kind] = sums[j]
		default:
			r.NVLinkErrors[f.kind] = sums[j]
		}
	}
}

// linkValue judges one link's answer. That a link which is down does not answer says nothing.
func linkValue(c *caller, f linkField, link *gpu.NVLink, value nvml.FieldValue) gpu.Maybe[float64] {
	if !link.Up && judge(nvml.Return(value.NvmlReturn)) != fine {
		return gpu.Maybe[float64]{}
	}
	key := fieldKey(f.id, scopeGPU)
	v, said := judgeField(c, key, value)
	if said != fine {
		return gpu.Maybe[float64]{}
	}
	return c.within(key, v.v, 0, maxCount)
}
