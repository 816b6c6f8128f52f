package replace

import (
	"bytes"
	"context"
	"strings"
	"unicode/utf8"
)

// Limits of [Apply].
const (
	MaxEdits     = 100      // entries of a call
	MaxFileBytes = 10 << 20 // bytes of the source, and of the result
	MaxMatches   = 100      // occurrences of a text that are counted
)

// An Edit asks for one exact replacement. Both texts are UTF-8. CR LF, CR and
// LF mean the same in them, the end of a line, whatever its bytes in the
// source.
type Edit struct {
	OldText string // what is replaced: it must occur exactly once; not empty
	NewText string // what takes its place; "" deletes
}

// A Result is the outcome of a successful [Apply].
type Result struct {
	Content []byte // the text after the edits
	Changed bool   // Content differs from the source
	Edits   int    // number of entries
}

// Apply returns src with all edits made. It is safe for concurrent use and
// never changes src; Content is src itself when nothing changed, and shares no
// memory with it otherwise.
//
// Each OldText is looked for in src, not in the result of other edits, and
// must occur exactly once, overlapping occurrences counted. Matched pieces may
// touch, not overlap. A byte order mark at the very start of src is kept and
// never matched; an inserted second one behind it is dropped.
//
// Of a matched piece only what differs is replaced: what OldText and NewText
// begin and end with in common stays as it is in src. Each line end of the rest
// of NewText is written as the first line ending that is replaced, or else the
// nearest one before, or else the nearest one after, or else LF. A CR and an LF
// that come to lie together are kept apart by an LF between them.
//
// The error is an [*Error], or that of ctx, which is looked at while Apply
// searches; Result is zero then. Faults of the edits are found before those of
// src, then the first entry that does not match exactly once, then the first
// overlap in src, then a result that is too large.
//
// Apply needs memory for a second src and the result, for the texts of the edits
// twice more, and, if src is full of what is nearly an OldText, for nine times
// that OldText.
func Apply(ctx context.Context, src []byte, edits []Edit) (Result, error) {
	if err := checkEdits(edits); err != nil {
		return Result{}, err
	}
	if err := checkSource(src); err != nil {
		return Result{}, err
	}
	mark, body := cutMark(src)
	n := normalize(body)
	changes, err := match(ctx, n, edits)
	if err != nil {
		return Result{}, err
	}
	if err := sortDisjoint(changes); err != nil {
		return Result{}, err
	}
	content, err := assemble(mark, n, changes)
	if err != nil {
		return Result{}, err
	}
	if bytes.Equal(content, src) {
		return Result{Content: src, Edits: len(edits)}, nil
	}
	return Result{Content: content, Changed: true, Edits: len(edits)}, nil
}

// checkEdits reports the first fault of the edits that lies in themselves.
func checkEdits(edits []Edit) error {
	switch {
	case len(edits) == 0:
		return argumentError(-1, errNoEdits)
	case len(edits) > MaxEdits:
		return argumentError(-1, errTooManyEdits)
	}
	for i, e := range edits {
		switch {
		case e.OldText == "":
			return argumentError(i, errEmptyOldText)
		case !utf8.ValidString(e.OldText):
			return argumentError(i, errOldTextNotUTF8)
		case !utf8.ValidString(e.NewText):
			return argumentError(i, errNewTextNotUTF8)
		}
	}
	return nil
}

func checkSource(src []byte) error {
	switch {
	case len(src) > MaxFileBytes:
		return newError(CodeTooLarge, -1, ErrSourceTooLarge)
	case !utf8.Valid(src):
		return newError(CodeInvalidUTF8, -1, errSourceNotUTF8)
	}
	return nil
}

// byteOrderMark is U+FEFF in UTF-8.
const byteOrderMark = "\ufeff"

// cutMark cuts src into its byte order mark, if it has one, and the rest.
func cutMark(src []byte) (mark, body []byte) {
	if bytes.HasPrefix(src, []byte(byteOrderMark)) {
		return src[:len(byteOrderMark)], src[len(byteOrderMark):]
	}
	return nil, src
}

// match finds the one occurrence of each edit in n.text and returns the changes
// in the order of the edits.
func match(ctx context.Context, n normal, edits []Edit) ([]change, error) {
	targets := make([]string, len(edits))
	for i, e := range edits {
		targets[i] = n.form(e.OldText)
	}
	changes := make([]change, 0, len(edits))
	for len(changes) < len(edits) {
		first := len(changes)
		batch := targets[first : first+batchSize(len(n.text), targets[first:])]
		found, err := findAll(ctx, n.text, batch)
		if err != nil {
			return nil, err
		}
		for i, at := range found {
			switch len(at) {
			case 0:
				return nil, noMatch(ctx, n, first+i, batch[i])
			case 1:
				newText := n.form(edits[first+i].NewText)
				changes = append(changes, newChange(first+i, at[0], batch[i], newText))
			default:
				return nil, ambiguous(n.text, first+i, at)
			}
		}
	}
	return changes, nil
}

// batchSize returns how many of the targets to look for at once. Memory is
// needed for a batch only, and a batch is so large that the passes over text
// cost no more than the targets do.
func batchSize(text int, targets []string) int {
	const smallest = 64 << 10
	limit := max(text/8, smallest)
	size := 0
	for i, t := range targets {
		size += len(t)
		if i > 0 && size > limit {
			return i
		}
	}
	return len(targets)
}

// noMatch returns the error of an entry whose target is not in n.text.
func noMatch(ctx context.Context, n normal, entry int, target string) error {
	text := n.text
	if n.ending != "\n" {
		text = bytes.ReplaceAll(text, []byte(n.ending), []byte{'\n'})
		target = normalText(target)
	}
	hint, line, err := diagnose(ctx, text, target)
	if err != nil {
		return err
	}
	e := newError(CodeNoMatch, entry, nil)
	if hint != "" {
		e.Hint, e.NearLine, e.NearCount = hint, line, countLines(target)
	}
	return e
}

// ambiguous returns the error of an entry whose target occurs in text at the
// given places, in ascending order.
func ambiguous(text []byte, entry int, places []int) error {
	e := newError(CodeAmbiguousMatch, entry, nil)
	e.Matches = len(places)
	line, from := 1, 0
	for _, at := range places {
		line += bytes.Count(text[from:at], []byte{'\n'})
		from = at
		if n := len(e.MatchLines); n == 0 || e.MatchLines[n-1] != line {
			e.MatchLines = append(e.MatchLines, line)
		}
	}
	return e
}

// lineAt returns the number of the line, from 1, that holds text[at].
func lineAt(text []byte, at int) int {
	return 1 + bytes.Count(text[:at], []byte{'\n'})
}

// countLines returns the number of lines of a text in normal form.
func countLines(s string) int {
	n := strings.Count(s, "\n")
	if !strings.HasSuffix(s, "\n") {
		n++
	}
	return n
}
