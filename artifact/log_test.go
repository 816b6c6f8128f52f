package artifact_test

import (
	"bytes"
	"log/slog"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/taukit/taukit/artifact"
)

func TestLogTellsWhyOutputIsNotSaved(t *testing.T) {
	var log bytes.Buffer
	spool, err := artifact.NewSpool(artifact.Options{Dir: "/no/such/directory", Log: slog.New(slog.NewTextHandler(&log, nil))})
	require.NoError(t, err)
	_, err = spool.Save([]byte("x"))
	require.Error(t, err)
	require.Contains(t, log.String(), "/no/such/directory")
	log.Reset()

	require.NoError(t, spool.Close())
	_, err = spool.Create()
	require.ErrorIs(t, err, artifact.ErrClosed)
	require.Contains(t, log.String(), "closed")
}
