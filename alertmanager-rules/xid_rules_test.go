package alertmanagerrules

import (
	"flag"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"text/template"
)

var update = flag.Bool("update", false, "write the generated files instead of comparing them")

// TestXIDRulesAreMadeFromTheTable holds rules/xid.yaml to xid.yaml: go test -run XIDRules -update
// writes it anew.
func TestXIDRulesAreMadeFromTheTable(t *testing.T) {
	table, err := XIDTable()
	if err != nil {
		t.Fatal(err)
	}
	want := renderXIDRules(t, table)
	const file = "rules/xid.yaml"
	if *update {
		if err := os.WriteFile(file, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	got, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if string(got) != want {
		t.Errorf("%s is not what xid.yaml makes: run go test ./alertmanager-rules -run XIDRules -update", file)
	}
}

func renderXIDRules(t *testing.T, table []XID) string {
	t.Helper()
	source, err := os.ReadFile("testdata/xid.yaml.tmpl")
	if err != nil {
		t.Fatal(err)
	}
	where := func(keep func(XID) bool) []XID {
		return slices.DeleteFunc(slices.Clone(table), func(x XID) bool { return !keep(x) })
	}
	page, err := template.New("xid").Delims("<<", ">>").Funcs(template.FuncMap{
		"fatal":  func() []XID { return where(func(x XID) bool { return x.Class == XIDFatal }) },
		"reset":  func() []XID { return where(func(x XID) bool { return x.Class == XIDReset }) },
		"as":     func(code uint64) []XID { return where(func(x XID) bool { return x.As == code }) },
		"resets": func() []XID { return where(func(x XID) bool { return x.Class == XIDReset || x.As != 0 }) },
		"ticket": func() []XID { return where(func(x XID) bool { return x.Ticket }) },
		"all":    func() []XID { return table },
		"codes":  codes,
		"choose": choose,
	}).Parse(string(source))
	if err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	if err := page.Execute(&out, nil); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

// codes returns the codes as the alternatives of a regular expression.
func codes(table []XID) string {
	texts := make([]string, len(table))
	for i, x := range table {
		texts[i] = strconv.FormatUint(x.Code, 10)
	}
	return strings.Join(texts, "|")
}

// choose returns a template that picks the field's text by the label xid.
func choose(field string, table []XID) string {
	var order []string
	byText := map[string][]string{}
	for _, x := range table {
		text := map[string]string{
			"meaning": x.Meaning, "meaning_zh": x.MeaningZH, "action": x.Action, "action_zh": x.ActionZH,
		}[field]
		if _, ok := byText[text]; !ok {
			order = append(order, text)
		}
		byText[text] = append(byText[text], strconv.Quote(strconv.FormatUint(x.Code, 10)))
	}
	var out strings.Builder
	for i, text := range order {
		opening := "else if"
		if i == 0 {
			opening = "if"
		}
		fmt.Fprintf(&out, "{{ %s eq $labels.xid %s }}%s", opening, strings.Join(byText[text], " "), strings.ReplaceAll(text, "'", "''"))
	}
	return out.String() + "{{ end }}"
}
