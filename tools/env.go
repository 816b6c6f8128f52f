package tools

import (
	"github.com/taukit/taukit/artifact"
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
	// Drains reads the output of processes that outlive their command; without
	// it, they cannot write any more.
	Drains *proc.Drains
}
