//go:build linux && cgo

package nvml

/*
#cgo LDFLAGS: -Wl,--unresolved-symbols=ignore-in-object-files
#include <stdlib.h>

enum { GPM_METRICS = 512 };

// nvmlGpmMetric_t and nvmlGpmMetricsGet_t of nvml.h, version 1, which no driver has changed.
struct gpm_metric {
	unsigned int id, ret;
	double value;
	char *names[3];
};
struct gpm_request {
	unsigned int version, count;
	void *older, *newest;
	struct gpm_metric metrics[GPM_METRICS];
};

unsigned int nvmlGpmMetricsGet(struct gpm_request *request);
*/
import "C"

import (
	"reflect"

	"github.com/NVIDIA/go-nvml/pkg/nvml"
)

// gpmRequest asks for the metrics between two samples. go-nvml does so too, but makes and
// copies the 19 kB of the request four times for each call: of 112 MIG devices that was
// 4.5 MB at each round, and half of what the whole exporter cost. This one is made once, in
// memory of C, and used under the gate.
type gpmRequest struct{ c *C.struct_gpm_request }

var _ gpmMetrics = gpmRequest{}

// newGPMRequest makes a request. It is as old as the process gets: there is one for a Reader.
func newGPMRequest() gpmRequest {
	c := (*C.struct_gpm_request)(C.calloc(1, C.sizeof_struct_gpm_request))
	if c == nil {
		panic("no memory for a request of 20 kB")
	}
	c.version = nvml.GPM_METRICS_GET_VERSION
	return gpmRequest{c}
}

func (r gpmRequest) between(older, newest nvml.GpmSample, metrics []*gpmMetric) nvml.Return {
	r.c.count = C.uint(len(metrics))
	// A sample is the library's pointer in a struct of its own.
	r.c.older = reflect.ValueOf(older).Field(0).UnsafePointer()
	r.c.newest = reflect.ValueOf(newest).Field(0).UnsafePointer()
	for i, m := range metrics {
		r.c.metrics[i] = C.struct_gpm_metric{id: C.uint(m.id)}
	}
	return nvml.Return(C.nvmlGpmMetricsGet(r.c))
}

func (r gpmRequest) answer(i int) (nvml.Return, float64) {
	return nvml.Return(r.c.metrics[i].ret), float64(r.c.metrics[i].value)
}
