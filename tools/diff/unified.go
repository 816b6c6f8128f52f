package diff

import (
	"fmt"
	"strconv"
	"strings"
)

// Unified returns the diff in the unified format, for logs and tests. The names
// stand in its first two lines as they are.
func (s Summary) Unified(oldName, newName string) string {
	var out strings.Builder
	fmt.Fprintf(&out, "--- %s\n+++ %s\n", oldName, newName)
	for _, h := range s.Hunks {
		fmt.Fprintf(&out, "@@ -%s +%s @@\n", unifiedRange(h.OldStart, h.OldCount), unifiedRange(h.NewStart, h.NewCount))
		for _, l := range h.Lines {
			switch l.Kind {
			case Remove:
				writeUnified(&out, '-', l.Text, l.Ending)
			case Add:
				writeUnified(&out, '+', l.Text, l.Ending)
			case Modify:
				writeUnified(&out, '-', joined(l.Old), l.OldEnding)
				writeUnified(&out, '+', joined(l.New), l.NewEnding)
			default:
				writeUnified(&out, ' ', l.Text, l.Ending)
			}
		}
	}
	return out.String()
}

func unifiedRange(start, count int) string {
	if count == 1 {
		return strconv.Itoa(start)
	}
	return fmt.Sprintf("%d,%d", start, count)
}

func writeUnified(out *strings.Builder, sign byte, text string, ending Ending) {
	out.WriteByte(sign)
	out.WriteString(text)
	switch ending {
	case CRLF:
		out.WriteString("\r\n")
	case None:
		out.WriteString("\n\\ No newline at end of file\n")
	case CR:
		out.WriteString("\r\n") // the format has no lines that end in CR
	default:
		out.WriteByte('\n')
	}
}

func joined(segments []Segment) string {
	var out strings.Builder
	for _, s := range segments {
		out.WriteString(s.Text)
	}
	return out.String()
}
