package confine_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"

	"github.com/taukit/taukit/tools/confine"
)

// A Chain is made once and starts any number of commands.
func ExampleChain_Start() {
	chain := confine.Default()
	dir, err := os.MkdirTemp("", "example-")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)

	cmd := exec.Command("sh", "-c", "echo x > file 2> /dev/null")
	cmd.Dir = dir
	confined, err := chain.Start(context.Background(), cmd, confine.Plan{ReadOnly: []string{dir}})
	var unavailable *confine.UnavailableError
	if errors.As(err, &unavailable) {
		for _, reason := range unavailable.Reasons {
			fmt.Fprintln(os.Stderr, reason.Method, reason.Err)
		}
		return
	}
	if err != nil {
		fmt.Println(err)
		return
	}
	defer confined.Close()
	state, err := cmd.Process.Wait()
	fmt.Fprintln(os.Stderr, confined.Method().Enforces(), state, err)
}

// A program that wants UserNS calls RunHelper before anything else, in main and
// in TestMain.
func ExampleRunHelper() {
	confine.RunHelper() // does not return in the helper

	fmt.Println("the program begins")
	// Output: the program begins
}

// A harness can choose and order the methods, here for one that ships bwrap.
func ExampleNewChain() {
	chain := confine.NewChain(confine.MountNS(), confine.UserNS(), confine.Bubblewrap("/usr/libexec/harness/bwrap"))
	if method, err := chain.Method(context.Background()); err == nil {
		fmt.Fprintln(os.Stderr, "read-only by", method.Name())
	}
}
