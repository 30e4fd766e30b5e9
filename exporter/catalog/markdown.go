package catalog

import (
	"fmt"
	"io"
	"strings"
)

//go:generate go run ./gen ../../METRICS.md

// WriteMarkdown writes METRICS.md: every family with its labels, unit, hardware and source.
func WriteMarkdown(w io.Writer) error {
	var b strings.Builder
	b.WriteString(`# Metrics of leasewatch-exporter

<!-- Generated from exporter/catalog by "go run ./exporter/catalog/gen". Edit the catalogue, not this file. -->

Every series carries ` + "`host`" + ` and ` + "`vantage`" + ` (host, or guest inside a passthrough machine or rented container).
Every GPU series also carries ` + "`uuid`" + ` and ` + "`gpu`" + ` (the driver's index). Units are base units and stand at
the end of the name; counters end in ` + "`_total`" + `. A reading that a card does not give is absent, never 0.
Families marked "stays" are there in every state of a GPU; the others leave the page while the GPU
cannot be asked (lost, unresponsive, driver_down, released, unknown). Families marked "MIG" have series of
MIG devices: those carry the MIG device's ` + "`uuid`" + `, the card's ` + "`gpu`" + ` and, beside the labels of the table,
` + "`gpu_uuid`" + ` (the card's), ` + "`gpu_instance`" + `, ` + "`compute_instance`" + ` and ` + "`profile`" + `. Cards alone: ` + "`gpu_uuid=\"\"`" + `.

`)
	var host, perGPU []Family
	for _, f := range All() {
		if f.Host != nil {
			host = append(host, f)
		} else {
			perGPU = append(perGPU, f)
		}
	}
	table(&b, "Per GPU", perGPU)
	table(&b, "Per host", host)
	table(&b, "The exporter itself", Self())
	b.WriteString(xidSection())
	_, err := io.WriteString(w, b.String())
	return err
}

func table(b *strings.Builder, title string, families []Family) {
	fmt.Fprintf(b, "## %s\n\n| name | kind | labels | meaning | hardware | source |\n|---|---|---|---|---|---|\n", title)
	for _, f := range families {
		kind := string(f.Kind)
		if f.Stays {
			kind += ", stays"
		}
		if f.Instance != nil {
			kind += ", MIG"
		}
		fmt.Fprintf(b, "| `%s` | %s | %s | %s | %s | %s |\n", f.Name, kind, cell(strings.Join(f.Labels, ", ")), cell(f.Help), cell(f.Hardware), cell(f.Source))
	}
	b.WriteString("\n")
}

func xidSection() string {
	return fmt.Sprintf("## XID codes that are there from the start\n\nClass F (hands, or a restart of the node): %s.\n\nClass R (the GPU needs a reset): %s.\n\nAny other code appears when it is first seen.\n",
		codeList(FatalXIDs()), codeList(ResetXIDs()))
}

func codeList(codes []uint64) string {
	parts := make([]string, len(codes))
	for i, code := range codes {
		parts[i] = fmt.Sprint(code)
	}
	return strings.Join(parts, ", ")
}

func cell(s string) string { return strings.ReplaceAll(s, "|", `\|`) }
