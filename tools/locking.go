package tools

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/taukit/taukit/dirlock"
	"github.com/taukit/taukit/escape"
	"github.com/taukit/taukit/framing"
	"github.com/taukit/taukit/lineio"
	"github.com/taukit/taukit/tools/workspace"
)

// Locks are the directory locks of a session, as far as tools need them.
// [github.com/taukit/taukit/dirlock.Manager] implements it.
type Locks interface {
	LockResolved(ctx context.Context, req dirlock.Request, resolve func() ([]string, error)) (*dirlock.Guard, error)
	LockCovered(ctx context.Context, req dirlock.Request) (*dirlock.Guard, error)
	LockManual(ctx context.Context, req dirlock.Request) (dirlock.Held, error)
	Unlock(ctx context.Context, owner dirlock.Owner, dir string) (dirlock.Held, error)
	ForceUnlock(ctx context.Context, by, victim dirlock.Owner, dir string) (dirlock.Held, error)
	OthersHeld(ctx context.Context, owner dirlock.Owner) ([]string, error)
}

var _ Locks = (*dirlock.Manager)(nil)

// underLock runs do under the automatic lock on the directories that resolve
// returns, for a call whose arguments are in order. It waits for the lock if need
// be. The call that do gets checks the lock before each change that others can
// see.
func (e Env) underLock(ctx context.Context, call Call, d Display, resolve func() ([]string, error), do func(context.Context, Call) Outcome) Outcome {
	if e.Locks == nil {
		return do(ctx, call)
	}
	var unresolved error
	guard, err := e.Locks.LockResolved(ctx, call.lockRequest(d), func() (dirs []string, err error) {
		dirs, unresolved = resolve()
		return dirs, unresolved
	})
	if err != nil && err == unresolved { //nolint:errorlint // that very error
		// The tool has words of its own for such a path. Should it not fail, the
		// change does.
		call.check = func(context.Context) error { return err }
		return do(ctx, call)
	}
	if err != nil {
		return Fail(ctx, lockFailure(ctx, err), d)
	}
	defer guard.Release()
	call.check = func(ctx context.Context) error {
		if err := guard.Check(ctx); err != nil {
			return lockFailure(ctx, err)
		}
		return nil
	}
	return afterWait(do(ctx, call), guard.Waited())
}

// lockRequest returns the request of a call for a lock. Who listens is told when
// it has to wait.
func (c Call) lockRequest(d Display, dirs ...string) dirlock.Request {
	return dirlock.Request{
		Owner: dirlock.Owner(c.Agent),
		Call:  dirlock.CallID(c.ID),
		Dirs:  dirs,
		OnWait: func(w dirlock.Wait) {
			if c.progress != nil {
				d.Status, d.Waiting = StatusWaiting, waitingFor(w.Dirs)
				c.progress(d)
			}
		},
	}
}

// holds returns why the call must not change anything any more, if there is a
// reason.
func (c Call) holds(ctx context.Context) error {
	if c.check == nil {
		return nil
	}
	return c.check(ctx)
}

// maxWaiting is the most that a display says of what a call waits for, in bytes.
const maxWaiting = 4096

// waitingFor words what a call waits for.
func waitingFor(dirs []string) string {
	shown := make([]string, len(dirs))
	for i, dir := range dirs {
		shown[i] = escape.Path(dir)
	}
	text := "waiting for directory lock: " + strings.Join(shown, ", ")
	if len(text) <= maxWaiting {
		return text
	}
	return string(lineio.RunePrefix([]byte(text), maxWaiting-len("..."))) + "..."
}

// writeDir returns the directory to lock for writing a file.
func (c Call) writeDir(path string) func() ([]string, error) {
	return func() ([]string, error) {
		dir, err := dirlock.WriteDir(c.Dir, path)
		return []string{dir}, err
	}
}

const headerLockWait = "lock_wait_duration_seconds"

// afterWait tells in an outcome that it took a while to get the lock.
func afterWait(out Outcome, waited time.Duration) Outcome {
	if waited <= slowCommand || out.Error != nil && out.Error.Code == framing.CodeCancelled {
		return out
	}
	wait := framing.Header{Key: headerLockWait, Value: strconv.FormatInt(wholeSeconds(waited), 10)}
	if out.Error == nil {
		out.Result.Headers = slices.Insert(slices.Clone(out.Result.Headers), 0, wait)
	} else {
		failure := *out.Error
		failure.Fields = slices.Insert(slices.Clone(failure.Fields), 0, wait)
		out.Error = &failure
	}
	return out.settled()
}

