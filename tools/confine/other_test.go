//go:build !linux

package confine_test

import (
	"errors"
	"os/exec"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/taukit/taukit/tools/confine"
)

func TestUnavailable(t *testing.T) {
	confine.RunHelper()
	_, err := confine.Default().Start(t.Context(), exec.Command("true"), confine.Plan{ReadOnly: []string{t.TempDir()}})
	var unavailable *confine.UnavailableError
	require.ErrorAs(t, err, &unavailable)
	require.Len(t, unavailable.Reasons, 4)
	require.ErrorIs(t, err, errors.ErrUnsupported)
}
