package fakenvml

import "fmt"

// gpm lets a card answer what a busy H100's performance counters say, in the driver's units:
// percent and MiB per second, by the metric's id. i makes the numbers of each card its own.
func gpm(c Card, i int) {
	c.Set("gpm_supported", 1)
	f := float64(i)
	for id, v := range map[int]float64{
		1: 95 + f/2, 2: 80.5 + f, 3: 40 + f, 10: 55.25 + f, // graphics, SM, occupancy, DRAM
		5: 42.5 + f, 7: 42 + f, 8: 0, 6: 0, 9: 0.5, // tensor: any, HMMA, DMMA, DFMA, IMMA
		4: 12.5, 11: 0, 12: 6.25, 13: 1.5, // integer, FP64, FP32, FP16
		20: 512 + f, 21: 1024 + f, 60: 204800 + f, 61: 102400 + f, // PCIe and NVLink, each sent and received
	} {
		c.GPM(id, v)
	}
	for unit := range 7 {
		c.GPM(30+unit, 0).GPM(40+unit, 0) // decoders and JPEG engines
	}
	c.GPM(50, 0) // the optical flow accelerator
}

// GPM sets one metric of the performance counters by its id, in the driver's unit; it may be NaN.
func (c Card) GPM(id int, v float64) Card { return c.Set(fmt.Sprintf("gpm.%d", id), v) }
