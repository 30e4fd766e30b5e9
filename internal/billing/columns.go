package billing

import (
	"strings"

	"golang.org/x/text/width"
)

// columns lays out rows of text for a terminal. Chinese characters take two places there, which
// text/tabwriter does not know.
type columns struct {
	right []bool // which columns are aligned to the right
	rows  [][]string
}

func (c *columns) add(cells ...string) { c.rows = append(c.rows, cells) }

func (c *columns) write(b *strings.Builder) {
	widths := make([]int, len(c.right))
	for _, row := range c.rows {
		for i, cell := range row {
			widths[i] = max(widths[i], places(cell))
		}
	}
	for _, row := range c.rows {
		var line strings.Builder
		for i, cell := range row {
			if i > 0 {
				line.WriteString("  ")
			}
			fill := strings.Repeat(" ", widths[i]-places(cell))
			if c.right[i] {
				line.WriteString(fill + cell)
			} else {
				line.WriteString(cell + fill)
			}
		}
		b.WriteString(strings.TrimRight(line.String(), " ") + "\n")
	}
}

// places counts the columns of a terminal that a text takes.
func places(text string) int {
	n := 0
	for _, r := range text {
		switch width.LookupRune(r).Kind() {
		case width.EastAsianWide, width.EastAsianFullwidth:
			n += 2
		default:
			n++
		}
	}
	return n
}
