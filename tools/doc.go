// Package tools is the set of tools that a coding agent's model sees, made of
// the building blocks of this module.
//
// A [Session] is the ready-made set for one or more agents: it says which tools
// there are, runs calls, reports the life of each call to a [Listener], and
// cleans up when it is closed.
//
//	session, err := tools.New(tools.Config{Root: dir})
//	if err != nil {
//		return err
//	}
//	defer session.Close()
//	out := session.Call(ctx, tools.Call{Tool: "read", Arguments: []byte(`{"path":"main.go"}`)})
//	fmt.Println(out.Text)
//
// A [Set] is the same without a session: any tools, ours and the harness's
// own, joined under their names. Each of our tools has a constructor that takes
// only what it needs.
//
// This package writes the text that a model reads (but for faults of arguments,
// which package args words), and escapes what comes from the file system while
// it does. The building blocks below it know nothing of models.
//
// # Errors
//
// A failed call has an [Outcome] with an Error, whose code is for programs. The
// codes are those of package framing, this package, and packages search, patch
// and dirlock. What went wrong below is in the chain of causes, for errors.Is and
// errors.As.
//
// The package is not a sandbox and asks nobody for permission: that is for
// middleware, and for the file system of a [Config]'s Workspace.
package tools
