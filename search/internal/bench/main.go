// Command bench compares package search with ripgrep and fd on the same trees:
//
//	go run ./search/internal/bench            trees of 127 MB and 3.9 MB
//	go run ./search/internal/bench -large     also one of 508 MB, and a log of 1 GB
//	go run ./search/internal/bench -short     the small tree alone, few runs
//
// It prints the time of a search in process relative to that of a run of rg or
// fd as a child process: the median of runs in turn, after one that does not
// count. With the limit of the tool grep, rg is stopped at the match behind it.
// The trees are made once, in a directory outside of the repository (-dir).
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/taukit/taukit/search"
)

// A query is a search as both programs get it.
type query struct {
	name, pattern string
	ignoreCase    bool
}

var queries = []query{
	{"rare literal", "ReadMemStats", false},
	{"common literal", "func", false},
	{"very common literal", "return", false},
	{"no match", "XYZZY_NOPE", false},
	{"rare literal, ignore case", "readmemstats", true},
	{"common literal, ignore case", "error", true},
	{"alternation of 4 literals", "ReadMemStats|SetFinalizer|GOMAXPROCS|NumGoroutine", false},
	{"alternation of 12 literals", "ReadMemStats|SetFinalizer|GOMAXPROCS|NumGoroutine|KeepAlive|LockOSThread|NumCgoCall|BlockProfile|MutexProfile|StackRecord|MemProfile|GoroutineProfile", false},
	{"regex, literal prefix", `func \w+Stats\(`, false},
	{"regex, inner literal", `\w+\.ReadAll\(`, false},
	{"regex, no literal", `\w+\s+\w+\(`, false},
	{"regex, no literal, classes", `[A-Z][a-z]+[0-9]{3,}`, false},
	{"anchored", `^func \(`, false},
	{"word boundary", `\berr\b`, false},
}

var logQueries = []query{
	{"rare literal", "XYZZY_RARE_NEEDLE", false},
	{"no match", "XYZZY_NOPE", false},
	{"rare, ignore case", "xyzzy_rare_needle", true},
	{"alternation", "XYZZY_RARE|FATAL|kernel|omicron_9", false},
	{"literal prefix", `FATAL \[\w+\]`, false},
	{"class run and literal", `\w+_RARE_\w+`, false},
	{"digits, end anchor", `:1999$`, false},
	{"class run, end anchor", `[a-z]+:1999$`, false},
	{"no literal", `[A-Z]{7,} [a-z]+=\d`, false},
}

// toolLimit is the default limit of the tool grep.
const toolLimit = 100

type options struct {
	dir          string
	large, short bool
	runs         int
	only         string
	worst        float64
}

func main() {
	var o options
	flag.StringVar(&o.dir, "dir", filepath.Join(os.TempDir(), "taukit-bench"), "where the trees are")
	flag.BoolVar(&o.large, "large", false, "also the large trees")
	flag.BoolVar(&o.short, "short", false, "the small tree alone")
	flag.IntVar(&o.runs, "runs", 9, "runs of each program")
	flag.StringVar(&o.only, "only", "", "queries whose name holds this")
	flag.Float64Var(&o.worst, "worst", 0, "fail if a ratio is more than this")
	child := flag.String("child", "", "run one query in a directory, for its memory")
	pattern := flag.String("pattern", "", "of the child")
	flag.Parse()
	if *child != "" {
		if err := find(*child, query{pattern: *pattern}, 0); err != nil {
			fail(err)
		}
		fmt.Print(ownPeak())
		return
	}
	if err := run(o); err != nil {
		fail(err)
	}
}

func fail(err error) {
	fmt.Fprintln(os.Stderr, "bench:", err)
	os.Exit(1)
}

func run(o options) error {
	rg, err := exec.LookPath("rg")
	if err != nil {
		return err
	}
	trees, err := makeTrees(o)
	if err != nil {
		return err
	}
	worst := 0.0
	for _, tree := range trees {
		fmt.Printf("\n%s (%s)\n\n| query | limit %d | | all | | peak MB |\n|---|---|---|---|---|---|\n", tree.name, tree.what, toolLimit)
		for _, q := range tree.queries {
			if !strings.Contains(q.name, o.only) {
				continue
			}
			row := fmt.Sprintf("| %s |", q.name)
			for _, limit := range []int{toolLimit, 0} {
				ours, theirs, err := compare(o.runs,
					func() error { return find(tree.dir, q, limit) },
					func() error { return ripgrep(rg, tree.dir, q, limit) })
				if err != nil {
					return err
				}
				ratio := float64(ours) / float64(theirs)
				worst = max(worst, ratio)
				row += fmt.Sprintf(" %.2f | %s / %s |", ratio, ms(ours), ms(theirs))
			}
			fmt.Printf("%s %s |\n", row, peak(tree.dir, q))
		}
		if tree.queries[0].name == queries[0].name && o.only == "" {
			ratio, err := compareWalk(o, tree.dir)
			if err != nil {
				return err
			}
			worst = max(worst, ratio)
		}
	}
	if o.worst > 0 && worst > o.worst {
		return fmt.Errorf("the worst ratio is %.2f", worst)
	}
	return nil
}

// compareWalk compares a walk with fd, if that is installed.
func compareWalk(o options, dir string) (float64, error) {
	fd, err := exec.LookPath("fdfind") // its name on Debian
	if err != nil {
		if fd, err = exec.LookPath("fd"); err != nil {
			return 0, nil
		}
	}
	ours, theirs, err := compare(o.runs,
		func() error {
			for _, err := range search.Walk(context.Background(), search.WalkOptions{Root: dir}) {
				if err != nil {
					return err
				}
			}
			return nil
		},
		func() error {
			return drain(exec.Command(fd, "--hidden", "--type", "f", ".", dir), -1)
		})
	if err != nil {
		return 0, err
	}
	ratio := float64(ours) / float64(theirs)
	fmt.Printf("| walk, fd | | | %.2f | %s / %s | |\n", ratio, ms(ours), ms(theirs))
	return ratio, nil
}

// compare returns the median times of two programs that run in turn.
func compare(runs int, ours, theirs func() error) (a, b time.Duration, err error) {
	times := [2][]time.Duration{}
	for i := range runs + 1 {
		for k, program := range []func() error{ours, theirs} {
			start := time.Now()
			if err := program(); err != nil {
				return 0, 0, err
			}
			if i > 0 {
				times[k] = append(times[k], time.Since(start))
			}
		}
	}
	for k := range times {
		slices.Sort(times[k])
	}
	return times[0][len(times[0])/2], times[1][len(times[1])/2], nil
}

// find searches in process, as the tool grep does.
func find(dir string, q query, limit int) error {
	p, err := search.Compile(q.pattern, search.PatternOptions{IgnoreCase: q.ignoreCase})
	if err != nil {
		return err
	}
	o := search.GrepOptions{WalkOptions: search.WalkOptions{Root: dir}, Pattern: p, Limit: limit, ForRecords: true}
	var records []byte
	for m, err := range search.Grep(context.Background(), o) {
		if errors.Is(err, search.ErrLimit) {
			break
		}
		if err != nil {
			return err
		}
		records, _ = search.AppendHeading(records[:0], m.Path)
		for _, l := range m.Lines {
			records, _ = search.AppendLine(append(records, '\n'), l)
		}
	}
	return nil
}

func ms(d time.Duration) string { return fmt.Sprintf("%.1f ms", d.Seconds()*1e3) }
