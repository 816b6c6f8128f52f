//go:build unix

package main

import (
	"bufio"
	"context"
	"io"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/stretchr/testify/require"
)

func TestCancellationEndsTheCommand(t *testing.T) {
	dir := t.TempDir()
	client := connect(t, dir)
	fifo := filepath.Join(dir, "fifo")
	require.NoError(t, syscall.Mkfifo(fifo, 0o600))

	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	failed := make(chan error, 1)
	go func() {
		_, err := client.CallTool(ctx, &mcp.CallToolParams{Name: "shell", Arguments: map[string]any{
			"command": "exec 3> fifo; echo begun >&3; exec sleep 600",
		}})
		failed <- err
	}()
	f, err := os.Open(fifo)
	require.NoError(t, err)
	defer f.Close()
	out := bufio.NewReader(f)
	line, err := out.ReadString('\n')
	require.NoError(t, err)
	require.Equal(t, "begun\n", line)
	cancel()
	require.ErrorIs(t, <-failed, context.Canceled)
	_, err = out.ReadByte()
	require.Equal(t, io.EOF, err, "nobody holds the other end any more")
}
