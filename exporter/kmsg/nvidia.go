package kmsg

import (
	"bytes"
	"regexp"
	"strconv"
	"strings"

	"github.com/leasewatch/leasewatch/exporter/gpu"
)

// xidLine is how NVIDIA's driver tells an XID. The address stands right after the opening
// bracket, with "PCI:" before it but in very old drivers; on MIG the instance follows it. What
// follows the code (process, detail) is text for people, and names what a tenant runs: it is
// not read.
var xidLine = regexp.MustCompile(`^NVRM: Xid \(((?:PCI:)?[0-9A-Fa-f:.]+)(?: [^()]*)?\): (\d+)(?:,|$)`)

// sxidLine is how the driver of the NVSwitches tells an SXid. The word after the code tells
// whether it is a new one.
var sxidLine = regexp.MustCompile(`^nvidia-nvswitch\d+: SXid \((?:PCI:)?([0-9A-Fa-f:.]+)\): (\d+), ([A-Za-z-]+)`)

// The prefixes keep the expressions away from the lines of everybody else.
var (
	xidPrefix  = []byte("NVRM: Xid (")
	sxidPrefix = []byte("nvidia-nvswitch")
)

// xid is an XID as the log tells it: the card's address in the log's own spelling.
type xid struct {
	address string
	code    uint64
}

// parseXID reads a message; ok is false for any other message.
func parseXID(message []byte) (x xid, ok bool) {
	if !bytes.HasPrefix(message, xidPrefix) {
		return xid{}, false
	}
	parts := xidLine.FindSubmatch(message)
	if parts == nil {
		return xid{}, false
	}
	code, err := strconv.ParseUint(string(parts[2]), 10, 32)
	if err != nil {
		return xid{}, false
	}
	return xid{address: string(parts[1]), code: code}, true
}

// parseSXID reads a message; ok is false for any other message, and for the further lines
// ("Severity", "Data") about an SXid that was told before.
func parseSXID(message []byte) (key gpu.SXID, ok bool) {
	if !bytes.HasPrefix(message, sxidPrefix) {
		return gpu.SXID{}, false
	}
	parts := sxidLine.FindSubmatch(message)
	if parts == nil {
		return gpu.SXID{}, false
	}
	code, err := strconv.ParseUint(string(parts[2]), 10, 32)
	if err != nil {
		return gpu.SXID{}, false
	}
	key = gpu.SXID{Switch: strings.ToLower(string(parts[1])), Code: code}
	switch strings.ToLower(string(parts[3])) {
	case "severity", "data":
		return gpu.SXID{}, false
	case "fatal":
		key.Severity = gpu.SXIDFatal
	case "non-fatal":
		key.Severity = gpu.SXIDNonFatal
	default:
		key.Severity = gpu.SXIDUnknown
	}
	return key, true
}
