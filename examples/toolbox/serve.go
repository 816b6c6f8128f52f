package main

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/taukit/taukit/artifact"
	"github.com/taukit/taukit/escape"
	"github.com/taukit/taukit/framing"
	"github.com/taukit/taukit/tools"
	"github.com/taukit/taukit/tools/args"
)

// codeBadRequest is for a line that is no request.
const codeBadRequest = "BAD_REQUEST"

// serve answers requests line by line until the end of the input, many at a
// time. Each answer is one line, written when it is ready.
func serve(ctx context.Context, c console, dir string, opts options) error {
	log := &eventLog{person: c.err}
	listen := func(cfg *tools.Config) { cfg.Listener = log }
	session, own, err := open(c, dir, opts, listen)
	var fault *tools.PolicyError
	if errors.As(err, &fault) { // the client is told by every answer
		session, own, err = open(c, dir, opts, func(cfg *tools.Config) {
			listen(cfg)
			cfg.ModelTags, cfg.Policy, cfg.EditStyle, cfg.Tools = nil, tools.Policy{}, "", nil
		})
	}
	if err != nil {
		return err
	}
	defer own.close()
	defer session.Close() //nolint:errcheck // the process is about to end

	s := &server{
		session: session, fault: fault, store: own.artifacts, log: log, agent: opts.Agent,
		out: c.out, running: map[string]context.CancelCauseFunc{}, agents: map[string]int{}, failed: make(chan error, 1),
	}
	lines := readLines(ctx, c.in)
	for {
		select {
		case l, ok := <-lines:
			switch {
			case errors.Is(l.err, errLongLine):
				s.refuse(nil, l.err.Error())
			case !ok || l.err != nil:
				s.drain(ctx)
				return cmp.Or(l.err, s.failure())
			default:
				s.handle(ctx, l.text)
			}
		case err := <-s.failed: // nobody reads the answers
			_ = s.session.Close()
			s.drain(ctx)
			return err
		case <-ctx.Done():
			s.drain(ctx)
			return nil
		}
	}
}

// drain waits for the running calls and their answers. No agent asks for anything
// more, so those without a call end, and others with their last one: nothing waits
// for their locks. When ctx ends it cancels the calls, and then has little patience
// with a client that does not read.
func (s *server) drain(ctx context.Context) {
	s.mu.Lock()
	s.last = true
	for agent, calls := range s.agents {
		s.endIdle(agent, calls)
	}
	s.mu.Unlock()
	answered := make(chan struct{})
	go func() {
		s.calls.Wait()
		close(answered)
	}()
	select {
	case <-answered:
		return
	case <-ctx.Done():
	}
	_ = s.session.Close() // again, when all is answered: closing twice is fine
	select {
	case <-answered:
	case <-time.After(time.Second):
	}
}

// A line is one line of input, or why there is none.
type line struct {
	text []byte
	err  error
}

// maxLine is the most that one request may take, in bytes: the arguments, in
// which each character may be an escape of six, and what is around them.
const maxLine = 6*args.MaxBytes + 64<<10

var errLongLine = errors.New("the line is too long")

// readLines returns the lines of r that are not blank, until its end or that
// of ctx. A read that is under way when ctx ends is left behind: nothing can
// interrupt it, and the process is about to end.
func readLines(ctx context.Context, r io.Reader) <-chan line {
	lines := make(chan line)
	send := func(l line) bool {
		select {
		case lines <- l:
			return true
		case <-ctx.Done():
			return false
		}
	}
	go func() {
		defer close(lines)
		for in := bufio.NewReader(r); ; {
			text, err := readLine(in)
			if text = bytes.TrimSpace(text); len(text) > 0 && !send(line{text: text}) {
				return
			}
			if err == io.EOF { //nolint:errorlint // only EOF itself is the end
				return
			}
			if err != nil && (!send(line{err: err}) || !errors.Is(err, errLongLine)) {
				return
			}
		}
	}()
	return lines
}

// readLine reads to the end of a line. Of one that is too long nothing is kept.
func readLine(in *bufio.Reader) ([]byte, error) {
	var text []byte
	long := false
	for {
		part, err := in.ReadSlice('\n')
		if long = long || len(text)+len(part) > maxLine; long {
			text = nil
		} else {
			text = append(text, part...)
		}
		switch {
		case errors.Is(err, bufio.ErrBufferFull):
		case long && (err == nil || err == io.EOF): //nolint:errorlint // the end is met again by the next read
			return nil, errLongLine
		default:
			return text, err
		}
	}
}

