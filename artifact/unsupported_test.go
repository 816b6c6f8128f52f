//go:build !(linux || darwin || freebsd || netbsd || openbsd || dragonfly)

package artifact_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/taukit/taukit/artifact"
)

func TestUnsupportedPlatform(t *testing.T) {
	s, err := artifact.NewSpool(artifact.Options{Dir: t.TempDir()})
	require.NoError(t, err)
	_, err = s.Save(nil)
	require.ErrorIs(t, err, artifact.ErrUnsupported)
	_, err = artifact.Sweep(t.TempDir(), "", 0)
	require.ErrorIs(t, err, artifact.ErrUnsupported)
	require.NoError(t, s.Close())
}
