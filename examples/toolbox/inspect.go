package main

import (
	"context"
	"io"
	"strconv"
	"strings"
	"sync"

	"github.com/go-json-experiment/json"

	"github.com/taukit/taukit/escape"
	"github.com/taukit/taukit/framing"
	"github.com/taukit/taukit/tools"
)

// inspect answers the calls whose names begin with "@". They are for tests of
// a harness and are never shown to a model.
func (s *server) inspect(ctx context.Context, agent, name string, arguments []byte) tools.Outcome {
	var result framing.Result
	var err error
	switch name {
	case "@tools":
		result = s.exposed()
	case "@events":
		result = s.log.result()
	case "@discovery":
		result, err = s.discovered(ctx, agent)
	case "@clipboard_png":
		result, err = s.paste(ctx, arguments)
	case "@render":
		result, err = render(arguments)
	case "@escape":
		result, err = escapeText(arguments)
	default:
		shown, _ := escape.Field(name)
		err = &framing.Error{Code: framing.CodeUnknownTool, Message: "unknown tool: " + shown}
	}
	if err != nil {
		return tools.Fail(ctx, err, tools.Display{})
	}
	// Not as a tool succeeds: an empty text is to be seen as such.
	return tools.Outcome{Text: result.Render(), Result: result, Display: tools.Display{Status: tools.StatusOK}}
}

// exposed lists the tools under both of their names.
func (s *server) exposed() framing.Result {
	var lines []string
	for _, d := range s.session.Definitions() {
		internal := d.Internal
		if internal == "" {
			internal = d.Name
		}
		lines = append(lines, framing.Record(token(d.Name), token(internal)))
	}
	return table("name internal", lines)
}

// discovered lists what an agent has been told of its user and its project.
func (s *server) discovered(ctx context.Context, agent string) (framing.Result, error) {
	snapshot, err := s.session.Workdirs().WaitReady(ctx, agent)
	if err != nil {
		return framing.Result{}, err
	}
	var r framing.Result
	r.Add("revision", strconv.FormatUint(snapshot.Revision, 10))
	r.Add("dir", escape.Path(snapshot.Dir))
	if snapshot.Degraded {
		reason, _ := escape.Field(snapshot.Reason)
		r.Add("degraded", reason)
	}
	var lines []string
	for _, i := range snapshot.Instructions() {
		lines = append(lines, framing.Record("instructions", "-", escape.Path(i.Path)))
	}
	for _, skill := range snapshot.Skills() {
		lines = append(lines, framing.Record("skill", skill.Name, escape.Path(skill.Path)))
	}
	if len(lines) > 0 {
		r.Add("format", "kind name path...")
		r.Body = strings.Join(lines, "\n")
	}
	return r, nil
}

// paste stores an image and returns the text that stands for it.
func (s *server) paste(ctx context.Context, arguments []byte) (framing.Result, error) {
	var a struct {
		PNG []byte `json:"b64"`
	}
	if err := decode(arguments, &a); err != nil {
		return framing.Result{}, err
	}
	text, err := tools.ClipboardImage(ctx, s.store, a.PNG)
	return framing.Result{Body: text}, err
}

// An eventLog remembers the events of a session, and tells a person what waits.
type eventLog struct {
	person io.Writer

	mu    sync.Mutex
	lines []string
}

// Event notes an event, but for the waiting in between.
func (l *eventLog) Event(e tools.Event) {
	if e.Phase == tools.PhaseWaiting {
		printWaiting(l.person, e)
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.lines = append(l.lines, framing.Record(string(e.Phase), token(e.Internal), token(e.Visible)))
}

func (l *eventLog) result() framing.Result {
	l.mu.Lock()
	defer l.mu.Unlock()
	return table("phase internal visible", l.lines)
}

// table returns records under the header that names their fields.
func table(format string, lines []string) framing.Result {
	r := framing.Result{Body: strings.Join(lines, "\n")}
	r.Add("format", format)
	return r
}

func token(s string) string {
	t, _ := escape.Token(s)
	return t
}

// render returns the result or error that the arguments describe.
func render(arguments []byte) (framing.Result, error) {
	var a struct {
		Headers [][2]string `json:"headers"`
		Body    string      `json:"body"`
		Error   *struct {
			Message string      `json:"message"`
			Code    string      `json:"code"`
			Fields  [][2]string `json:"fields"`
			Output  string      `json:"output"`
		} `json:"error"`
	}
	if err := decode(arguments, &a); err != nil {
		return framing.Result{}, err
	}
	if e := a.Error; e != nil {
		return framing.Result{}, &framing.Error{Code: e.Code, Message: e.Message, Fields: headers(e.Fields), Output: e.Output}
	}
	return framing.Result{Headers: headers(a.Headers), Body: a.Body}, nil
}

func headers(pairs [][2]string) []framing.Header {
	var list []framing.Header
	for _, p := range pairs {
		list = append(list, framing.Header{Key: p[0], Value: p[1]})
	}
	return list
}

// escapeText returns a text in one of the forms of escaping.
func escapeText(arguments []byte) (framing.Result, error) {
	var a struct {
		Text  string `json:"text"`
		Bytes []byte `json:"b64"`
		Form  string `json:"form"`
	}
	if err := decode(arguments, &a); err != nil {
		return framing.Result{}, err
	}
	text := a.Text + string(a.Bytes)
	var flags escape.Flags
	switch a.Form {
	case "field":
		text, flags = escape.Field(text)
	case "token":
		text, flags = escape.Token(text)
	case "exact":
		text = escape.Exact(text)
	case "quote":
		text = escape.Quote(text)
	case "header":
		text = framing.SafeHeader(text)
	case "body":
		text = framing.SafeBody(text)
	case "terminal-line":
		text = escape.TerminalLine(text)
	case "terminal-text":
		text = escape.TerminalText(text)
	default:
		return framing.Result{}, &framing.Error{Code: framing.CodeInvalidArguments, Message: "unknown form: " + escape.Quote(a.Form)}
	}
	result := framing.Result{Body: text}
	if flags != 0 {
		result.Add("flags", strings.Join(flags.List(), ","))
	}
	return result, nil
}

func decode(arguments []byte, v any) error {
	if err := json.Unmarshal(arguments, v, json.RejectUnknownMembers(true)); err != nil {
		message, _ := escape.Field(err.Error())
		return &framing.Error{Code: framing.CodeInvalidArguments, Message: message}
	}
	return nil
}
