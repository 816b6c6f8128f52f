// Mcp serves the tools of taukit on a directory to any client of the Model
// Context Protocol, on standard input and output:
//
//	cd examples/mcp && go build -o taukit-mcp . && ./taukit-mcp -C DIR
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/taukit/taukit/artifact"
	"github.com/taukit/taukit/escape"
	"github.com/taukit/taukit/tools"
	"github.com/taukit/taukit/tools/confine"
)

func main() {
	confine.RunHelper() // this program also starts commands that must not write
	dir := flag.String("C", ".", "the directory to work in")
	flag.Parse()
	if err := serve(*dir, &mcp.StdioTransport{}); err != nil {
		fmt.Fprintln(os.Stderr, "mcp:", escape.TerminalLine(err.Error()))
		os.Exit(1)
	}
}

// serve serves the tools until the client is gone or the process is to end.
func serve(dir string, transport mcp.Transport) error {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	session, err := tools.New(tools.Config{
		Root:   dir,
		Store:  artifact.NewMemStore(),
		Images: true,
	})
	if err != nil {
		return err
	}
	defer session.Close() //nolint:errcheck // what it cannot remove, the next session does
	return newServer(session).Run(ctx, transport)
}

// newServer returns a server with the tools of a session.
func newServer(session *tools.Session) *mcp.Server {
	server := mcp.NewServer(&mcp.Implementation{Name: "taukit", Version: "1"}, nil)
	for _, def := range session.Definitions() {
		server.AddTool(&mcp.Tool{
			Name:        def.Name,
			Description: def.Description,
			InputSchema: def.Schema,
			Annotations: &mcp.ToolAnnotations{
				ReadOnlyHint:    def.ReadOnly,
				DestructiveHint: &def.Destructive,
				IdempotentHint:  def.Idempotent,
			},
		}, handler(session))
	}
	return server
}

// handler hands calls on as the client sent them: the tools decode and check the
// arguments themselves, and the cancellation of a request ends the call.
func handler(session *tools.Session) mcp.ToolHandler {
	return func(ctx context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		arguments := req.Params.Arguments
		if arguments == nil {
			arguments = []byte("{}")
		}
		out := session.Call(ctx, tools.Call{Tool: req.Params.Name, Arguments: arguments})
		result := &mcp.CallToolResult{
			Content: []mcp.Content{&mcp.TextContent{Text: out.Text}},
			IsError: out.Error != nil,
		}
		for _, c := range out.Content {
			result.Content = append(result.Content, &mcp.ImageContent{Data: c.Data, MIMEType: c.MIMEType})
		}
		return result, nil
	}
}
