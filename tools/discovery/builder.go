package discovery

import (
	"cmp"
	"fmt"
	"slices"
)

// Limits of what is kept of a scope, and of a snapshot: the most specific.
const (
	MaxSkills           = 1000
	MaxInstructions     = 1000
	MaxInstructionBytes = 16 << 20 // of all instruction files together
	MaxDiagnostics      = 1000
)

// A builder collects what belongs to a scope within the limits.
type builder struct {
	instructions []Instruction   // the most specific last
	canonical    map[string]bool // of the instructions

	skills  []Skill
	byName  map[string]string // the path of each skill
	limited map[string]bool   // what has been told to be too much

	diagnostics []Diagnostic // at most MaxDiagnostics
	more        int          // further ones
}

var (
	tooManyInstructions  = fmt.Sprintf("there are more than %d instruction files", MaxInstructions)
	tooLargeInstructions = fmt.Sprintf("instruction files exceed %d bytes together", MaxInstructionBytes)
)

// addInstruction adds a file, unless it is there under another name.
func (b *builder) addInstruction(i Instruction) {
	key := cmp.Or(i.canonical, i.Path)
	if b.canonical[key] {
		return
	}
	if b.canonical == nil {
		b.canonical = map[string]bool{}
	}
	b.canonical[key] = true
	b.instructions = append(b.instructions, i)
}

// lastInstructions leaves out the least specific ones, which come first, if there
// are too many.
func (b *builder) lastInstructions() []Instruction {
	bytes := 0
	for i, instruction := range slices.Backward(b.instructions) {
		bytes += len(instruction.Text)
		switch {
		case i < len(b.instructions)-MaxInstructions:
			b.limit(instruction.Path, tooManyInstructions)
		case bytes > MaxInstructionBytes:
			b.limit(instruction.Path, tooLargeInstructions)
		default:
			continue
		}
		return slices.Clone(b.instructions[i+1:])
	}
	return slices.Clip(b.instructions)
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

func (b *builder) diagnose(list ...Diagnostic) {
	room := min(len(list), MaxDiagnostics-len(b.diagnostics))
	b.diagnostics = append(b.diagnostics, list[:room]...)
	b.more += len(list) - room
}

// scope returns what was collected, which the builder must not change any more.
func (b *builder) scope() Scope {
	slices.SortStableFunc(b.skills, func(x, y Skill) int { return cmp.Compare(x.Name, y.Name) })
	instructions := b.lastInstructions()
	return Scope{instructions, slices.Clip(b.skills), b.bounded()}
}

// bounded returns the diagnostics, the last of which says how many are left out
// if there are too many.
func (b *builder) bounded() []Diagnostic {
	if b.more == 0 {
		return slices.Clip(b.diagnostics)
	}
	kept, first := b.diagnostics[:MaxDiagnostics-1], b.diagnostics[MaxDiagnostics-1]
	return append(slices.Clip(kept), Diagnostic{Code: CodeLimit, Path: first.Path, Reason: fmt.Sprintf("%d more were skipped", b.more+1)})
}
