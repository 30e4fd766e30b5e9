// Package compat gives the exporter's figures under the names, labels and units of another
// exporter, so that dashboards and rules made for that one keep working. An alias is made
// from our own series by arithmetic alone: it never asks the driver, and it is there exactly
// where the series it is made from are.
package compat

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
)

// Alias is one metric of the other exporter.
type Alias struct {
	Name string
	Help string
	Unit Unit
	Join Join
	// Terms are the series of ours that it is made from.
	Terms []Term
}

// Unit is the other exporter's, and the way to it from our base unit: times Times, over Over.
type Unit struct {
	Name        string // "" for a bare number
	Times, Over float64
	// Steps is how many steps of it make one unit, where the driver counts in steps: the way
	// over our base unit may cost the last binary digit, and the step gives it back. 0 for none.
	Steps float64
}

func (u Unit) from(base float64) float64 {
	v := base * u.Times / u.Over
	if u.Steps > 0 {
		v = math.Round(v*u.Steps) / u.Steps
	}
	return v
}

// Term is one series of ours, per GPU, and its weight in the alias.
type Term struct {
	Family string
	// Labels are the values of the family's own labels, in their order.
	Labels []string
	Weight float64
}

// Join says how several terms become one value.
type Join string

// The ways to join terms. Each gives nothing where no term is there.
const (
	// Sum adds the terms that are there.
	Sum Join = "sum"
	// Whole adds the terms, and gives nothing where one of them is missing.
	Whole Join = "whole"
	// Greatest takes the greatest of the terms that are there.
	Greatest Join = "greatest"
	// Any takes the greatest of all series of the family, whatever their labels.
	Any Join = "any"
	// Newest takes the first label of the series with the greatest value, as a number, and 0
	// where the family has no series yet.
	Newest Join = "newest"
)

// Formula says how the alias is made, in the spelling of PromQL where that has one.
func (a Alias) Formula() string {
	parts := make([]string, len(a.Terms))
	for i, t := range a.Terms {
		parts[i] = t.formula()
	}
	text := strings.Join(parts, " + ")
	switch a.Join {
	case Greatest:
		text = "the greatest of " + strings.Join(parts, ", ")
	case Any:
		text = "the greatest of all " + parts[0]
	case Newest:
		text = "the code of the newest " + parts[0] + ", 0 for none"
	}
	if a.Unit.Times != 1 {
		text += fmt.Sprintf(" x %.0f", a.Unit.Times)
	}
	if a.Unit.Over != 1 {
		text += fmt.Sprintf(" / %.0f", a.Unit.Over)
	}
	return text
}

func (t Term) formula() string {
	text := t.Family
	if len(t.Labels) > 0 {
		text += "{" + strings.Join(t.Labels, ", ") + "}"
	}
	text = "`" + text + "`"
	if t.Weight != 1 {
		text = fmt.Sprintf("%s x %g", text, t.Weight)
	}
	return text
}

// sample is one series of one of our families.
type sample struct {
	labels []string
	value  float64
}

// value joins the terms over one GPU's series, by family.
func (a Alias) value(of map[string][]sample) (float64, bool) {
	switch family := of[a.Terms[0].Family]; a.Join {
	case Newest:
		return newest(family)
	case Any:
		if len(family) == 0 {
			return 0, false
		}
		return a.Unit.from(slices.MaxFunc(family, func(x, y sample) int { return cmp.Compare(x.value, y.value) }).value), true
	}
	sum, greatest, there := 0.0, 0.0, 0
	for _, t := range a.Terms {
		i := slices.IndexFunc(of[t.Family], func(s sample) bool { return slices.Equal(s.labels, t.Labels) })
		if i < 0 {
			continue
		}
		v := of[t.Family][i].value * t.Weight
		if there == 0 || v > greatest {
			greatest = v
		}
		sum += v
		there++
	}
	switch {
	case there == 0, a.Join == Whole && there < len(a.Terms):
		return 0, false
	case a.Join == Greatest:
		return a.Unit.from(greatest), true
	default:
		return a.Unit.from(sum), true
	}
}

// newest reads the code of the newest series; of two with one time the greater code counts,
// so that one snapshot always gives one answer.
func newest(samples []sample) (float64, bool) {
	code, at := 0.0, 0.0
	for _, s := range samples {
		c, err := strconv.ParseFloat(s.labels[0], 64)
		if err != nil {
			continue
		}
		if s.value > at || s.value == at && c > code {
			code, at = c, s.value
		}
	}
	return code, true
}
