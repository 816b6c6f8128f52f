package tools

import (
	"bytes"
	"context"
	"errors"
	"slices"
	"sync"

	"github.com/taukit/taukit/escape"
	"github.com/taukit/taukit/framing"
)

// ErrNewInput is the cause to end the context of [Background.Wait] with when
// there is new input for the model: the end of the wait is then a result, not a
// cancellation.
var ErrNewInput = errors.New("new input for the model")

// errByModel is the reason of calls that the model has cancelled.
var errByModel = errors.New("cancelled by the model")

// A Background runs calls of a session while its model goes on, for harnesses
// that have nothing of the kind: the model gets a placeholder at once, and the
// outcome when it waits for it. Each outcome is collected once. A Background is
// safe for concurrent use.
type Background struct {
	session *Session
	running sync.WaitGroup

	mu     sync.Mutex
	closed bool
	known  map[string]bool   // the ids of all calls
	calls  []*backgroundCall // those that were not collected, in the order of their start
	ended  chan struct{}     // closed and replaced whenever a call ends
}

type backgroundCall struct {
	id        string
	cancel    context.CancelCauseFunc
	cancelled bool
	out       *Outcome // nil while it runs
}

// NewBackground returns a Background without calls, to be closed before the
// session is.
func NewBackground(s *Session) *Background {
	return &Background{session: s, known: map[string]bool{}, ended: make(chan struct{})}
}

// Start starts a call, which needs an id that no other one has had, and returns
// the placeholder that the model gets for it. The call runs where its agent works
// now, and ctx cancels it. A tool that answers with images can do so in the
// foreground only: it is refused.
func (b *Background) Start(ctx context.Context, call Call) Outcome {
	for _, def := range b.session.Definitions() {
		if def.Name == call.Tool && (def.Foreground || def.Images) {
			return refusal(def.Name + " cannot run in the background")
		}
	}
	ctx, cancel := context.WithCancelCause(ctx)
	c := &backgroundCall{id: call.ID, cancel: cancel}
	if reason := b.add(c); reason != "" {
		cancel(nil)
		return refusal(reason)
	}
	call.Arguments = bytes.Clone(call.Arguments)
	run := b.session.begin(ctx, call)
	go func() {
		out := Fail(ctx, &framing.Error{Code: framing.CodeInternal, Message: internalError(call.Tool)}, Display{})
		defer func() { b.end(c, out) }() // even if the goroutine ends in the call
		out = run()
	}()
	id, _ := escape.Field(call.ID)
	r := framing.Result{Body: "Tool call `" + id + "` is running in the background."}
	r.AddTrue("tau_internal", true)
	return Succeed(r, Display{})
}

// add lets a call in, or says why not.
func (b *Background) add(c *backgroundCall) (reason string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	switch {
	case c.id == "":
		return emptyCallID
	case b.known[c.id]:
		return "Tool call id is already in use"
	case b.closed:
		return errClosed.Error()
	}
	b.known[c.id] = true
	b.calls = append(b.calls, c)
	b.running.Add(1)
	return ""
}

// end stores what became of a call.
func (b *Background) end(c *backgroundCall, out Outcome) {
	defer b.running.Done()
	b.mu.Lock()
	defer b.mu.Unlock()
	c.cancel(nil)
	c.out = &out
	close(b.ended)
	b.ended = make(chan struct{})
}

// Cancel asks a running call to end. That it succeeds means no more: a command
// may have some seconds left. The outcome of the call stays to be collected and
// says what was done.
func (b *Background) Cancel(id string) Outcome {
	b.mu.Lock()
	defer b.mu.Unlock()
	c, reason := b.find(id)
	switch {
	case reason != "":
		return refusal(reason)
	case c.out != nil:
		return refusal(alreadyDone)
	case c.cancelled:
		return refusal("Tool call already canceled")
	}
	c.cancelled = true
	c.cancel(errByModel)
	return Succeed(framing.Result{Body: "Tool cancellation requested"}, Display{})
}

