package monitor

import (
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"

	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/model/rulefmt"
	"github.com/prometheus/prometheus/promql/parser"
	"github.com/prometheus/prometheus/rules"
)

// ruleFiles gives the rule manager files that lie in memory. It is replaced whole by Reload.
type ruleFiles struct {
	parser  parser.Parser
	content map[string][]byte
}

var _ rules.GroupLoader = (*ruleFiles)(nil)

// Load reads the named file.
func (f *ruleFiles) Load(name string, ignoreUnknown bool, scheme model.ValidationScheme) (*rulefmt.RuleGroups, []error) {
	content, ok := f.content[name]
	if !ok {
		return nil, []error{fmt.Errorf("%s: no such rule file", name)}
	}
	groups, errs := rulefmt.Parse(content, ignoreUnknown, scheme, f.parser, slog.New(slog.DiscardHandler))
	for i, err := range errs {
		errs[i] = fmt.Errorf("%s: %w", name, err)
	}
	return groups, errs
}

// Parse reads one expression.
func (f *ruleFiles) Parse(query string) (parser.Expr, error) { return f.parser.ParseExpr(query) }

// names returns the files in the order they are loaded.
func (f *ruleFiles) names() []string { return slices.Sorted(maps.Keys(f.content)) }

// check reads every file and returns all errors at once, each with its file and line.
func (f *ruleFiles) check() error {
	var all []error
	for _, name := range f.names() {
		_, errs := f.Load(name, false, model.UTF8Validation)
		all = append(all, errs...)
	}
	return errors.Join(all...)
}

// CheckConfig validates a configuration without applying it: the scrape configuration, and each
// rule file with all its expressions. Errors name the file and the line.
func CheckConfig(c Config) error {
	o := Options{Config: c}.withDefaults()
	_, scrapeErr := parseScrape(o)
	files := ruleFiles{parser: newParser(), content: c.RuleFiles}
	return errors.Join(scrapeErr, files.check())
}

// newParser returns the parser of every expression: PromQL without experimental functions.
func newParser() parser.Parser { return parser.NewParser(parser.Options{}) }
