package confine

import (
	"context"
	"os/exec"

	"golang.org/x/sys/unix"
)

// MountNS starts a command in a mount namespace of its own, with read-only bind
// mounts over the directories. It needs CAP_SYS_ADMIN. The command has neither
// that nor CAP_SYS_PTRACE and CAP_DAC_READ_SEARCH, so that it cannot leave.
func MountNS() Method { return mountNS{} }

type mountNS struct{}

func (mountNS) Name() string          { return "MountNS" }
func (mountNS) Enforces() Enforcement { return ByBind }

func (m mountNS) Probe(ctx context.Context) error {
	return probe(ctx, func(_ context.Context, cmd *exec.Cmd, p Plan) error { return m.Start(cmd, p) })
}

func (mountNS) Start(cmd *exec.Cmd, p Plan) error {
	layers, err := p.layers()
	if err != nil {
		return err
	}
	return startOnThread(cmd, func() error {
		if err := unix.Unshare(unix.CLONE_NEWNS); err != nil {
			return setup("unshare", err)
		}
		if err := bind(layers); err != nil {
			return err
		}
		if err := dropEscapes(); err != nil {
			return err
		}
		return noNewPrivileges()
	})
}
