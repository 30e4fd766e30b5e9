package workload

import (
	"os"
	"strings"

	"github.com/leasewatch/leasewatch/exporter/gpu"
)

// DefaultContainerLogs is where the kubelet keeps a link for each container's log, whose name
// is POD_NAMESPACE_CONTAINER-ID.log: the one place on a node that has a container's id beside
// its names and needs no access to the cluster. Only names are read, never a log.
const DefaultContainerLogs = "/var/log/containers"

// readNames returns the names of the containers by the beginning of their ids.
func readNames(dir string) (map[string]gpu.Workload, error) {
	folder, err := os.Open(dir)
	if err != nil {
		return nil, err
	}
	defer folder.Close()
	files, err := folder.Readdirnames(-1)
	if err != nil {
		return nil, err
	}
	names := make(map[string]gpu.Workload, len(files))
	for _, file := range files {
		if id, name, ok := parseLogName(file); ok {
			names[id] = name
		}
	}
	return names, nil
}

// parseLogName takes the name of a log apart. Neither of the three names can hold an
// underscore, and the id holds no dash.
func parseLogName(file string) (id string, name gpu.Workload, ok bool) {
	stem, ok := strings.CutSuffix(file, ".log")
	parts := strings.Split(stem, "_")
	if !ok || len(parts) != 3 {
		return "", gpu.Workload{}, false
	}
	dash := strings.LastIndexByte(parts[2], '-')
	if dash < 1 || !isID(parts[2][dash+1:]) || parts[0] == "" || parts[1] == "" {
		return "", gpu.Workload{}, false
	}
	return parts[2][dash+1:][:idDigits], gpu.Workload{Pod: parts[0], Namespace: parts[1], Container: parts[2][:dash]}, true
}
