package tools_test

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"
)

// A naive model of what read and ls show, written from the rules alone: all
// records in memory, each of them a record and a marker.

type record struct{ text, marker string }

// fileRecords returns the records of all lines of a file.
func fileRecords(data string) (records []record) {
	for n := 1; data != ""; n++ {
		text, ending, flag := data, "", "no_nl"
		if i := strings.IndexAny(data, "\r\n"); i >= 0 {
			text, ending, flag = data[:i], data[i:i+1], ""
			if strings.HasPrefix(data[i:], "\r\n") {
				ending, flag = "\r\n", "crlf"
			} else if ending == "\r" {
				flag = "cr"
			}
		}
		data = data[len(text)+len(ending):]
		records = append(records, newRecord(n, text, flag))
	}
	return records
}

func newRecord(n int, text string, flags ...string) record {
	flags = slices.DeleteFunc(flags, func(f string) bool { return f == "" })
	if !utf8.ValidString(text) {
		flags = append([]string{"invalid-utf8"}, flags...)
		text = replaced(text)
	}
	suffix := ""
	if len(flags) > 0 {
		suffix = "(" + strings.Join(flags, ",") + ")"
	}
	return record{
		text:   fmt.Sprintf("%d%s %s", n, suffix, text),
		marker: fmt.Sprintf("%d(%s)", n, strings.Join(append(flags, "truncated"), ",")),
	}
}

// replaced returns text with each maximal ill-formed subpart as U+FFFD.
func replaced(text string) string {
	var out strings.Builder
	for text != "" {
		if r, n := utf8.DecodeRuneInString(text); r != utf8.RuneError || n > 1 {
			out.WriteString(text[:n])
			text = text[n:]
			continue
		}
		out.WriteString("\ufffd")
		text = text[subpart(text):]
	}
	return out.String()
}

// subpart returns the length of the longest start of text that some more bytes
// would make a character, at least 1.
func subpart(text string) int {
	for n := min(3, len(text)); n > 1; n-- {
		if utf8.ValidString(text[:n]+"\x80") || utf8.ValidString(text[:n]+"\x80\x80") {
			return n
		}
	}
	return 1
}

// selected returns the records of the ranges, with an empty one between two.
func selected(all []record, ranges []span) (records []record) {
	if len(all) == 0 {
		return nil
	}
	for i, r := range ranges {
		if i > 0 {
			records = append(records, record{})
		}
		records = append(records, all[r.Start-1:min(r.End, len(all))]...)
	}
	return records
}

func native(records []record) string {
	texts := make([]string, len(records))
	for i, r := range records {
		texts[i] = r.text
	}
	return strings.Join(texts, "\n")
}

const budget = 10240

// fit returns what is shown of the records, by R5 to R7 of the page about
// truncation.
func fit(records []record) (body string, truncated bool) {
	if all := native(records); len(records) <= 2000 && len(all) <= budget {
		return all, false
	}
	if len(records) > 2000 {
		return headAndTail(records), true
	}
	var shown []string
	used := 0
	for _, r := range records {
		separator := min(len(shown), 1)
		line := r.text
		if used+separator+len(line) > budget {
			line = r.marker
		}
		if used+separator+len(line) > budget {
			break
		}
		shown = append(shown, line)
		used += separator + len(line)
	}
	return strings.Join(shown, "\n"), true
}

func headAndTail(records []record) string {
	lines := make([]string, len(records))
	for i, r := range records {
		if lines[i] = r.text; len(r.text) > budget {
			lines[i] = r.marker
		}
	}
	var head, tail []string
	used := -1
	for i := 0; i < 1000; i++ {
		line := lines[i]
		if i == 0 && len(line) > budget/2 {
			line = records[i].marker
		}
		if used+1+len(line) > budget/2 {
			break
		}
		head = append(head, line)
		used += 1 + len(line)
	}
	left := budget - used - len("\n...")
	for i := len(records) - 1; len(tail) < 1000; i-- {
		line := lines[i]
		if len(tail) == 0 && 1+len(line) > left {
			line = records[i].marker
		}
		if 1+len(line) > left {
			break
		}
		tail = append(tail, line)
		left -= 1 + len(line)
	}
	slices.Reverse(tail)
	return strings.Join(slices.Concat(head, []string{"..."}, tail), "\n")
}
