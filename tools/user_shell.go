package tools

import (
	"bytes"
	"context"
	"fmt"
	"strings"

	"github.com/taukit/taukit/framing"
	"github.com/taukit/taukit/internal/illformed"
	"github.com/taukit/taukit/lineio"
	"github.com/taukit/taukit/shellrec"
	"github.com/taukit/taukit/tools/args"
	"github.com/taukit/taukit/truncate"
)

// A UserShell runs commands that a person types, as the tool shell runs those of
// a model, but never read-only, with more time and less output. Whether a model
// is shown the outcome is up to the harness.
type UserShell struct {
	runner *shellRunner
}

// NewUserShell returns a UserShell.
func NewUserShell(env Env, cfg ShellConfig) *UserShell {
	return &UserShell{&shellRunner{env, cfg.withDefaults()}}
}

// A UserCommand is a command that a person typed.
type UserCommand struct {
	Command string
	// Dir is the absolute directory to run it in. By default it is that of the
	// workspace, or in a Session that of the Agent, by default [DefaultAgent].
	Dir   string
	Agent string
	// Live is given the output as it arrives, cut between characters and at most
	// 10,240 bytes of both streams together; if that is not all, then the text
	// "[output truncated]" once. It must not block, nor keep the slice. It may be
	// nil.
	Live func(s shellrec.Stream, p []byte)
}

// Run runs a command. The error of a command that was not started is in the
// outcome, as with a tool.
func (u *UserShell) Run(ctx context.Context, c UserCommand) Outcome {
	d := commandDisplay(c.Command)
	u.runner.Spool.Call()
	if err := checkCommand(c.Command); err != nil {
		return Fail(ctx, err, d)
	}
	call := shellCall{command: c.Command, timeout: u.runner.cfg.UserTimeout}
	dir, err := u.runner.admit(ctx, Call{Dir: c.Dir}, call)
	if err != nil {
		return Fail(ctx, err, d)
	}
	t := newTranscript(u.runner.Spool, truncate.UserShell)
	defer t.discard()
	live := liveView{show: c.Live, room: maxLive}
	end, err := u.runner.run(ctx, call, dir, new(access), func(s shellrec.Stream, p []byte) {
		live.write(s, p)
		t.write(s, p)
	})
	if err != nil {
		return Fail(ctx, err, d)
	}
	live.close()
	return ended(end, new(access), t, d)
}

// checkCommand refuses what the argument of the tool shell refuses.
func checkCommand(command string) error {
	fault := ""
	switch {
	case strings.TrimSpace(command) == "":
		fault = "command must not be empty"
	case strings.Contains(command, "\x00"):
		fault = "command must not contain NUL"
	case len(command) > args.MaxCommand:
		fault = fmt.Sprintf("command exceeds %d bytes", args.MaxCommand)
	default:
		return nil
	}
	return &framing.Error{Code: framing.CodeInvalidArguments, Message: fault}
}

// What a person is shown of a command while it runs.
const (
	maxLive       = 10 << 10 // bytes
	liveTruncated = "[output truncated]"
)

// A liveView shows the first output of a command as it arrives. The start of a
// character waits for the rest of it.
type liveView struct {
	show func(s shellrec.Stream, p []byte) // may be nil
	room int                               // bytes
	cut  bool
	held [2][]byte // by stream
}

func (v *liveView) write(s shellrec.Stream, p []byte) {
	if v.show == nil || v.cut {
		return
	}
	p = append(v.held[s], p...)
	whole := len(p) - illformed.Incomplete(p)
	v.held[s] = bytes.Clone(p[whole:])
	v.put(s, p[:whole])
}

// close shows what waits for nothing any more.
func (v *liveView) close() {
	for s, p := range v.held {
		v.put(shellrec.Stream(s), p)
	}
}

func (v *liveView) put(s shellrec.Stream, p []byte) {
	if v.cut {
		return
	}
	shown := lineio.RunePrefix(p, v.room)
	v.room -= len(shown)
	if len(shown) > 0 {
		v.show(s, shown)
	}
	if v.cut = len(shown) < len(p); v.cut {
		v.show(s, []byte(liveTruncated))
	}
}
