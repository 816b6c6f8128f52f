package main

import (
	"bytes"
	"encoding/json"
	"image"
	"image/png"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/stretchr/testify/require"

	"github.com/taukit/taukit/artifact"
	"github.com/taukit/taukit/tools"
)

// connect returns a client of a server with the tools of a session in dir.
func connect(t *testing.T, dir string) *mcp.ClientSession {
	session, err := tools.New(tools.Config{Root: dir, Store: artifact.NewMemStore(), Images: true})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, session.Close()) })
	here, there := mcp.NewInMemoryTransports()
	server, err := newServer(session).Connect(t.Context(), there, nil)
	require.NoError(t, err)
	client, err := mcp.NewClient(&mcp.Implementation{Name: "test"}, nil).Connect(t.Context(), here, nil)
	require.NoError(t, err)
	t.Cleanup(func() {
		require.NoError(t, client.Close())
		require.NoError(t, server.Wait())
	})
	return client
}

// call makes a call and returns its text and the rest of its content.
func call(t *testing.T, client *mcp.ClientSession, tool string, arguments any) (text string, failed bool, rest []mcp.Content) {
	t.Helper()
	result, err := client.CallTool(t.Context(), &mcp.CallToolParams{Name: tool, Arguments: arguments})
	require.NoError(t, err)
	require.NotEmpty(t, result.Content)
	return result.Content[0].(*mcp.TextContent).Text, result.IsError, result.Content[1:]
}

func TestServer(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "a.txt"), []byte("one\r\ntwo"), 0o644))
	var picture bytes.Buffer
	require.NoError(t, png.Encode(&picture, image.NewGray(image.Rect(0, 0, 8, 6))))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "a.png"), picture.Bytes(), 0o644))
	client := connect(t, dir)

	listed, err := client.ListTools(t.Context(), nil)
	require.NoError(t, err)
	require.Len(t, listed.Tools, 10)
	readOnly := map[string]bool{}
	for _, tool := range listed.Tools {
		require.NotEmpty(t, tool.Description)
		require.Equal(t, "object", tool.InputSchema.(map[string]any)["type"])
		readOnly[tool.Name] = tool.Annotations.ReadOnlyHint
	}
	require.True(t, readOnly["read"])
	require.False(t, readOnly["edit"])

	text, failed, _ := call(t, client, "read", map[string]any{"path": "a.txt"})
	require.Equal(t, "1(crlf) one\n2(no_nl) two", text)
	require.False(t, failed)
	text, failed, _ = call(t, client, "read", json.RawMessage(`{"path": "b.txt"}`))
	require.Equal(t, `error: cannot read "b.txt": no such file or directory; did you mean "a.txt"?`, text)
	require.True(t, failed)
	text, _, _ = call(t, client, "ls", nil)
	require.Equal(t, "1 a.png\n2 a.txt", text)

	text, _, _ = call(t, client, "export", map[string]any{"path": "a.png"})
	reference, _, _ := strings.Cut(strings.TrimPrefix(text, "artifact: "), "\n")
	_, failed, images := call(t, client, "read_image", map[string]any{"key": reference})
	require.False(t, failed)
	require.Len(t, images, 1)
	require.Equal(t, "image/png", images[0].(*mcp.ImageContent).MIMEType)
	shown, err := png.DecodeConfig(bytes.NewReader(images[0].(*mcp.ImageContent).Data))
	require.NoError(t, err)
	require.Equal(t, 8, shown.Width)
}
