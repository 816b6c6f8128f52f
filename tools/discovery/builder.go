package discovery

import (
	"cmp"
	"fmt"
	"slices"
)

// Limits of what is kept of a scope, and of a snapshot.
const (
	MaxSkills           = 1000
	MaxInstructions     = 1000
	MaxInstructionBytes = 16 << 20 // of all instruction files together
	MaxDiagnostics      = 1000
)

// A builder collects what belongs to a scope within the limits.
type builder struct {
	instructions []Instruction
	bytes        int
	canonical    map[string]bool // of the instructions

	skills  []Skill
	byName  map[string]string // the path of each skill
	limited map[string]bool   // what has been told to be too much

	diagnostics []Diagnostic
}

// addInstruction adds a file, unless it is there under another name.
func (b *builder) addInstruction(i Instruction) {
	key := cmp.Or(i.canonical, i.Path)
	switch {
	case b.canonical[key]:
		return
	case len(b.instructions) >= MaxInstructions:
		b.limit(i.Path, fmt.Sprintf("there are more than %d instruction files", MaxInstructions))
		return
	case b.bytes+len(i.Text) > MaxInstructionBytes:
		b.limit(i.Path, fmt.Sprintf("instruction files exceed %d bytes together", MaxInstructionBytes))
		return
	}
	if b.canonical == nil {
		b.canonical = map[string]bool{}
	}
	b.canonical[key] = true
	b.bytes += len(i.Text)
	b.instructions = append(b.instructions, i)
}

// addSkill adds a skill, unless a more specific one has its name.
func (b *builder) addSkill(s Skill) {
	if winner, ok := b.byName[s.Name]; ok {
		b.diagnose(Diagnostic{Code: CodeShadowed, Path: s.Path, Reason: "a more specific skill has the same name", Other: winner})
		return
	}
	if b.full(s.Path) {
		return
	}
	if b.byName == nil {
		b.byName = map[string]string{}
	}
	b.byName[s.Name] = s.Path
	b.skills = append(b.skills, s)
}

// full reports, and tells, that there is no room for the skill at path.
func (b *builder) full(path string) bool {
	if len(b.skills) < MaxSkills {
		return false
	}
	b.limit(path, fmt.Sprintf("there are more than %d skills", MaxSkills))
	return true
}

// limit tells once that there is too much of something, where it was met.
func (b *builder) limit(path, reason string) {
	if b.limited == nil {
		b.limited = map[string]bool{}
	}
	if !b.limited[reason] {
		b.limited[reason] = true
		b.diagnose(Diagnostic{Code: CodeLimit, Path: path, Reason: reason})
	}
}

func (b *builder) diagnose(d Diagnostic) { b.diagnostics = append(b.diagnostics, d) }

// scope returns what was collected, which the builder must not change any more.
func (b *builder) scope() Scope {
	slices.SortStableFunc(b.skills, func(x, y Skill) int { return cmp.Compare(x.Name, y.Name) })
	return Scope{slices.Clip(b.instructions), slices.Clip(b.skills), b.bounded()}
}

// bounded returns the diagnostics, the last of which says how many are left out
// if there are too many.
func (b *builder) bounded() []Diagnostic {
	if len(b.diagnostics) <= MaxDiagnostics {
		return slices.Clip(b.diagnostics)
	}
	kept := slices.Clip(b.diagnostics[:MaxDiagnostics-1])
	first := b.diagnostics[len(kept)]
	return append(kept, Diagnostic{Code: CodeLimit, Path: first.Path, Reason: fmt.Sprintf("%d more were skipped", len(b.diagnostics)-len(kept))})
}
