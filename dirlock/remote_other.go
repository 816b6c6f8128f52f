//go:build darwin || freebsd || netbsd || openbsd || dragonfly || windows

package dirlock

// refuseRemote refuses nothing: which file systems are remote is only known on
// Linux.
func refuseRemote(string) error { return nil }
