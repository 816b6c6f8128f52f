package tools

import (
	"context"

	"github.com/taukit/taukit/artifact"
	"github.com/taukit/taukit/escape"
	"github.com/taukit/taukit/tools/args"
)

// NewTool returns a tool whose arguments are a struct, as package args
// describes it. The struct gives the schema, unless def has one, and decodes
// the arguments of each call before run is called; bad ones never reach it.
//
// Show says what a call asks for. Its display goes with the event that the
// call has started, and to run, which completes it for the outcome; it may be
// nil. NewTool panics if A is not a struct that package args can decode.
func NewTool[A any](
	def Definition,
	show func(a A) Display,
	run func(ctx context.Context, call Call, a A, d Display) Outcome,
) Tool {
	return newSpooled(nil, def, show, run)
}

// newSpooled is NewTool for a tool whose calls count for the life of saved
// output, whatever becomes of them.
func newSpooled[A any](
	spool *artifact.Spool,
	def Definition,
	show func(a A) Display,
	run func(ctx context.Context, call Call, a A, d Display) Outcome,
) Tool {
	decoder := args.For[A]()
	if def.Schema == nil {
		def.Schema = decoder.Schema()
	}
	return &typedTool[A]{definition: def, decoder: decoder, spool: spool, show: show, run: run}
}

// newEditor is newSpooled for a tool whose display is to have the path even if
// other arguments are wrong.
func newEditor[A any](
	spool *artifact.Spool,
	def Definition,
	show func(a A) Display,
	run func(ctx context.Context, call Call, a A, d Display) Outcome,
) Tool {
	t := newSpooled(spool, def, show, run).(*typedTool[A])
	t.showsPath = true
	return t
}

type typedTool[A any] struct {
	definition Definition
	decoder    *args.Decoder[A]
	spool      *artifact.Spool // nil if calls do not count
	showsPath  bool
	show       func(A) Display
	run        func(context.Context, Call, A, Display) Outcome
}

func (t *typedTool[A]) Definition() Definition { return t.definition }

func (t *typedTool[A]) Preview(call Call) Display {
	a, err := t.decoder.Decode(call.Arguments)
	if err != nil || t.show == nil {
		return Display{}
	}
	return t.show(a)
}

func (t *typedTool[A]) Call(ctx context.Context, call Call) Outcome {
	t.spool.Call()
	a, err := t.decoder.Decode(call.Arguments)
	var d Display
	if err != nil && t.showsPath {
		d.Args = escape.Path(args.PathOf(call.Arguments))
	}
	if err != nil {
		return Fail(ctx, err, d)
	}
	if t.show != nil {
		d = t.show(a)
	}
	return t.run(ctx, call, a, d)
}