// Wait waits for a call and returns its outcome as [Session.Call] would. Of two
// waiters for one call, one gets it. The end of ctx ends the wait and nothing
// else; with the cause [ErrNewInput] that is a result, [framing.WaitInterrupted].
func (b *Background) Wait(ctx context.Context, id string) Outcome {
	return b.wait(ctx, framing.WaitExact, func() (*backgroundCall, string) { return b.find(id) })
}

// WaitAny waits for whichever call ends first. The header original_tool_call_id
// of the outcome says which one that was; otherwise it is like [Background.Wait].
func (b *Background) WaitAny(ctx context.Context) Outcome {
	return b.wait(ctx, framing.WaitAnyBackground, b.first)
}

func (b *Background) wait(ctx context.Context, mode framing.WaitMode, target func() (*backgroundCall, string)) Outcome {
	for {
		out, id, ended := b.collect(target)
		switch {
		case out == nil:
		case id != "" && mode == framing.WaitAnyBackground:
			return out.of(id)
		default:
			return *out
		}
		select {
		case <-ended:
		case <-ctx.Done():
			if errors.Is(context.Cause(ctx), ErrNewInput) {
				return Succeed(framing.WaitInterrupted(mode), Display{})
			}
			return Fail(ctx, ctx.Err(), Display{})
		}
	}
}

// collect returns the outcome of a call, or the refusal of one that there is not,
// which has no id. While the call runs it is nil; then ended will tell when to try
// again.
func (b *Background) collect(target func() (*backgroundCall, string)) (out *Outcome, id string, ended <-chan struct{}) {
	b.mu.Lock()
	defer b.mu.Unlock()
	c, reason := target()
	if reason != "" {
		refused := refusal(reason)
		return &refused, "", nil
	}
	if c.out != nil {
		b.calls = slices.DeleteFunc(b.calls, func(other *backgroundCall) bool { return other == c })
	}
	return c.out, c.id, b.ended
}

// find returns the call with the id that was not collected yet, or says why
// there is none. The caller holds the mutex.
func (b *Background) find(id string) (c *backgroundCall, reason string) {
	i := slices.IndexFunc(b.calls, func(c *backgroundCall) bool { return c.id == id })
	switch {
	case i >= 0:
		return b.calls[i], ""
	case id == "":
		return nil, emptyCallID
	case b.known[id]:
		return nil, alreadyDone
	default:
		return nil, "Unknown tool call id"
	}
}

// first returns a call that has ended or, if none has, one that runs. The caller
// holds the mutex.
func (b *Background) first() (c *backgroundCall, reason string) {
	if len(b.calls) == 0 {
		return nil, "no tool call is running in the background"
	}
	i := slices.IndexFunc(b.calls, func(c *backgroundCall) bool { return c.out != nil })
	return b.calls[max(i, 0)], ""
}

// Close cancels all calls and waits for them. Their outcomes stay to be
// collected; no further call is started.
func (b *Background) Close() {
	b.mu.Lock()
	b.closed = true
	for _, c := range b.calls {
		c.cancel(errClosed)
	}
	b.mu.Unlock()
	b.running.Wait()
}

const (
	emptyCallID = "`tool_call_id` must not be empty"
	alreadyDone = "Tool call is already done"
)

// refusal returns the outcome of a request that does not fit the calls there are.
func refusal(message string) Outcome {
	err := &framing.Error{Code: framing.CodeInvalidArguments, Message: message}
	return Fail(context.Background(), err, Display{})
}

// of returns the outcome with the id of the call that it is of.
func (out Outcome) of(id string) Outcome {
	shown, _ := escape.Field(id)
	header := framing.Header{Key: "original_tool_call_id", Value: shown}
	if e := out.Error; e != nil {
		told := *e
		told.Fields = append(slices.Clip(e.Fields), header)
		out.Error = &told
	} else {
		out.Result.Headers = append(slices.Clip(out.Result.Headers), header)
	}
	return out.settled()
}
