package doctor

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"testing"
)

func TestWhoUsesTheGPUsIsToldOrItIsSaidWhyNot(t *testing.T) {
	const socket = "/var/lib/kubelet/pod-resources/kubelet.sock"
	for name, test := range map[string]struct {
		findings []Finding
		level    Level
		found    string
	}{
		"processes by container":         {Containers("", ""), OK, "can be told"},
		"in a container of its own":      {Containers("pid_namespace", "run it with --pid=host"), Note, "cannot be told by container: pid_namespace"},
		"a kubelet that answers":         {Kubelet(socket, 8, nil), OK, "who holds 8 GPUs"},
		"a kubelet without GPUs":         {Kubelet(socket, 0, nil), Note, "no device plugin"},
		"a kubelet that refuses":         {Kubelet(socket, 0, errors.New("permission denied")), Warn, "permission denied"},
		"a socket that cannot be opened": {Kubelet(socket, 0, fmt.Errorf("stat: %w", fs.ErrPermission)), Warn, socket},
	} {
		t.Run(name, func(t *testing.T) {
			if len(test.findings) != 1 {
				t.Fatalf("%d findings, want 1", len(test.findings))
			}
			f := test.findings[0]
			if f.Level != test.level || !strings.Contains(f.Found, test.found) || (f.Level == OK) != (f.Remedy == "") {
				t.Errorf("got %+v, want %s: ...%s..., with a remedy where it is not ok", f, test.level, test.found)
			}
		})
	}
	if found := Kubelet(socket, 0, fmt.Errorf("stat: %w", fs.ErrNotExist)); len(found) != 0 {
		t.Errorf("a host without Kubernetes: %+v", found)
	}
}