// A server is one session and the calls that are running in it.
type server struct {
	session *tools.Session
	fault   *tools.PolicyError // what fails every call; nil if nothing does
	store   artifact.Store
	log     *eventLog
	agent   string
	calls   sync.WaitGroup

	mu      sync.Mutex
	running map[string]context.CancelCauseFunc // by the text of the request's id
	agents  map[string]int                     // how many calls of each are running
	last    bool                               // there will be no further requests

	writing sync.Mutex
	out     io.Writer
	failed  chan error // why an answer could not be written
}

// failure returns why an answer could not be written, or nil.
func (s *server) failure() error {
	select {
	case err := <-s.failed:
		return err
	default:
		return nil
	}
}

// handle starts what a line asks for.
func (s *server) handle(ctx context.Context, line []byte) {
	r, err := parseRequest(line)
	switch {
	case err != nil:
		s.refuse(r.ID, err.Error())
	case r.Control != "":
		s.cancel(r)
	default:
		s.start(ctx, r)
	}
}

// start runs a call on a goroutine of its own. One without an id cannot be
// cancelled.
func (s *server) start(ctx context.Context, r request) {
	ctx, cancel := context.WithCancelCause(ctx)
	if !s.enter(r, cancel) {
		cancel(nil)
		s.refuse(r.ID, "a call with this id is running")
		return
	}
	s.calls.Go(func() {
		defer cancel(nil)
		out := s.call(ctx, r)
		s.leave(r)
		s.answer(answerOf(r.ID, out))
	})
}

// enter notes a call as running, unless its id is in use.
func (s *server) enter(r request, cancel context.CancelCauseFunc) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	id := string(r.ID)
	if s.running[id] != nil {
		return false
	}
	s.agents[s.agentOf(r)]++
	if id != "" {
		s.running[id] = cancel
	}
	return true
}

func (s *server) leave(r request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.running, string(r.ID))
	agent := s.agentOf(r)
	s.agents[agent]--
	s.endIdle(agent, s.agents[agent])
}

// endIdle ends an agent that has no running call and will make none.
func (s *server) endIdle(agent string, calls int) {
	if s.last && calls == 0 {
		s.session.EndAgent(agent)
	}
}

// agentOf returns the agent that a request is of.
func (s *server) agentOf(r request) string { return cmp.Or(r.Agent, s.agent) }

func (s *server) call(ctx context.Context, r request) tools.Outcome {
	if s.fault != nil {
		return tools.Fail(ctx, &framing.Error{Code: framing.CodeInvalidArguments, Message: s.fault.Error()}, tools.Display{})
	}
	agent := s.agentOf(r)
	if strings.HasPrefix(r.Tool, "@") {
		return s.inspect(ctx, agent, r.Tool, r.arguments())
	}
	return s.session.Call(ctx, tools.Call{
		ID: string(r.ID), Agent: agent, Tool: r.Tool, Arguments: r.arguments(),
	})
}

// cancel cancels a running call; the call itself is answered as usual.
func (s *server) cancel(r request) {
	s.mu.Lock()
	cancel, ok := s.running[string(r.Target)]
	s.mu.Unlock()
	if !ok {
		s.refuse(r.ID, "no call with the id of the target is running")
		return
	}
	cancel(nil)
	s.answer(answer{ID: r.ID})
}

func (s *server) refuse(id jsontext.Value, message string) {
	e := &framing.Error{Code: codeBadRequest, Message: message}
	s.answer(answer{ID: id, Text: e.Render(), Error: errorOf(e)})
}

// answer writes one line.
func (s *server) answer(a answer) {
	// An id is echoed as it came, whatever it is.
	line, err := json.Marshal(a, jsontext.AllowInvalidUTF8(true), jsontext.AllowDuplicateNames(true), jsontext.PreserveRawStrings(true))
	if err != nil {
		line = fmt.Appendf(nil, `{"id": null, "text": "", "error": {"code": %q, "message": "the answer has no form in JSON"}}`, framing.CodeInternal)
	}
	if isTerminal(s.out) {
		line = []byte(escape.TerminalText(string(line)))
	}
	s.writing.Lock()
	defer s.writing.Unlock()
	if _, err := s.out.Write(append(line, '\n')); err != nil {
		select {
		case s.failed <- err:
		default: // the first one tells enough
		}
	}
}
