package dashboards

import (
	"github.com/grafana/grafana-foundation-sdk/go/cog"
	"github.com/grafana/grafana-foundation-sdk/go/cog/variants"
	"github.com/grafana/grafana-foundation-sdk/go/common"
	"github.com/grafana/grafana-foundation-sdk/go/dashboard"
)

// The colours of the house, the same on every screen; red is for down and breached alone.
const (
	colourOK       = "#1a7f5a"
	colourDegraded = "#b26a00"
	colourDown     = "#c0362c"
	colourStopped  = "#6b7280"
	colourUnknown  = "#8b5fbf"
	colourCost     = "#0072b2"
	colourUse      = "#e69f00"
)

// variable is the name of the data source variable of every dashboard: a dashboard never
// names a data source, so that it works wherever it is imported or provisioned.
const variable = "ds"

// card is what every panel has.
type card struct {
	id          uint32 // of the panel in its dashboard: links hold it
	title       string // a question
	description string // says where the figures come from, and when it may be empty
	unit        string
	noValue     string
	width       uint32 // of 24
	height      uint32
	steps       []dashboard.Threshold
	queries     []Query
}

// panel is what the builders of all kinds of panel have in common.
type panel[B any] interface {
	Id(id uint32) B
	Title(title string) B
	Description(description string) B
	Datasource(ref common.DataSourceRef) B
	Unit(unit string) B
	NoValue(text string) B
	Span(width uint32) B
	Height(height uint32) B
	Thresholds(thresholds cog.Builder[dashboard.ThresholdsConfig]) B
	WithTarget(target cog.Builder[variants.Dataquery]) B
}

// dress gives a panel what every panel has.
func dress[B panel[B]](b B, c card) B {
	b = b.Id(c.id).Title(c.title).Description(c.description).Unit(c.unit).NoValue(c.noValue).Span(c.width).Height(c.height).
		Datasource(source(c.queries[0].Datasource)).
		Thresholds(dashboard.NewThresholdsConfigBuilder().Mode(dashboard.ThresholdsModeAbsolute).Steps(c.steps))
	for _, q := range c.queries {
		b = b.WithTarget(q)
	}
	return b
}

// numbered gives the cards their ids, from 1 in the order of the screen.
func numbered(cards ...card) []card {
	for i := range cards {
		cards[i].id = uint32(i + 1)
	}
	return cards
}

// source refers to the data source that the dashboard's variable chose.
func source(kind string) common.DataSourceRef {
	return common.DataSourceRef{Type: cog.ToPtr(kind), Uid: cog.ToPtr("${" + variable + "}")}
}

// sheet starts a dashboard whose only source is what its variable chooses.
func sheet(uid, title, description, kind, label, refresh, from string) *dashboard.DashboardBuilder {
	return dashboard.NewDashboardBuilder(title).
		Uid(uid).
		Description(description).
		Tags([]string{"leasewatch", "gpu"}).
		Revision(revision).
		Time(from, "now").
		Refresh(refresh).
		Timezone("browser").
		Tooltip(dashboard.DashboardCursorSyncCrosshair).
		WithVariable(dashboard.NewDatasourceVariableBuilder(variable).Label(label).Type(kind))
}

// steps are colours from a value upwards; the first has no value.
func steps(first string, rest ...dashboard.Threshold) []dashboard.Threshold {
	return append([]dashboard.Threshold{{Color: first}}, rest...)
}

func from(value float64, colour string) dashboard.Threshold {
	return dashboard.Threshold{Value: cog.ToPtr(value), Color: colour}
}

// set is one property of an override.
func set(id string, value any) dashboard.DynamicConfigValue {
	return dashboard.DynamicConfigValue{Id: id, Value: value}
}

func fixed(colour string) dashboard.DynamicConfigValue {
	return set("color", map[string]any{"mode": "fixed", "fixedColor": colour})
}
