package main

import (
	"bufio"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// A tree is something to search.
type tree struct {
	name, what, dir string
	queries         []query
}

// makeTrees makes the trees that are not there yet.
func makeTrees(o options) ([]tree, error) {
	b1 := filepath.Join(o.dir, "B1")
	if err := copyOnce(b1); err != nil {
		return nil, err
	}
	small := tree{"B3", "net of the Go sources", filepath.Join(b1, "net"), queries}
	if o.short {
		return []tree{small}, nil
	}
	trees := []tree{{"B1", "the Go sources", b1, queries}, small}
	if !o.large {
		return trees, nil
	}
	b2 := filepath.Join(o.dir, "B2")
	for i := range 4 {
		if err := copyOnce(filepath.Join(b2, fmt.Sprint(i))); err != nil {
			return nil, err
		}
	}
	b4 := filepath.Join(o.dir, "B4")
	if err := logOnce(b4); err != nil {
		return nil, err
	}
	return append(trees, tree{"B2", "four copies of B1", b2, queries}, tree{"B4", "a log of 1 GB", b4, logQueries}), nil
}

// copyOnce copies the sources of Go to a directory.
func copyOnce(dir string) error {
	return once(dir, func(tmp string) error {
		goroot, err := exec.Command("go", "env", "GOROOT").Output()
		if err != nil {
			return err
		}
		return os.CopyFS(tmp, os.DirFS(filepath.Join(strings.TrimSpace(string(goroot)), "src")))
	})
}

// once makes a directory that is not there, whole or not at all.
func once(dir string, fill func(tmp string) error) error {
	if _, err := os.Stat(dir); err == nil {
		return nil
	}
	tmp := dir + ".tmp"
	if err := os.RemoveAll(tmp); err != nil {
		return err
	}
	if err := os.MkdirAll(tmp, 0o700); err != nil {
		return err
	}
	if err := fill(tmp); err != nil {
		return err
	}
	return os.Rename(tmp, dir)
}

// logBytes is the size of the log.
const logBytes = 1_000_000_000

// logOnce writes the log.
func logOnce(dir string) error {
	return once(dir, func(tmp string) error {
		f, err := os.Create(filepath.Join(tmp, "log"))
		if err != nil {
			return err
		}
		w := bufio.NewWriterSize(f, 1<<20)
		if err := writeLog(w); err != nil {
			f.Close()
			return err
		}
		if err := w.Flush(); err != nil {
			f.Close()
			return err
		}
		return f.Close()
	})
}

var (
	levels     = []string{"INFO", "INFO", "INFO", "DEBUG", "DEBUG", "WARN", "ERROR"}
	components = []string{"http", "db", "cache", "auth", "queue", "worker", "proxy", "scheduler"}
	phrases    = []string{"request completed", "connection reset", "cache miss", "retrying operation", "job started", "job finished", "token refreshed", "slow query"}
	words      = strings.Fields("alpha beta gamma delta epsilon zeta eta theta iota kappa lambda mu nu xi omicron pi rho sigma tau upsilon phi chi psi omega")
)

// writeLog writes lines of a server's log, a few of them with what is rare.
func writeLog(w *bufio.Writer) error {
	r := rand.New(rand.NewPCG(7, 11))
	word := func() string { return words[r.IntN(len(words))] }
	line := ""
	for i, size := 0, 0; size < logBytes; i++ {
		stamp := fmt.Sprintf("2026-11-%02dT%02d:%02d:%02d.%06dZ", 1+r.IntN(28), r.IntN(24), r.IntN(60), r.IntN(60), r.IntN(1_000_000))
		if i%1_500_000 == 1_000_000 {
			line = fmt.Sprintf("%s FATAL [kernel] XYZZY_RARE_NEEDLE id=%012x\n", stamp, r.Uint64()>>16)
		} else {
			line = fmt.Sprintf("%s %s [%s] %s id=%012x user=%s_%d dur=%dus path=/%s/%s/%s.go:%d\n", stamp, levels[r.IntN(len(levels))],
				components[r.IntN(len(components))], phrases[r.IntN(len(phrases))], r.Uint64()>>16, word(), r.IntN(10_000), r.IntN(100_000), word(), word(), word(), r.IntN(2_001))
		}
		n, err := w.WriteString(line[:min(len(line), logBytes-size)])
		if err != nil {
			return err
		}
		size += n
	}
	return nil
}