// Output texts of errors about locks.
const (
	adviceDuplicate = "This agent already holds an overlapping directory lock. Unlock `blocking_directory` first, or keep working under it."
	adviceAbandoned = "The blocking lock is idle and may be abandoned. Ask its owner to unlock it, or force the release: `dir_lock` with command `unlock`, `directory` set to `blocking_directory` and `owner_agent_id` set to `lock_owner_id`."
	adviceDeadlock  = "Waiting would deadlock: others in the chain wait for this agent. Unlock `held_directory` and try again."
	adviceLost      = "The lock on `lost_directory` no longer protects this agent, so nothing more was written. Read the files again, then lock again."
	adviceBackend   = "The lock service failed, so the operation was not run."
)

// lockFailure returns the error of a lock that could not be had, released or
// kept.
func lockFailure(ctx context.Context, err error) error {
	var e *dirlock.Error
	if !errors.As(err, &e) {
		return err
	}
	f := lockFields{&framing.Error{Code: e.Code, Cause: err}}
	switch e.Code {
	case dirlock.CodeCancelled:
		if ctx.Err() != nil {
			return err
		}
		f.Message = escapeField(e.Msg) // the agent was ended meanwhile
	case dirlock.CodeDuplicate:
		f.Message, f.Output = "dir_lock_duplicate", adviceDuplicate
		f.dir("blocking_directory", e.Blocking)
		f.dir("requested_directory", e.Requested)
		f.agent("lock_owner_id", e.BlockingOwner)
	case dirlock.CodeAbandoned:
		f.Message, f.Output = "dir_lock_abandoned", adviceAbandoned
		f.blocker(e)
		f.add("idle_seconds", strconv.Itoa(int(e.Idle.Seconds())))
		f.add("held_seconds", strconv.Itoa(int(e.HeldFor.Seconds())))
	case dirlock.CodeDeadlock:
		f.Message, f.Output = "dir_lock_deadlock", adviceDeadlock
		f.blocker(e)
		f.dir("held_directory", e.Held)
	case dirlock.CodeNotHeld:
		f.notHeld(e)
	case dirlock.CodeLost:
		f.Message, f.Output = "dir_lock_lost", adviceLost
		f.dir("lost_directory", e.Lost)
		f.add("reason", e.Reason)
		f.agent("released_by", e.ReleasedBy)
	case dirlock.CodePathChanged:
		f.Message = "dir_lock_path_changed"
		if e.Waited > slowCommand {
			f.add(headerLockWait, strconv.FormatInt(wholeSeconds(e.Waited), 10))
		}
		f.dir("requested_directory", e.Requested)
	case dirlock.CodeTimeout:
		f.Message = "dir_lock_timeout"
		f.blocker(e)
	case dirlock.CodeBusy:
		f.Message = "dir_lock_queue_full"
	case dirlock.CodeClosed:
		f.Message = "dir_lock_closed"
	case dirlock.CodeBackend:
		reason, _ := escape.Field(backendReason(e))
		f.Message, f.Output = "dir_lock backend error: "+reason, adviceBackend
	default:
		return err
	}
	return f.Error
}

func backendReason(e *dirlock.Error) string {
	if e.Err != nil {
		return e.Err.Error()
	}
	return e.Msg
}

// lockFields adds the facts that there are to an error.
type lockFields struct{ *framing.Error }

func (f lockFields) add(key, value string) {
	if value != "" {
		f.Fields = append(f.Fields, framing.Header{Key: key, Value: value})
	}
}

func (f lockFields) dir(key, dir string) {
	if dir != "" {
		f.add(key, escape.Path(dir))
	}
}

func (f lockFields) agent(key string, agent dirlock.Owner) {
	shown, _ := escape.Field(string(agent))
	f.add(key, shown)
}

func (f lockFields) blocker(e *dirlock.Error) {
	f.dir("blocking_directory", e.Blocking)
	f.agent("lock_owner_id", e.BlockingOwner)
}

// notHeld says that there is no such lock, and the first of these: that it was
// lost, that the agent has another one there, that another agent has.
func (f lockFields) notHeld(e *dirlock.Error) {
	agent, _ := escape.Field(string(e.Agent))
	f.Message = fmt.Sprintf("agent `%s` does not hold a directory lock for %s", agent, escape.Path(e.Requested))
	switch {
	case e.Reason != "":
		f.add("reason", e.Reason)
		f.agent("released_by", e.ReleasedBy)
	case e.Held != "":
		f.dir("held_directory", e.Held)
	default:
		f.blocker(e)
	}
}

// pathFailure returns the error of a directory that a call gave, which cannot be
// locked or unlocked.
func pathFailure(verb, path string, err error) error {
	var e *dirlock.Error
	if !errors.As(err, &e) || !strings.HasPrefix(e.Code, "FS_") {
		return err
	}
	return fileFailure(verb, path, &workspace.Error{Code: e.Code, Reason: e.Msg, Err: err})
}
