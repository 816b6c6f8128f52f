package artifact_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/taukit/taukit/artifact"
)

func TestNilSpoolIsUnavailable(t *testing.T) {
	var s *artifact.Spool
	s.Call()
	_, err := s.Save([]byte("x"))
	require.ErrorIs(t, err, artifact.ErrUnavailable)
	w, err := s.Create()
	require.ErrorIs(t, err, artifact.ErrUnavailable)
	require.Nil(t, w)
	require.NoError(t, s.Close())
}

func TestNewSpoolRejectsImpossibleOptions(t *testing.T) {
	for name, opts := range map[string]artifact.Options{
		"negative bytes":         {MaxBytes: -1},
		"negative quota":         {Quota: -1},
		"negative files":         {MaxFiles: -1},
		"negative calls":         {MinCalls: -1},
		"negative age":           {MinAge: -time.Second},
		"prefix with a slash":    {Prefix: "a/b"},
		"prefix, line separator": {Prefix: "a\u2028b"},
		"prefix, control":        {Prefix: "a\x00b"},
		"prefix, not UTF-8":      {Prefix: "a\xff"},
	} {
		t.Run(name, func(t *testing.T) {
			s, err := artifact.NewSpool(opts)
			require.ErrorIs(t, err, fs.ErrInvalid)
			require.Nil(t, s)
		})
	}
}

func TestNewSpoolDoesNotTouchTheDisk(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "missing")
	s, err := artifact.NewSpool(artifact.Options{Dir: dir})
	require.NoError(t, err)
	s.Call()
	require.NoError(t, s.Close())
	_, err = os.Lstat(dir)
	require.ErrorIs(t, err, fs.ErrNotExist)
}

func TestSweepRejectsPrefix(t *testing.T) {
	_, err := artifact.Sweep(t.TempDir(), "../x", 0)
	require.ErrorIs(t, err, fs.ErrInvalid)
}

func TestErrUnsupportedIsTheStandardOne(t *testing.T) {
	require.True(t, errors.Is(artifact.ErrUnsupported, errors.ErrUnsupported))
}
