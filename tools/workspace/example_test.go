package workspace_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"strings"

	"github.com/taukit/taukit/tools/workspace"
)

func ExampleNew() {
	ws, err := workspace.New("")
	if err != nil {
		log.Fatal(err)
	}
	_, err = ws.Open(context.Background(), "", "no-such-file")
	fmt.Println(errors.Is(err, workspace.ErrNotFound))
	// Output: true
}

// noSecrets is a file system that keeps some names to itself.
type noSecrets struct{ workspace.OS }

func (fs noSecrets) Open(ctx context.Context, name string) (workspace.File, error) {
	if strings.Contains(name, "secret") {
		return nil, workspace.ErrSandboxDenied
	}
	return fs.OS.Open(ctx, name)
}

func ExampleNewFS() {
	ws, err := workspace.NewFS(noSecrets{}, "/")
	if err != nil {
		log.Fatal(err)
	}
	_, err = ws.Open(context.Background(), "", "secrets.txt")
	fmt.Println(err)
	// Output: read /secrets.txt: denied by the sandbox
}
