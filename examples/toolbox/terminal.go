package main

import (
	"fmt"
	"io"
	"os"
	"strings"

	"golang.org/x/term"

	"github.com/taukit/taukit/escape"
	"github.com/taukit/taukit/internal/illformed"
	"github.com/taukit/taukit/shellrec"
	"github.com/taukit/taukit/tools"
	"github.com/taukit/taukit/tools/diff"
)

// Styles of ANSI terminals (ECMA-48, Select Graphic Rendition).
const (
	bold  = "1"
	dim   = "2"
	red   = "31"
	green = "32"
	cyan  = "36"
)

// isTerminal reports whether w is a terminal.
func isTerminal(w io.Writer) bool {
	f, ok := w.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}

// printText prints what a model sees: exactly, or made safe for a terminal.
func printText(w io.Writer, text string) error {
	if isTerminal(w) {
		text = escape.TerminalText(text) + "\n"
	}
	_, err := io.WriteString(w, text)
	return err
}

// live returns a function that shows a person what a command writes while it
// runs. A character that comes in two pieces is shown when it is whole.
func live(w io.Writer) func(tools.Call, shellrec.Stream, []byte) {
	var pending [2]string
	return func(_ tools.Call, s shellrec.Stream, p []byte) {
		text := pending[s] + string(p)
		whole := len(text) - illformed.Incomplete(text)
		text, pending[s] = text[:whole], text[whole:]
		_, _ = io.WriteString(w, escape.TerminalText(text))
	}
}

// printLine prints one line for a person.
func printLine(w io.Writer, line string) error {
	_, err := io.WriteString(w, escape.TerminalLine(line)+"\n")
	return err
}

// complain prints a line about the program itself. There is nobody to tell if
// that fails.
func complain(w io.Writer, line string) { _ = printLine(w, "toolbox: "+line) }

// printWaiting tells a person that a call waits, and for what.
func printWaiting(w io.Writer, e tools.Event) {
	_ = printLine(w, strings.Join([]string{token(e.Agent), token(e.Visible), e.Display.Header(), e.Display.Waiting}, " "))
}

// printDisplay prints what a person sees of a call beside its text: the
// header, the status, and the diffs. Colours are for terminals.
func printDisplay(w io.Writer, tool string, d tools.Display) {
	p := painter{w, isTerminal(w) && os.Getenv("NO_COLOR") == ""}
	header := " "
	if d.Header() != "" {
		header += d.Header() + " "
	}
	p.line(bold, tool, "", header, statusStyle(d.Status), d.Status, dim, statsText(d.Stats))
	switch {
	case d.Diffs.Diff != nil:
		p.diff(*d.Diffs.Diff)
	case d.Diffs.Text != "":
		_, _ = io.WriteString(w, escape.TerminalText(d.Diffs.Text)+"\n")
	}
	for _, f := range d.Diffs.Files {
		p.line(bold, f.Path, "", " "+f.Summary.Chip())
		p.diff(f.Summary)
	}
}

func statusStyle(status string) string {
	if status == tools.StatusOK {
		return green
	}
	return red
}

func statsText(s *tools.Stats) string {
	if s == nil {
		return ""
	}
	if s.Lines == 1 {
		return fmt.Sprintf(" (1 line, %d bytes)", s.Bytes)
	}
	return fmt.Sprintf(" (%d lines, %d bytes)", s.Lines, s.Bytes)
}

// A painter writes lines of styled text.
type painter struct {
	w       io.Writer
	colours bool
}

// line writes a line of pairs of a style and a text.
func (p painter) line(pairs ...string) {
	var out strings.Builder
	for i := 0; i+1 < len(pairs); i += 2 {
		style, text := pairs[i], escape.TerminalLine(strings.ReplaceAll(pairs[i+1], "\t", "    "))
		if p.colours && style != "" {
			text = "\x1b[" + style + "m" + text + "\x1b[0m"
		}
		out.WriteString(text)
	}
	_, _ = io.WriteString(p.w, out.String()+"\n")
}

// diff writes the hunks of a changed file.
func (p painter) diff(s diff.Summary) {
	for _, h := range s.Hunks {
		p.line(cyan, fmt.Sprintf("@@ -%d,%d +%d,%d @@", h.OldStart, h.OldCount, h.NewStart, h.NewCount))
		for _, l := range h.Lines {
			switch l.Kind {
			case diff.Remove:
				p.line(red, "-"+l.Text)
			case diff.Add:
				p.line(green, "+"+l.Text)
			case diff.Modify:
				p.line(p.segments("-", l.Old, red)...)
				p.line(p.segments("+", l.New, green)...)
			default:
				p.line("", " "+l.Text)
			}
		}
	}
}

// segments returns the parts of one side of a modified line, the changed ones
// in reverse.
func (p painter) segments(sign string, segments []diff.Segment, style string) []string {
	pairs := []string{style, sign}
	for _, s := range segments {
		if s.Kind == diff.Equal {
			pairs = append(pairs, style, s.Text)
		} else {
			pairs = append(pairs, style+";7", s.Text)
		}
	}
	return pairs
}
