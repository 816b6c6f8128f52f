package patch

// Limits.
const (
	MaxPatchBytes = 10 << 20 // bytes of a patch text
	MaxSections   = 1000     // sections of a patch
	MaxPathBytes  = 4096     // bytes of a path
	MaxFileBytes  = 10 << 20 // bytes of a file that hunks change, before and after
)

// A Patch is what a patch text says: changes of files, in order.
type Patch struct {
	Sections []Section
}

// A Section is what a patch says about one file.
type Section struct {
	Op     Op
	Path   string   // as written
	MoveTo string   // the new name, of an Update; "" if it stays
	Lines  []string // content, of an Add
	Hunks  []Hunk   // changes, of an Update; none is a mere move
}

// An Op says what a [Section] does with its file.
type Op uint8

// The operations.
const (
	Add    Op = iota + 1 // creates it
	Delete               // removes it
	Update               // changes it, moves it, or both
)

// A Hunk is one change of a file: lines that must follow each other in it, and
// what becomes of them.
type Hunk struct {
	Anchors []string // lines to look for first, one below the other
	Lines   []Line
	EOF     bool // the last line must be the last one of the file
}

// A Line is a line of a [Hunk], without a line end.
type Line struct {
	Kind byte // ' ' is context, '-' is removed, '+' is added
	Text string
	Bare bool // an empty context line that was written without its space
}

// A Target is a path that a patch may read or write.
type Target struct {
	Op   Op
	Path string // as written
	Role Role
}

// A Role says what happens at a [Target].
type Role uint8

// The roles.
const (
	Source Role = iota + 1 // the name itself goes away: of a Delete, and of an Update that moves
	Dest                   // the file it leads to is written: of an Add, of an Update, and the new name of a move
)

// Targets returns every path that the patch may read or write, in the order of
// the patch, so that all of them can be approved or locked before any is read.
// A move has two, its source first.
func (p *Patch) Targets() []Target {
	targets := make([]Target, 0, len(p.Sections))
	for _, s := range p.Sections {
		targets = append(targets, s.target())
		if s.MoveTo != "" {
			targets = append(targets, s.newName())
		}
	}
	return targets
}

// target returns the target that the section names first.
func (s *Section) target() Target {
	if s.Op == Delete || s.MoveTo != "" {
		return Target{s.Op, s.Path, Source}
	}
	return Target{s.Op, s.Path, Dest}
}

// newName returns the target of the new name, of a move.
func (s *Section) newName() Target { return Target{s.Op, s.MoveTo, Dest} }
