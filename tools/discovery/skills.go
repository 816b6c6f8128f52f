package discovery

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/taukit/taukit/tools/workspace"
)

const (
	// MaxSkillLevels is how many levels of directories below a directory of
	// skills are looked at.
	MaxSkillLevels = 4
	// MaxSkillEntries is how many directory entries a scan looks at in search
	// of skills.
	MaxSkillEntries = 1 << 16

	skillName  = "SKILL.md"
	lookBatch  = 128 // entries whose skills are in memory at once
	maxWorkers = 4
)

// skills adds the skills of a directory of skills. The error is that of ctx
// alone: other failures are diagnostics.
func (s *scan) skills(ctx context.Context, root string) error {
	canonical, _, err := s.fs.Resolve(ctx, root)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return ctx.Err()
	case err != nil:
		canonical = root // listing it says what is wrong
	}
	return s.skillsIn(ctx, root, canonical, 1)
}

// skillsIn adds the skills of a directory that is level levels deep. Where it
// has been already, be it through a symbolic link, it does not go again.
func (s *scan) skillsIn(ctx context.Context, dir, canonical string, level int) error {
	if s.visited[canonical] {
		return ctx.Err()
	}
	s.visited[canonical] = true
	entries, err := s.list(ctx, dir, s.mayBeSkill(dir))
	if err := s.report(ctx, dir, err); err != nil {
		return err
	}
	slices.SortFunc(entries, func(a, b entry) int { return strings.Compare(a.name, b.name) })
	for batch := range slices.Chunk(entries, lookBatch) {
		for i, l := range s.look(ctx, dir, batch, level) {
			if s.found.full(l.path) {
				return ctx.Err()
			}
			if err := s.use(ctx, l, filepath.Join(canonical, batch[i].name), level); err != nil {
				return err
			}
		}
	}
	return nil
}

// mayBeSkill counts entries, and wants those that may be or hold skills.
func (s *scan) mayBeSkill(dir string) func(name string) bool {
	return func(name string) bool {
		if s.entries++; s.entries > MaxSkillEntries {
			s.found.limit(dir, fmt.Sprintf("directories of skills have more than %d entries", MaxSkillEntries))
			return false
		}
		return !strings.HasPrefix(name, ".")
	}
}

// looked is what was found at an entry of a directory of skills.
type looked struct {
	path  string // of the entry
	entry entry
	file  string // that was read, "" if the entry can be no skill
	skill Skill
	fault error // of its front matter
	err   error // of reading the file
}

// look looks at entries, at several of them at once as most of the time goes
// into system calls, and returns what it has found in their order.
func (s *scan) look(ctx context.Context, dir string, entries []entry, level int) []looked {
	found := make([]looked, len(entries))
	var next atomic.Int64
	var workers sync.WaitGroup
	for range min(runtime.GOMAXPROCS(0), maxWorkers, len(entries)) {
		workers.Go(func() {
			buf := make([]byte, MaxFrontMatterBytes+1)
			for i := int(next.Add(1)) - 1; i < len(entries); i = int(next.Add(1)) - 1 {
				found[i] = s.lookAt(ctx, filepath.Join(dir, entries[i].name), entries[i], level, buf)
			}
		})
	}
	workers.Wait()
	return found
}

// lookAt looks at one entry: at the file SKILL.md if it is a directory, as far as
// is known, and at the file itself if it may be a skill.
func (s *scan) lookAt(ctx context.Context, path string, e entry, level int, buf []byte) looked {
	l := looked{path: path, entry: e}
	mayBeFile := level == 1 && strings.HasSuffix(e.name, markdownSuffix)
	if !e.typ.IsRegular() {
		l.read(ctx, s.ws, filepath.Join(path, skillName), e.name, buf)
		if !mayBeFile || !errors.Is(l.err, workspace.ErrNotDirectory) {
			return l
		}
	}
	if mayBeFile {
		l.read(ctx, s.ws, path, strings.TrimSuffix(e.name, markdownSuffix), buf)
	}
	return l
}

// read reads the skill in a file, whose name is the given one unless it says
// otherwise.
func (l *looked) read(ctx context.Context, ws *workspace.Workspace, file, name string, buf []byte) {
	l.file = file
	var begin []byte
	if begin, l.err = readBegin(ctx, ws, file, buf); l.err != nil {
		return
	}
	l.skill, l.fault = parseSkill(begin, name)
	l.skill.Path = file
}

// readBegin reads a file, or as much of it as buf holds, into buf.
func readBegin(ctx context.Context, ws *workspace.Workspace, path string, buf []byte) ([]byte, error) {
	f, err := ws.Open(ctx, "", path)
	if err != nil {
		return nil, err
	}
	defer f.Close() //nolint:errcheck // only read
	if size := f.Size(); size > 0 && size < int64(len(buf)) {
		buf = buf[:size] // most sizes are right: that there is no more needs no look
	}
	n, err := io.ReadFull(f, buf)
	if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
		return nil, err
	}
	return buf[:n], nil
}

// use adds what was found at an entry: a skill, or the skills below it. The error
// is that of ctx.
func (s *scan) use(ctx context.Context, l looked, canonical string, level int) error {
	switch below := l.file != l.path; {
	case l.file == "":
		return ctx.Err()
	case below && errors.Is(l.err, workspace.ErrNotFound) && (l.entry.typ.IsDir() || s.isDir(ctx, l.path, &canonical)):
		return s.deeper(ctx, l.path, canonical, level)
	case below && errors.Is(l.err, workspace.ErrNotDirectory):
		return ctx.Err() // it is some other file, or a link to one
	case l.err != nil:
		return s.diagnose(ctx, l.file, l.err)
	case l.fault != nil:
		s.found.diagnose(Diagnostic{Code: CodeFrontMatter, Path: l.file, Reason: l.fault.Error()})
	default:
		s.found.addSkill(l.skill)
	}
	return ctx.Err()
}

// isDir reports whether path leads to a directory, and where that is.
func (s *scan) isDir(ctx context.Context, path string, canonical *string) bool {
	target, info, err := s.fs.Resolve(ctx, path)
	if err != nil || !info.IsDir() {
		return false
	}
	*canonical = target
	return true
}

func (s *scan) deeper(ctx context.Context, path, canonical string, level int) error {
	if level == MaxSkillLevels {
		s.found.limit(path, fmt.Sprintf("directories of skills are more than %d levels deep", MaxSkillLevels))
		return ctx.Err()
	}
	return s.skillsIn(ctx, path, canonical, level+1)
}
