package tools

import (
	"github.com/taukit/taukit/artifact"
	"github.com/taukit/taukit/tools/confine"
	"github.com/taukit/taukit/tools/guard"
	"github.com/taukit/taukit/tools/proc"
	"github.com/taukit/taukit/tools/workspace"
)

// An Env is what the tools of a set share. Each constructor takes what its tool
// needs of it; only Workspace must be set.
type Env struct {
	// Workspace is where the files are.
	Workspace *workspace.Workspace
	// Spool saves the complete output of a call that had to cut it; nil
	// switches saving off.
	Spool *artifact.Spool
	// Guard refuses changes of files that the agent has not read as they are
	// now; nil refuses nothing.
	Guard *guard.Policy
	// Locks are the directory locks of agents; nil is no locking.
	Locks Locks
	// Confine starts the commands of agents that hold no lock; nil leaves them
	// able to write.
	Confine *confine.Chain
	// Store keeps the originals of artifacts, and Imports the files that are made
	// of them; without them the tools that need them have nothing.
	Store   artifact.Store
	Imports *artifact.Imports
	// Workdirs are the directories that agents work in; only NewWorkdir needs
	// them.
	Workdirs *Workdirs
	// Drains reads the output of processes that outlive their command; without
	// it, they cannot write any more.
	Drains *proc.Drains
}
