package catalog

import "github.com/leasewatch/leasewatch/exporter/gpu"

// disk is one number of each physical disk.
func disk(get func(*gpu.Disk) float64) func(*gpu.Snapshot, Emit) {
	return ofHost(func(h *gpu.Host, emit Emit) {
		for i := range h.Disks {
			emit(get(&h.Disks[i]), h.Disks[i].Device)
		}
	})
}

// diskFamilies tell of physical disks; partitions and volumes made of them are not counted again.
func diskFamilies() []Family {
	families := []Family{{
		Name: "host_disk_size_bytes", Kind: Gauge, Unit: "bytes", Labels: []string{"device"},
		Help: "Size of the disk.", Source: "/sys/block/*/size",
		Host: ofHost(func(h *gpu.Host, emit Emit) {
			for i := range h.Disks {
				if v, ok := h.Disks[i].SizeBytes.Get(); ok {
					emit(v, h.Disks[i].Device)
				}
			}
		}),
	}, {
		Name: "host_disk_requests_in_flight", Kind: Gauge, Labels: []string{"device"},
		Help: "Requests that the disk has not answered yet.", Source: "/sys/block/*/stat",
		Host: disk(func(d *gpu.Disk) float64 { return d.InFlight }),
	}}
	for _, counter := range []struct {
		name, unit, help string
		get              func(*gpu.Disk) float64
	}{
		{"read_bytes", "bytes", "Bytes read from the disk.", func(d *gpu.Disk) float64 { return d.ReadBytes }},
		{"written_bytes", "bytes", "Bytes written to the disk.", func(d *gpu.Disk) float64 { return d.WrittenBytes }},
		{"reads", "", "Read requests that the disk answered.", func(d *gpu.Disk) float64 { return d.Reads }},
		{"writes", "", "Write requests that the disk answered.", func(d *gpu.Disk) float64 { return d.Writes }},
		{"read_seconds", "seconds", "Time that read requests took, summed over the requests.", func(d *gpu.Disk) float64 { return d.ReadSeconds }},
		{"write_seconds", "seconds", "Time that write requests took, summed over the requests.", func(d *gpu.Disk) float64 { return d.WriteSeconds }},
		{"io_seconds", "seconds", "Time with at least one request under way.", func(d *gpu.Disk) float64 { return d.IOSeconds }},
		{"weighted_io_seconds", "seconds", "Time times the requests under way: its rate is the mean queue.", func(d *gpu.Disk) float64 { return d.WeightedIOSeconds }},
	} {
		families = append(families, Family{
			Name: "host_disk_" + counter.name + "_total", Kind: Counter, Unit: counter.unit, Labels: []string{"device"},
			Help: counter.help, Source: "/sys/block/*/stat", Host: disk(counter.get),
		})
	}
	return families
}

// filesystemLabels are the labels of a mount.
var filesystemLabels = []string{"mountpoint", "device", "fstype"}

// mount is one number of each filesystem that answers.
func mount(get func(*gpu.Filesystem) float64) func(*gpu.Snapshot, Emit) {
	return ofHost(func(h *gpu.Host, emit Emit) {
		for i := range h.Filesystems {
			if f := &h.Filesystems[i]; !f.Hangs {
				emit(get(f), f.MountPoint, f.Device, f.Type)
			}
		}
	})
}

// filesystemFamilies tell of local filesystems. Remote ones are never asked: a dead server
// would hold the asker.
func filesystemFamilies() []Family {
	families := []Family{{
		Name: "host_filesystem_hangs", Kind: Gauge, Labels: filesystemLabels,
		Help: "1 where the filesystem did not answer in time; its other figures are absent then.", Source: "statfs",
		Host: ofHost(func(h *gpu.Host, emit Emit) {
			for i := range h.Filesystems {
				f := &h.Filesystems[i]
				emit(number(f.Hangs), f.MountPoint, f.Device, f.Type)
			}
		}),
	}}
	for _, gauge := range []struct {
		name, unit, help string
		get              func(*gpu.Filesystem) float64
	}{
		{"size_bytes", "bytes", "Size of the filesystem.", func(f *gpu.Filesystem) float64 { return f.Size }},
		{"free_bytes", "bytes", "Space that nothing uses.", func(f *gpu.Filesystem) float64 { return f.Free }},
		{"available_bytes", "bytes", "Space that users without root can have.", func(f *gpu.Filesystem) float64 { return f.Available }},
		{"inodes", "", "Files that the filesystem can hold; 0 where it sets no limit.", func(f *gpu.Filesystem) float64 { return f.Inodes }},
		{"inodes_free", "", "Files that it can still take.", func(f *gpu.Filesystem) float64 { return f.InodesFree }},
		{"read_only", "", "1 where it cannot be written, as after an error of its disk.", func(f *gpu.Filesystem) float64 { return number(f.ReadOnly) }},
	} {
		families = append(families, Family{
			Name: "host_filesystem_" + gauge.name, Kind: Gauge, Unit: gauge.unit, Labels: filesystemLabels,
			Help: gauge.help, Source: "statfs", Host: mount(gauge.get),
		})
	}
	return families
}
