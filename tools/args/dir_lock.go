package args

import (
	"errors"
	"fmt"
	"strings"
	"unicode"
)

// The commands of the tool dir_lock.
const (
	LockUpdate = "update"
	LockUnlock = "unlock"
)

// maxAgentBytes is the most that the id of an agent may have.
const maxAgentBytes = 128

// DirLock is the arguments of the tool dir_lock.
type DirLock struct {
	Command   string  `json:"command" limits:"enum=update|unlock" description:"update locks the directory, unlock releases the lock."`
	Directory string  `json:"directory" limits:"minLength=1 noNUL maxLength=4096" description:"Existing directory; a relative path starts at the working directory."`
	Owner     *string `json:"owner_agent_id,omitzero" description:"With unlock: release the lock of this agent by force. For locks that were abandoned."`
}

// Check refuses an owner that is no agent's id, or is given with update.
func (a DirLock) Check() error {
	switch {
	case a.Owner == nil:
		return nil
	case a.Command != LockUnlock:
		return errors.New("owner_agent_id is only valid with command unlock")
	case *a.Owner == "":
		return errors.New("owner_agent_id must not be empty")
	case len(*a.Owner) > maxAgentBytes:
		return fmt.Errorf("owner_agent_id exceeds %d bytes", maxAgentBytes)
	case strings.ContainsFunc(*a.Owner, func(r rune) bool { return unicode.IsSpace(r) || unicode.IsControl(r) }):
		return errors.New("owner_agent_id must not contain white space or control characters")
	default:
		return nil
	}
}
