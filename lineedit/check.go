package lineedit

import (
	"cmp"
	"slices"
	"strings"
	"unicode/utf8"
)

// checkEdits checks what can be said without the file.
func checkEdits(edits []Edit) error {
	if len(edits) > MaxEdits {
		return reject(TooManyEdits, -1)
	}
	for i, e := range edits {
		_, oneLine := TrimContext(e.ContextLine)
		switch {
		case e.Start < 1:
			return reject(StartBelowOne, i)
		case e.EndExclusive < 1:
			return reject(EndBelowOne, i)
		case e.EndExclusive < e.Start:
			return reject(EndBelowStart, i)
		case !oneLine:
			return reject(ContextNotOneLine, i)
		}
	}
	return nil
}

// checkRanges checks that every edit lies in the file.
func checkRanges(t *text, edits []Edit) error {
	last := int64(t.total) + 1
	for i, e := range edits {
		switch {
		case e.Start > last:
			err := t.reject(StartPastEnd, i)
			err.Line = e.Start
			return err
		case e.EndExclusive > last:
			err := t.reject(EndPastEnd, i)
			err.Line = e.EndExclusive
			return err
		}
	}
	return nil
}

// sortEdits returns the edits in the order of their lines and checks that they
// do not overlap. Comparing neighbours is enough: if any two edits overlap,
// then the first of them also overlaps the one that follows it.
func sortEdits(t *text, edits []Edit) ([]Edit, error) {
	order := make([]int, len(edits))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(i, j int) int {
		a, b := edits[i], edits[j]
		return cmp.Or(cmp.Compare(a.Start, b.Start), cmp.Compare(a.EndExclusive, b.EndExclusive), cmp.Compare(i, j))
	})
	sorted := make([]Edit, len(edits))
	for k, i := range order {
		sorted[k] = edits[i]
		if k == 0 {
			continue
		}
		if prev := sorted[k-1]; sorted[k].Start == prev.Start || sorted[k].Start < prev.EndExclusive {
			err := t.reject(EditsOverlap, min(order[k-1], i))
			err.Other = max(order[k-1], i)
			return nil, err
		}
	}
	return sorted, nil
}

// checkContexts checks the line before every edit.
func checkContexts(t *text, edits []Edit) error {
	for i, e := range edits {
		context, _ := TrimContext(e.ContextLine)
		line := int(e.Start) - 1
		var reason Reason
		switch {
		case line == 0 && context == "":
			continue
		case line == 0:
			reason = ContextNotEmpty
		case t.equals(line, t.line(line), context):
			continue
		case !utf8.Valid(t.line(line)):
			reason = ContextInvalidLine
		default:
			reason = ContextDiffers
		}
		err := t.reject(reason, i)
		err.Mismatch = diagnose(t, reason, line, context)
		return err
	}
	return nil
}

// equals reports whether a context is that of line n, which has the content.
// A line that is not valid UTF-8 equals none, not even one of the same bytes.
func (t *text) equals(n int, content []byte, context string) bool {
	if string(content) == context {
		return utf8.ValidString(context)
	}
	if n > 1 || len(t.bom) == 0 {
		return false
	}
	rest, ok := strings.CutPrefix(context, bom)
	return ok && string(content) == rest && utf8.ValidString(rest)
}

// diagnose collects what is known about a context that is not that of a line.
func diagnose(t *text, reason Reason, line int, context string) *Mismatch {
	m := &Mismatch{
		Line:      line,
		First:     max(1, line-ContextLines),
		Last:      min(t.total, line+ContextLines),
		ValidUTF8: utf8.Valid(t.src),
	}
	if context == "" {
		return m
	}
	start := line + 1
	m.EqualsStart = reason == ContextDiffers && start <= t.total && t.equals(start, t.line(start), context)
	if !m.EqualsStart {
		m.FoundAt = findOnly(t, context)
	}
	return m
}

// findOnly returns the only line that equals a context, 0 if there is none or
// more than one.
func findOnly(t *text, context string) int {
	found := 0
	rest := t.body
	for n := 1; n <= t.total; n++ {
		var content []byte
		content, rest = cutLine(rest)
		if !t.equals(n, content, context) {
			continue
		}
		if found != 0 {
			return 0
		}
		found = n
	}
	return found
}

// checkEncoding checks that no edit brings a second encoding into a file.
func checkEncoding(t *text, edits []Edit) error {
	for i, e := range edits {
		if isASCII(e.NewText) {
			continue
		}
		if utf8.Valid(t.src) {
			return nil
		}
		return t.reject(TextNotASCII, i)
	}
	return nil
}

func isASCII(s string) bool {
	for i := range len(s) {
		if s[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}
