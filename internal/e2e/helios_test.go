package e2e

import (
	"bufio"
	"compress/gzip"
	"encoding/csv"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/leasewatch/leasewatch/internal/testenv"
)

// The real cluster's size, and the columns that are read.
const (
	heliosGPUs = 8
	heliosTime = "time"
	heliosHeld = "running_gpu_num"
)

func heliosUUID(i int) string { return fmt.Sprintf("GPU-00000000-0000-4000-8000-%012d", i) }

// TestAMonthOfARealClusterIsBilledAndItsIdleTimePriced loads the minute file of a production
// cluster of eight GPUs (HeliosArtifact, CC BY 4.0) and rents it out at 10 a GPU-hour.
func TestAMonthOfARealClusterIsBilledAndItsIdleTimePriced(t *testing.T) {
	source := testenv.Data(t, "helios_earth_vcgkz_minute_2020-05.csv.gz")
	bin, dir := programs(t), t.TempDir()
	storage := "--storage.path=" + filepath.Join(dir, "data")
	leasewatch := func(args ...string) string {
		t.Helper()
		out, err := exec.Command(filepath.Join(bin, "leasewatch"), args...).CombinedOutput()
		if err != nil {
			t.Fatalf("leasewatch %s: %v\n%s", strings.Join(args, " "), err, out)
		}
		return string(out)
	}
	manifest := filepath.Join(dir, "cluster.yaml")
	if err := os.WriteFile(manifest, []byte(heliosManifest()), 0o600); err != nil {
		t.Fatal(err)
	}
	history := filepath.Join(dir, "history.om")
	heliosOpenMetrics(t, source, history)

	leasewatch("lease", "apply", "-f", manifest, storage)
	leasewatch("backfill", "openmetrics", history, storage, "--storage.retention=100y")
	bill := leasewatch("bill", "--lease=vcgkz", "--month=2020-05", "--format=csv", storage)
	if !strings.Contains(bill, "59520.00") || !strings.Contains(bill, "5952") {
		t.Errorf("the bill does not say 59520.00 for 5952 GPU-hours:\n%s", bill)
	}
	usage := leasewatch("usage", "--lease=vcgkz", "--month=2020-05", storage)
	for _, want := range []string{
		"USD 59520.00", "5952.00 GPU-hours", "not measured", "90.99 %",
		"324,928 of 357,120 GPU-minutes held, 32,192 free",
		"100.00 %", "USD 5365.33, by allocation",
	} {
		if !strings.Contains(usage, want) {
			t.Errorf("the usage does not say %q:\n%s", want, usage)
		}
	}
	again := leasewatch("bill", "--lease=vcgkz", "--month=2020-05", "--format=csv", storage)
	if again != bill {
		t.Error("the same ledger gave two different bills")
	}
}

func heliosManifest() string {
	var b strings.Builder
	b.WriteString(strings.ReplaceAll(oneHour, `{price: "3600"}`, `{price: "10"}`))
	b.WriteString(`---
apiVersion: leasewatch.dev/v1
kind: SKU
metadata: {name: unknown-gpu}
spec: {model: GPU, form_factor: PCIe, memory_mib: 16384, data_center: true}
---
apiVersion: leasewatch.dev/v1
kind: Host
metadata: {name: earth}
spec: {site: osl1, slots: 8}
`)
	var gpus []string
	for i := range heliosGPUs {
		fmt.Fprintf(&b, "---\napiVersion: leasewatch.dev/v1\nkind: GPU\nmetadata: {name: %s}\nspec: {uuid: %[1]s, serial: \"%d\", sku: unknown-gpu, host: earth, slot: %[2]d, life: service}\n",
			heliosUUID(i), i)
		gpus = append(gpus, "{uuid: "+heliosUUID(i)+"}")
	}
	fmt.Fprintf(&b, "---\napiVersion: leasewatch.dev/v1\nkind: Lease\nmetadata: {name: vcgkz}\nspec: {tenant: acme, contract: hourly, start: \"2020-05-01T00:00:00Z\", end: \"2020-06-01T00:00:00Z\", gpus: [%s]}\n",
		strings.Join(gpus, ", "))
	return b.String()
}

// heliosOpenMetrics writes the minute file as gpu_allocated of eight cards: the first n of
// them are held while n jobs' GPUs are.
func heliosOpenMetrics(t *testing.T, source, target string) {
	t.Helper()
	in, err := os.Open(source)
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	unzipped, err := gzip.NewReader(in)
	if err != nil {
		t.Fatal(err)
	}
	rows := csv.NewReader(unzipped)
	header, err := rows.Read()
	if err != nil {
		t.Fatal(err)
	}
	at, held := slices.Index(header, heliosTime), slices.Index(header, heliosHeld)
	if at < 0 || held < 0 {
		t.Fatalf("columns %v: expected %s and %s", header, heliosTime, heliosHeld)
	}
	samples := make([]strings.Builder, heliosGPUs)
	var last time.Time
	write := func(when time.Time, n int) {
		for i := range samples {
			value := 0
			if i < n {
				value = 1
			}
			fmt.Fprintf(&samples[i], "gpu_allocated{uuid=%q} %d %d\n", heliosUUID(i), value, when.Unix())
		}
	}
	n := 0
	for {
		row, err := rows.Read()
		if err == io.EOF {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		if last, err = time.Parse("2006-01-02 15:04:05", row[at]); err != nil {
			t.Fatal(err)
		}
		if n, err = strconv.Atoi(row[held]); err != nil {
			t.Fatal(err)
		}
		write(last, n)
	}
	write(last.Add(time.Minute), n) // the end of the last minute
	out, err := os.Create(target)
	if err != nil {
		t.Fatal(err)
	}
	defer out.Close()
	w := bufio.NewWriter(out)
	fmt.Fprintln(w, "# TYPE gpu_allocated gauge")
	for i := range samples {
		if _, err := w.WriteString(samples[i].String()); err != nil {
			t.Fatal(err)
		}
	}
	fmt.Fprintln(w, "# EOF")
	if err := w.Flush(); err != nil {
		t.Fatal(err)
	}
}
