package tools

// A Phase is a point in the life of a call.
type Phase string

// The phases. Each call that reaches a tool has one Started and in the end exactly
// one Result, Error or Cancelled. Between them it may be Waiting for a directory
// lock, once for each lock.
const (
	PhaseStarted   Phase = "started"
	PhaseWaiting   Phase = "waiting"
	PhaseResult    Phase = "result"
	PhaseError     Phase = "error"
	PhaseCancelled Phase = "cancelled"
)

// An Event tells that a call reached a phase.
type Event struct {
	Phase    Phase
	CallID   string
	Agent    string
	Internal string  // the internal name of the tool
	Visible  string  // the name that the model used
	Display  Display // what was asked for, what the call waits for, or what came of it
}

// A Listener is told of events, on the goroutine of the call: a slow listener
// makes slow calls, and its panic is the panic of Session.Call. It must be safe
// for concurrent use.
type Listener interface {
	Event(e Event)
}

// A ListenerFunc is a function that is a Listener.
type ListenerFunc func(e Event)

// Event calls f.
func (f ListenerFunc) Event(e Event) { f(e) }
