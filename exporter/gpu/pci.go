package gpu

import (
	"fmt"
	"regexp"
	"strconv"
)

// pciAddress takes the spellings of the kernel log (PCI:0000:1b:00), sysfs (0000:1b:00.0),
// nvidia-smi (00000000:1B:00.0) and lspci (1b:00.0).
var pciAddress = regexp.MustCompile(`^(?:PCI:)?(?:([0-9A-Fa-f]{4,8}):)?([0-9A-Fa-f]{2}):([0-9A-Fa-f]{2})(?:\.0)?$`)

// PCIAddress brings the address of a card into the one spelling that Identity has,
// "0000:1b:00.0", and tells whether the text is an address. A card is function 0 of its device.
func PCIAddress(text string) (string, bool) {
	parts := pciAddress.FindStringSubmatch(text)
	if parts == nil {
		return "", false
	}
	numbers := make([]uint64, len(parts)-1)
	for i, part := range parts[1:] {
		if part == "" {
			continue // no domain: 0
		}
		n, err := strconv.ParseUint(part, 16, 32)
		if err != nil {
			return "", false
		}
		numbers[i] = n
	}
	if numbers[2] > 0x1f { // five bits
		return "", false
	}
	return fmt.Sprintf("%04x:%02x:%02x.0", numbers[0], numbers[1], numbers[2]), true
}
