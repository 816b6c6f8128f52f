package proc_test

import "testing"

// onlyZombies cannot tell here.
func onlyZombies(*testing.T, int) bool { return false }
