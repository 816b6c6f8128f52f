//go:build linux || darwin || freebsd || netbsd || openbsd || dragonfly

package dirlock_test

import (
	"fmt"
	"os"
	"testing"

	"go.uber.org/goleak"
)

// helpers are what the test binary does as a process of its own, with the state
// directory STATE, and reports in lines. What they lock need not exist.
var helpers = map[string]func() error{
	"hold":       holdHelper,
	"edit":       editHelper,
	"count":      countHelper,
	"crash":      crashHelper,
	"unreadable": unreadableHelper,
	"try":        tryHelper,
}

const helperVariable = "DIRLOCK_TEST_HELPER"

func TestMain(m *testing.M) {
	name := os.Getenv(helperVariable)
	if name == "" {
		goleak.VerifyTestMain(m)
		return
	}
	if err := helpers[name](); err != nil {
		fmt.Println("error:", err)
		os.Exit(1)
	}
}
