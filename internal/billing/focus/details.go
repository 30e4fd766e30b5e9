package focus

import (
	"encoding/json"
	"strings"

	"github.com/leasewatch/leasewatch/internal/rental"
)

// details are what one unit of a price holds, wherever it is charged: one GPU where the price is a
// GPU's, of the class that the contract promises. How many an instance, a host or a lease has is no
// matter of the price, and what else is charged has none of the properties that FOCUS defines.
func (b Bill) details(l rental.BillLine) string {
	what, _, timed := strings.Cut(l.Unit, "-")
	if !timed || l.Name != "" || what != rental.UnitGPU && what != rental.UnitSlice {
		return ""
	}
	text, err := json.Marshal(struct {
		GpuCount       int
		InstanceSeries string `json:",omitempty"`
	}{1, b.Contract.SKU})
	if err != nil {
		return "" // a number and a text always marshal
	}
	return string(text)
}

// detailNames are the properties of a price that FOCUS defines, and whether each is a number. Of
// those that were renamed between 1.1 and 1.2 both names are known.
var detailNames = map[string]bool{
	"CoreCount": true, "DiskIops": true, "DiskMaxIops": true, "DiskSpace": true, "DiskType": false, "GpuCount": true,
	"InstanceType": false, "InstanceSeries": false, "MemorySize": true, "NetworkBandwidth": true, "NetworkIops": true,
	"NetworkMaxIops": true, "NetworkMaxThroughput": true, "OperatingSystem": false, "Redundancy": false, "StorageClass": false,
}

// checkDetails checks the properties of a price: each is one that FOCUS defines, of its type, or
// begins with x_; and all charges of one price have the same.
func (c *checker) checkDetails() {
	text := c.values["SkuPriceDetails"]
	if text == "" {
		return
	}
	var properties map[string]any
	if json.Unmarshal([]byte(text), &properties) != nil {
		return // checkValue has told it
	}
	for key, value := range properties {
		numeric, known := detailNames[key]
		_, isNumber := value.(float64)
		_, isText := value.(string)
		switch {
		case !known && !strings.HasPrefix(key, "x_"):
			c.fault("SkuPriceDetails", short(key), "a property that FOCUS defines, such as GpuCount, or one that begins with x_")
		case known && (numeric && !isNumber || !numeric && !isText):
			c.fault("SkuPriceDetails", short(text), map[bool]string{true: "a number", false: "text"}[numeric]+" under "+key)
		}
	}
	c.alike("SkuPriceDetails", text, "SkuPriceId", c.values["SkuPriceId"])
}
