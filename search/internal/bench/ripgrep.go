package main

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
)

// ripgrep runs rg on a tree, with a limit until the match behind it.
func ripgrep(rg, dir string, q query, limit int) error {
	args := []string{"--no-config", "--line-number", "--no-heading", "--color=never", "--hidden", "--glob=!.git"}
	if q.ignoreCase {
		args = append(args, "--ignore-case")
	}
	stopAt := -1
	if limit > 0 {
		stopAt = limit + 1
	}
	return drain(exec.Command(rg, append(args, "-e", q.pattern, dir)...), stopAt)
}

// drain runs a program and counts the lines of its output. At a number of lines
// that is not negative the program is killed.
func drain(cmd *exec.Cmd, stopAt int) error {
	out, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return err
	}
	lines := 0
	buf := make([]byte, 64<<10)
	for err == nil && (stopAt < 0 || lines < stopAt) {
		var n int
		n, err = out.Read(buf)
		lines += bytes.Count(buf[:n], []byte{'\n'})
	}
	_ = cmd.Process.Kill()
	err = cmd.Wait()
	var exit *exec.ExitError
	if errors.As(err, &exit) && (exit.ExitCode() == 1 || exit.ExitCode() == -1) {
		err = nil // nothing found, or killed
	}
	return err
}

// peak returns the memory of a program that does nothing but one full search,
// in MB, "" if the system does not tell.
func peak(dir string, q query) string {
	self, err := os.Executable()
	if err != nil {
		return ""
	}
	pattern := q.pattern
	if q.ignoreCase {
		pattern = "(?i)" + pattern
	}
	out, err := exec.Command(self, "-child", dir, "-pattern", pattern).Output()
	if err != nil {
		return ""
	}
	return string(out)
}

// ownPeak returns the largest resident size of this program in MB, as Linux
// tells it.
func ownPeak() string {
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return ""
	}
	_, line, _ := strings.Cut(string(status), "VmHWM:")
	kilobytes := 0
	if _, err := fmt.Sscan(line, &kilobytes); err != nil {
		return ""
	}
	return fmt.Sprint(kilobytes * 1024 / 1e6)
}
