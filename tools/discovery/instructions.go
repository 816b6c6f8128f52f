package discovery

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/taukit/taukit/framing"
	"github.com/taukit/taukit/tools/workspace"
)

// MaxInstructionFileBytes is the size of the largest instruction file.
const MaxInstructionFileBytes = 1 << 20

const (
	instructionsName   = "AGENTS.md"
	instructionsPrefix = "AGENTS."
	markdownSuffix     = ".md"

	listBatch = 1024 // directory entries between two looks at the context
)

// A place may have an instruction file.
type place struct {
	path, canonical string
	regular         bool // it was one when its directory was listed
}

// instructions notes the instruction files of a root. The error is that of ctx
// alone: other failures are diagnostics.
func (s *scan) instructions(ctx context.Context, root string) error {
	entries, err := s.list(ctx, root, isInstruction)
	if errors.Is(err, workspace.ErrPermission) {
		entries = []entry{{name: instructionsName}} // it may be readable by its name
	}
	if err := s.report(ctx, root, err); err != nil {
		return err
	}
	s.note(ctx, root, entries)
	return ctx.Err()
}

// note notes instruction files of a root: AGENTS.md first, then the others in the
// order of their bytes. A file that was noted under another name stays there.
func (s *scan) note(ctx context.Context, root string, entries []entry) {
	slices.SortFunc(entries, func(a, b entry) int {
		return strings.Compare(strings.TrimPrefix(a.name, instructionsName), strings.TrimPrefix(b.name, instructionsName))
	})
	for _, e := range entries[max(0, len(entries)-MaxInstructions-1):] { // of more, the first would be left out
		p := place{path: filepath.Join(root, e.name), regular: e.typ.IsRegular()}
		p.canonical, _, _ = s.fs.Resolve(ctx, p.path)
		if key := cmp.Or(p.canonical, p.path); !s.noted[key] {
			s.noted[key] = true
			s.places = append(s.places, p)
		}
	}
}

// readInstructions reads what was noted, the most specific first, as much as there
// may be.
func (s *scan) readInstructions(ctx context.Context) error {
	var found []Instruction
	for i, p := range slices.Backward(s.places) {
		if i < len(s.places)-MaxInstructions {
			s.found.limit(p.path, tooManyInstructions)
			break
		}
		text, err := s.readInstruction(ctx, p.path)
		switch {
		case err == nil && strings.TrimSpace(text) != "":
			found = append(found, Instruction{Path: p.path, Text: text, canonical: p.canonical})
		case p.regular: // it need not be there any more
			err = s.report(ctx, p.path, err)
		default:
			err = s.diagnose(ctx, p.path, err)
		}
		if err != nil {
			return err
		}
		if s.bytes += len(text); s.bytes > MaxInstructionBytes {
			break // the one too many tells that there are more
		}
	}
	for _, i := range slices.Backward(found) {
		s.found.addInstruction(i)
	}
	return nil
}

// isInstruction reports whether it is the name of an instruction file: AGENTS.md
// or AGENTS.*.md, exactly, whatever the file system thinks of case.
func isInstruction(name string) bool {
	return name == instructionsName ||
		len(name) > len(instructionsName) && strings.HasPrefix(name, instructionsPrefix) && strings.HasSuffix(name, markdownSuffix)
}

func (s *scan) readInstruction(ctx context.Context, path string) (string, error) {
	f, err := s.ws.Open(ctx, "", path)
	if err != nil {
		return "", err
	}
	defer f.Close() //nolint:errcheck // only read
	tooLarge := &workspace.Error{Code: framing.CodeTooLarge, Op: workspace.OpRead, Path: path, Reason: fmt.Sprintf("file exceeds %d bytes", MaxInstructionFileBytes)}
	if f.Size() > MaxInstructionFileBytes {
		return "", tooLarge
	}
	data, err := io.ReadAll(io.LimitReader(f, MaxInstructionFileBytes+1)) // sizes may be lies
	switch {
	case err != nil:
		return "", err
	case len(data) > MaxInstructionFileBytes:
		return "", tooLarge
	case !utf8.Valid(data):
		return "", &workspace.Error{Code: framing.CodeInvalidUTF8, Op: workspace.OpRead, Path: path, Reason: "not valid UTF-8"}
	}
	return string(data), nil
}

// report is diagnose for something that need not be there.
func (s *scan) report(ctx context.Context, path string, err error) error {
	if errors.Is(err, workspace.ErrNotFound) {
		err = nil
	}
	return s.diagnose(ctx, path, err)
}

// diagnose tells that something could not be used, and returns the error of ctx.
func (s *scan) diagnose(ctx context.Context, path string, err error) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	var known *workspace.Error
	switch {
	case err == nil:
	case errors.As(err, &known):
		s.found.diagnose(Diagnostic{Code: known.Code, Path: path, Reason: known.Reason})
	default:
		s.found.diagnose(Diagnostic{Code: framing.CodeIO, Path: path, Reason: err.Error()})
	}
	return nil
}

// entry is an entry of a directory.
type entry struct {
	name string
	typ  fs.FileMode // its type bits
}

// list returns the entries of a directory whose names are wanted.
func (s *scan) list(ctx context.Context, dir string, wanted func(name string) bool) (entries []entry, err error) {
	d, err := s.ws.OpenDir(ctx, "", dir)
	if err != nil {
		return nil, err
	}
	defer d.Close() //nolint:errcheck // only read
	for {
		batch, err := d.ReadDir(listBatch)
		for _, e := range batch {
			if wanted(e.Name()) {
				entries = append(entries, entry{e.Name(), e.Type()})
			}
		}
		switch {
		case errors.Is(err, io.EOF):
			return entries, nil
		case err != nil:
			return entries, err
		}
	}
}
