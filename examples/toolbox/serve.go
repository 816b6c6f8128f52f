package main

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"strings"
	"sync"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/taukit/taukit/framing"
	"github.com/taukit/taukit/tools"
)

// codeBadRequest is for a line that is no request.
const codeBadRequest = "BAD_REQUEST"

// A request is one line of standard input: a call, or a control message.
type request struct {
	ID      jsontext.Value `json:"id"`
	Agent   string         `json:"agent"`
	Tool    string         `json:"tool"`
	Args    jsontext.Value `json:"args"`
	RawArgs *string        `json:"raw_args"`
	Control string         `json:"control"`
	Target  jsontext.Value `json:"target"`
}

// serve answers requests line by line until the end of the input, many at a
// time. Each answer is one line, written when it is ready.
func serve(ctx context.Context, c console, dir string, opts options) error {
	log := &eventLog{}
	session, spool, err := open(dir, opts, log)
	if err != nil {
		return err
	}
	defer spool.Close()   //nolint:errcheck // what it cannot remove, a later one does
	defer session.Close() //nolint:errcheck // the process is about to end

	s := &server{session: session, log: log, agent: opts.Agent, out: c.out, running: map[string]context.CancelCauseFunc{}}
	defer s.calls.Wait()
	lines := readLines(ctx, c.in)
	for {
		select {
		case l, ok := <-lines:
			if !ok || l.err != nil {
				return l.err
			}
			s.handle(ctx, l.text)
		case <-ctx.Done():
			return nil
		}
	}
}

// A line is one line of input, or why there is none.
type line struct {
	text []byte
	err  error
}

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
			text, err := in.ReadBytes('\n')
			if text = bytes.TrimSpace(text); len(text) > 0 && !send(line{text: text}) {
				return
			}
			if err == io.EOF { //nolint:errorlint // only EOF itself is the end
				return
			}
			if err != nil {
				send(line{err: err})
				return
			}
		}
	}()
	return lines
}

// A server is one session and the calls that are running in it.
type server struct {
	session *tools.Session
	log     *eventLog
	agent   string
	calls   sync.WaitGroup

	mu      sync.Mutex
	out     io.Writer
	running map[string]context.CancelCauseFunc // by the text of the request's id
}

// handle starts what a line asks for.
func (s *server) handle(ctx context.Context, line []byte) {
	var r request
	// The arguments are the tool's to judge, as they came.
	err := json.Unmarshal(line, &r, json.RejectUnknownMembers(true), jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
	switch {
	case err != nil:
		var known struct {
			ID jsontext.Value `json:"id"`
		}
		_ = json.Unmarshal(line, &known)
		s.refuse(known.ID, "a request is one JSON object with id, agent, tool and args")
	case r.Control == "cancel":
		s.cancel(r)
	case r.Control != "":
		s.refuse(r.ID, "unknown control")
	case r.Tool == "":
		s.refuse(r.ID, "a request names a tool")
	case r.Args != nil && r.RawArgs != nil:
		s.refuse(r.ID, "args and raw_args exclude each other")
	default:
		s.start(ctx, r)
	}
}

// start runs a call on a goroutine of its own.
func (s *server) start(ctx context.Context, r request) {
	ctx, cancel := context.WithCancelCause(ctx)
	id := string(r.ID)
	s.mu.Lock()
	_, used := s.running[id]
	if !used {
		s.running[id] = cancel
	}
	s.mu.Unlock()
	if used {
		cancel(nil)
		s.refuse(r.ID, "a call with this id is running")
		return
	}
	s.calls.Go(func() {
		defer cancel(nil)
		out := s.call(ctx, r)
		s.mu.Lock()
		delete(s.running, id)
		s.mu.Unlock()
		s.answer(answerOf(r.ID, out))
	})
}

func (s *server) call(ctx context.Context, r request) tools.Outcome {
	arguments := []byte(r.Args)
	switch {
	case r.RawArgs != nil:
		arguments = []byte(*r.RawArgs)
	case r.Args == nil:
		arguments = []byte("{}")
	}
	if strings.HasPrefix(r.Tool, "@") {
		return s.inspect(ctx, r.Tool, arguments)
	}
	if r.Agent == "" {
		r.Agent = s.agent
	}
	return s.session.Call(ctx, tools.Call{ID: string(r.ID), Agent: r.Agent, Tool: r.Tool, Arguments: arguments})
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
	line, err := json.Marshal(a, jsontext.AllowInvalidUTF8(true))
	if err != nil { // only if an id could not be written back
		line = fmt.Appendf(nil, `{"error": {"code": %q, "message": %q}, "text": ""}`, codeBadRequest, "cannot answer")
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	_, _ = s.out.Write(append(line, '\n'))
}
