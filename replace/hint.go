package replace

import (
	"context"
	"strings"
)

// diagnose says what may be wrong with a target that does not occur in text,
// and the line, from 1, where it may have been meant to start. The hint is ""
// if there is nothing to say. The error is that of ctx.
func diagnose(ctx context.Context, text []byte, target string) (hint Hint, line int, err error) {
	if bare, ok := cutLineNumbers(target); ok {
		if line, err = lineOf(ctx, text, bare); line > 0 || err != nil {
			return HintLineNumbers, line, err
		}
	}
	if rest, ok := strings.CutPrefix(target, byteOrderMark); ok {
		if line, err = lineOf(ctx, text, rest); line > 0 || err != nil {
			return HintBOM, line, err
		}
	}
	if err := ctx.Err(); err != nil {
		return "", 0, err
	}
	hint, line = compareLines(text, target)
	return hint, line, nil
}

// lineOf returns the line on which the first occurrence of target starts, 0 if
// there is none or target is empty.
func lineOf(ctx context.Context, text []byte, target string) (int, error) {
	if target == "" {
		return 0, nil
	}
	found, err := findAll(ctx, text, []string{target})
	if err != nil || len(found[0]) == 0 {
		return 0, err
	}
	return lineAt(text, found[0][0]), nil
}

// cutLineNumbers cuts the label of a record off each line of s. It reports
// false if there is a line without one.
func cutLineNumbers(s string) (string, bool) {
	var bare strings.Builder
	for line := range strings.Lines(s) {
		rest, ok := cutLabel(line)
		if !ok {
			return "", false
		}
		bare.WriteString(rest)
	}
	return bare.String(), true
}

// cutLabel cuts a line number off a line, with the flags in parentheses that
// may follow, and the space behind them, which may be missing when nothing else
// is on the line.
func cutLabel(line string) (string, bool) {
	rest := strings.TrimLeft(line, "0123456789")
	if len(rest) == len(line) {
		return "", false
	}
	if flags, ok := strings.CutPrefix(rest, "("); ok {
		after := strings.TrimLeft(flags, "abcdefghijklmnopqrstuvwxyz0123456789,_-")
		closed, ok := strings.CutPrefix(after, ")")
		if !ok || len(after) == len(flags) {
			return "", false
		}
		rest = closed
	}
	if content, ok := strings.CutPrefix(rest, " "); ok {
		return content, true
	}
	return rest, rest == "" || rest == "\n"
}

// compareLines compares whole lines of target and text by their keys.
func compareLines(text []byte, target string) (Hint, int) {
	ids, wanted := lineKeys(target)
	if len(wanted) == 0 {
		return "", 0
	}
	borders := borders(wanted)
	firstLine, firstCount := 0, 0 // of the lines like the first one of target
	matched, number := 0, 0
	var key []byte
	for rest := text; len(rest) > 0; {
		key, rest = cutKey(key[:0], rest)
		id := ids[string(key)] // 0 if no line of target is like it
		number++
		if id == wanted[0] {
			firstCount++
			if firstCount == 1 {
				firstLine = number
			}
		}
		for matched > 0 && wanted[matched] != id {
			matched = borders[matched]
		}
		if wanted[matched] == id {
			matched++
		}
		if matched == len(wanted) {
			return HintWhitespace, number - len(wanted) + 1
		}
	}
	if firstCount == 1 {
		return HintFirstLine, firstLine
	}
	return "", 0
}

// lineKeys returns a number from 1 for each different key of a line of s, and
// the numbers of its lines without the blank ones at the start and the end.
func lineKeys(s string) (ids map[string]int, lines []int) {
	ids = map[string]int{}
	var key []byte
	used := 0
	for rest := s; len(rest) > 0; {
		key, rest = cutKey(key[:0], rest)
		if len(key) == 0 && len(lines) == 0 {
			continue
		}
		id, ok := ids[string(key)]
		if !ok {
			id = len(ids) + 1
			ids[string(key)] = id
		}
		lines = append(lines, id)
		if len(key) > 0 {
			used = len(lines)
		}
	}
	return ids, lines[:used]
}

// cutKey cuts the first line off text and appends its key to dst: the line with
// each run of spaces and tabs made one space, and none left at either end.
func cutKey[T string | []byte](dst []byte, text T) (key []byte, rest T) {
	blank := false
	for i := range len(text) {
		switch b := text[i]; b {
		case '\n':
			return dst, text[i+1:]
		case ' ', '\t':
			blank = len(dst) > 0
		default:
			if blank {
				dst = append(dst, ' ')
				blank = false
			}
			dst = append(dst, b)
		}
	}
	return dst, text[len(text):]
}

// borders returns, for each number of leading lines, the largest smaller number
// of leading lines that they end with (Knuth, Morris and Pratt).
func borders(lines []int) []int {
	b := make([]int, len(lines)+1)
	n := 0
	for i := 1; i < len(lines); i++ {
		for n > 0 && lines[i] != lines[n] {
			n = b[n]
		}
		if lines[i] == lines[n] {
			n++
		}
		b[i+1] = n
	}
	return b
}
