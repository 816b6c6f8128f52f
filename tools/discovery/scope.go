package discovery

import (
	"cmp"
	"context"
	"iter"
	"slices"
)

// A Discoverer scans scopes. It must be safe for concurrent use.
type Discoverer interface {
	// User scans what belongs to the user, whatever the project.
	User(ctx context.Context) (Scope, error)
	// Project scans what belongs to the project that the directory is in; dir
	// is canonical. An error says that nothing is known of the project, and
	// names the reason in the system's words; what is wrong with single files
	// is in the diagnostics of the Scope.
	Project(ctx context.Context, dir string) (Scope, error)
}

// An Instruction is the text of an instruction file.
type Instruction struct {
	Path string // absolute, as it was found
	Text string // unchanged, valid UTF-8, not blank

	canonical string // the path without symbolic links, or ""
}

// A Skill is what is known of a skill without reading all of it.
type Skill struct {
	Name        string // of a-z, 0-9 and "-"
	Description string // not blank
	Path        string // absolute, as it was found

	fields []field
}

// field is another key of the front matter.
type field struct{ key, value string }

// Fields returns the other keys of the front matter in their order. Values that
// are not scalars are YAML text.
func (s Skill) Fields() iter.Seq2[string, string] {
	return func(yield func(string, string) bool) {
		for _, f := range s.fields {
			if !yield(f.key, f.value) {
				return
			}
		}
	}
}

// Codes of a [Diagnostic], beside those of package framing for files that cannot
// be used (FS_TOO_LARGE, FS_INVALID_UTF8, FS_NOT_REGULAR and so on).
const (
	CodeWorldWritable = "DISCOVERY_WORLD_WRITABLE" // a directory in which everybody could plant files
	CodeFrontMatter   = "DISCOVERY_FRONT_MATTER"   // of a skill: absent, too long, not YAML, or wrong
	CodeShadowed      = "DISCOVERY_SHADOWED"       // a skill whose name a more specific one has
	CodeLimit         = "DISCOVERY_LIMIT"          // there is more than is looked at
)

// A Diagnostic says what was skipped and why.
type Diagnostic struct {
	Code   string
	Path   string // of what was skipped; absolute
	Reason string // one sentence without the path; not escaped
	Other  string // path of the skill that won, for CodeShadowed
}

// A Scope is the result of scanning one scope. It is immutable; the zero value
// is an empty one.
type Scope struct {
	instructions []Instruction
	skills       []Skill // by name, each name once
	diagnostics  []Diagnostic
}

// NewScope returns a Scope, for a [Discoverer] of one's own. Instructions are in
// the order of their weight, the last is the most specific; of skills with one
// name the first is taken. The slices are copied.
func NewScope(instructions []Instruction, skills []Skill, diagnostics []Diagnostic) Scope {
	var b builder
	for _, i := range instructions {
		b.addInstruction(i)
	}
	for _, s := range skills {
		b.addSkill(s)
	}
	b.diagnose(diagnostics...)
	return b.scope()
}

// Instructions returns the instruction files, the most specific last.
func (s Scope) Instructions() []Instruction { return slices.Clone(s.instructions) }

// Skills returns the skills, sorted by name.
func (s Scope) Skills() []Skill { return slices.Clone(s.skills) }

// Skill returns the skill of that name.
func (s Scope) Skill(name string) (Skill, bool) {
	i, ok := slices.BinarySearchFunc(s.skills, name, func(s Skill, name string) int { return cmp.Compare(s.Name, name) })
	if !ok {
		return Skill{}, false
	}
	return s.skills[i], true
}

// Diagnostics returns what was skipped, in the order in which it was met.
func (s Scope) Diagnostics() []Diagnostic { return slices.Clone(s.diagnostics) }

// A Snapshot is what an agent knows of its user and its project. It is
// immutable.
type Snapshot struct {
	// Revision counts the snapshots of an agent, from 1.
	Revision uint64
	// Dir is the working directory, canonical.
	Dir string
	// Degraded says that the project could not be scanned, for the Reason:
	// there is only what belongs to the user.
	Degraded bool
	Reason   string
	// Scope joins user and project.
	Scope
}

// Join returns the snapshot of a user and a project. Instructions of the user
// come first, a file that both have only there; skills of the project win.
func Join(revision uint64, dir string, user, project Scope) Snapshot {
	var b builder
	for _, scope := range []Scope{user, project} {
		for _, i := range scope.instructions {
			b.addInstruction(i)
		}
		b.diagnose(scope.diagnostics...)
	}
	for _, scope := range []Scope{project, user} {
		for _, s := range scope.skills {
			b.addSkill(s)
		}
	}
	return Snapshot{Revision: revision, Dir: dir, Scope: b.scope()}
}

// Degrade returns the snapshot of an agent whose project could not be scanned.
// Nothing of another project is in it.
func Degrade(revision uint64, dir string, user Scope, reason string) Snapshot {
	s := Join(revision, dir, user, Scope{})
	s.Degraded, s.Reason = true, reason
	return s
}
