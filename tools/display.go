package tools

import "github.com/taukit/taukit/tools/diff"

// Status texts of a [Display].
const (
	StatusOK        = "ok"
	StatusCancelled = "cancelled"
	StatusWaiting   = "waiting"
)

// A Display is what a user interface shows of a call. Its texts are made of
// escaped fields; an interface passes them through escape.TerminalLine before
// it prints them on a terminal.
type Display struct {
	Args    string // what was asked for, such as "main.go 10..20"
	Figures string // what came of it in the tool's own form, with what separates it from Args, such as ", 3 matches"
	Mode    string // how a tool with several modes ran; empty for others
	Status  string // "ok", "cancelled", the message of a failure, or a tool's own word
	Waiting string // what the call waits for, while it does
	Stats   *Stats // what is in the visible body; nil if the call had none
	Changes []Change
	Diffs   diff.Payload
}

// Stats measure the visible body of an outcome.
type Stats struct {
	Matches int
	Lines   int
	Bytes   int
}

// A Change is one file that a call changed. Path is an escaped field.
type Change struct{ Status, Path string }

// Header returns the one line that stands for the call: Args, then Figures.
func (d Display) Header() string { return d.Args + d.Figures }
