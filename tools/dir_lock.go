package tools

import (
	"context"
	"errors"
	"strconv"
	"strings"

	"github.com/taukit/taukit/dirlock"
	"github.com/taukit/taukit/escape"
	"github.com/taukit/taukit/framing"
	"github.com/taukit/taukit/tools/args"
)

// CodeLockDisabled is the code of dir_lock without locking.
const CodeLockDisabled = "DIR_LOCK_DISABLED"

const dirLockDescription = `Lock a directory and everything below it for updates, or unlock it, so that agents that share a work tree do not change it at once.
update waits while another agent holds an overlapping lock. Reads are never blocked. Shell commands may write only while this agent holds a lock that covers their working directory. Unlock the same directory when the work there is done. owner_agent_id is for abandoned locks.
{"command":"update","directory":"."}
{"command":"unlock","directory":"."}`

type dirLockTool struct{ Env }

// NewDirLock returns the tool dir_lock, with which an agent takes and releases
// update locks on directories.
func NewDirLock(env Env) Tool {
	t := &dirLockTool{env}
	return NewTool(Definition{
		Name:        "dir_lock",
		Description: dirLockDescription,
		Tags:        []string{"shell:lock"},
	}, func(a args.DirLock) Display { return dirLockDisplay(a, a.Directory) }, t.call)
}

func dirLockDisplay(a args.DirLock, dir string) Display {
	return Display{Args: a.Command + " " + escape.Path(dir)}
}

func (t *dirLockTool) call(ctx context.Context, call Call, a args.DirLock, d Display) Outcome {
	if t.Locks == nil {
		return Fail(ctx, &framing.Error{Code: CodeLockDisabled, Message: "dir_lock is disabled; set option `dir_lock.enable` to true"}, d)
	}
	if a.Command == args.LockUnlock {
		return t.unlock(ctx, call, a, d)
	}
	return t.update(ctx, call, a, d)
}

func (t *dirLockTool) update(ctx context.Context, call Call, a args.DirLock, d Display) Outcome {
	dir, err := dirlock.Canonical(call.Dir, a.Directory)
	if err != nil {
		return Fail(ctx, pathFailure("lock", a.Directory, err), d)
	}
	d = dirLockDisplay(a, dir)
	held, err := t.Locks.LockManual(ctx, call.lockRequest(d, dir))
	if err != nil {
		return Fail(ctx, lockFailure(ctx, withoutEcho(err, a.Directory)), d)
	}
	if held.Waited > 0 {
		if _, err := dirlock.Canonical(call.Dir, dir); err != nil { // gone while it waited
			_, _ = t.Locks.Unlock(ctx, dirlock.Owner(call.Agent), dir)
			return Fail(ctx, pathFailure("lock", a.Directory, err), d)
		}
	}
	var r framing.Result
	if held.Waited > slowCommand {
		r.AddInt(headerLockWait, wholeSeconds(held.Waited))
	}
	addCanonical(&r, a.Directory, dir)
	r.Add("locked", "true")
	return Succeed(r, d)
}

// withoutEcho leaves the directory that was asked for out of an error if it is
// what the call gave.
func withoutEcho(err error, given string) error {
	var e *dirlock.Error
	if errors.As(err, &e) && e.Code == dirlock.CodeDuplicate && e.Requested == given {
		told := *e
		told.Requested = ""
		return &told
	}
	return err
}

func addCanonical(r *framing.Result, given, dir string) {
	if dir != given {
		r.Add("canonical_directory", escape.Path(dir))
	}
}

// unlock releases a lock even if its directory is not there any more.
func (t *dirLockTool) unlock(ctx context.Context, call Call, a args.DirLock, d Display) Outcome {
	dir, missing := dirlock.UnlockDir(call.Dir, a.Directory)
	if dir != "" {
		d = dirLockDisplay(a, dir)
	}
	held, err := t.release(ctx, call, a, dir)
	switch {
	case missing != nil && (dir == "" || isUnknown(err)):
		return Fail(ctx, pathFailure("unlock", a.Directory, missing), d)
	case err != nil:
		return Fail(ctx, lockFailure(ctx, err), d)
	}
	var r framing.Result
	addCanonical(&r, a.Directory, dir)
	r.Add("locked", "false")
	if forced(call, a) && held.ActiveTools > 0 {
		r.AddInt("active_tools", int64(held.ActiveTools))
	}
	return Succeed(r, d)
}

func (t *dirLockTool) release(ctx context.Context, call Call, a args.DirLock, dir string) (dirlock.Held, error) {
	switch {
	case dir == "":
		return dirlock.Held{}, nil
	case forced(call, a):
		return t.Locks.ForceUnlock(ctx, dirlock.Owner(call.Agent), dirlock.Owner(*a.Owner), dir)
	default:
		return t.Locks.Unlock(ctx, dirlock.Owner(call.Agent), dir)
	}
}

// isUnknown reports whether err says that there is no such lock, and nothing of
// one that was.
func isUnknown(err error) bool {
	var e *dirlock.Error
	return errors.As(err, &e) && e.Code == dirlock.CodeNotHeld && e.Reason == ""
}

// forced reports whether it is another agent's lock that is to be released.
func forced(call Call, a args.DirLock) bool { return a.Owner != nil && *a.Owner != call.Agent }

// ForceUnlock releases the manual locks of all agents on a directory, on what is
// below it and above it, for a person who asks for it. A relative path starts at
// the directory that the agent works in. What tools hold while they run is not
// released.
func (s *Session) ForceUnlock(ctx context.Context, agent, directory string) Outcome {
	d := Display{Args: "force unlock " + escape.Path(directory)}
	if s.locks == nil {
		return Fail(ctx, &framing.Error{Code: CodeLockDisabled, Message: "directory locking is off"}, d)
	}
	base, err := s.workdirs.Dir(ctx, agent)
	if err != nil {
		return Fail(ctx, err, d)
	}
	dir, err := dirlock.UnlockDir(base, directory)
	if dir == "" {
		return Fail(ctx, pathFailure("unlock", directory, err), d)
	}
	released, err := s.locks.ForceUnlockOverlapping(ctx, dirlock.User, dir)
	switch {
	case err != nil:
		return Fail(ctx, lockFailure(ctx, err), d)
	case len(released) == 0:
		return Fail(ctx, &framing.Error{
			Code:    dirlock.CodeNotHeld,
			Message: "no manual directory locks overlap " + escape.Path(dir),
		}, d)
	}
	var lines []string
	for _, held := range released {
		owner, _ := escape.Token(string(held.Owner))
		lines = append(lines, framing.Record(owner, escape.Path(held.Dir)))
	}
	r := framing.Result{Body: strings.Join(lines, "\n")}
	r.Add("released", strconv.Itoa(len(released)))
	r.Add("format", "owner directory...")
	return Succeed(r, d)
}

// EndAgent releases the locks of an agent that has given its final answer, or was
// unloaded, and cancels what waits for one. Its running calls go on, and where it
// worked is known until [Workdirs.Forget].
func (s *Session) EndAgent(agent string) {
	if s.locks != nil {
		s.locks.ReleaseOwner(dirlock.Owner(agentName(agent)))
	}
}
