package patch

import (
	"context"
	"errors"
	"io/fs"
	"path"
)

// A Plan is a patch that fits a tree of files. It is committed once, or not at
// all, and is used by one goroutine at a time.
type Plan struct {
	overlay

	fs       FS
	opts     Options
	wording  wording
	notes    []Note
	resolved map[question]answer
	shown    int64   // bytes that were read of deleted files
	earlier  history // what earlier plans of the same patch have done
}

// A question is what a file system is asked to resolve, and only once.
type question struct {
	path   string
	follow bool
}

type answer struct {
	key string
	err error
}

// NewPlan finds out what a patch does to the files of fsys. It only reads.
//
// Each section is looked at as if those before it had been applied. The first
// one that fails ends the call, with an [*Error], with that of a hook, or with
// that of ctx. A file that is moved without change is not read, unless another
// section uses its old name, or its new name has a file already; then it must
// not be over [MaxFileBytes]. A file that is deleted is only read if it is not
// larger than that.
func NewPlan(ctx context.Context, fsys FS, p *Patch, opts Options) (*Plan, error) {
	plan := newPlan(fsys, opts)
	for i := range p.Sections {
		if err := plan.section(ctx, &p.Sections[i]); err != nil {
			return nil, err
		}
	}
	if err := plan.readMoved(ctx); err != nil {
		return nil, err
	}
	return plan, nil
}

func newPlan(fsys FS, opts Options) *Plan {
	return &Plan{
		fs: fsys, opts: opts, wording: newWording(opts.Escape),
		resolved: map[question]answer{},
	}
}

// Changes returns what the plan does to the files, in the order in which the
// patch mentions them first.
func (p *Plan) Changes() []Change { return p.changes(planned) }

// Notes returns what is doubtful about the places of hunks, in the order of the
// patch.
func (p *Plan) Notes() []Note { return p.notes }

// section plans a section.
func (p *Plan) section(ctx context.Context, s *Section) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	var err error
	switch s.Op {
	case Add:
		err = p.add(ctx, s)
	case Delete:
		err = p.delete(ctx, s)
	default:
		err = p.update(ctx, s)
	}
	return p.failed(ctx, s, err)
}

// A refusal is the error of a hook, which nothing is added to.
type refusal struct{ error }

// failed returns the error of a section, nil if err is nil.
func (p *Plan) failed(ctx context.Context, s *Section, err error) error {
	var r refusal
	switch {
	case err == nil || ended(ctx, err):
		return err
	case errors.As(err, &r):
		return r.error
	default:
		return p.wording.failure(s, err)
	}
}

func (p *Plan) add(ctx context.Context, s *Section) error {
	n, err := p.vacant(ctx, s.Path)
	if err != nil {
		return err
	}
	if err := p.judge(ctx, s.target(), n, true); err != nil {
		return err
	}
	data := []byte{}
	for _, line := range s.Lines {
		data = append(append(data, line...), '\n')
	}
	p.set(n, &version{data: data}, s)
	return nil
}

func (p *Plan) delete(ctx context.Context, s *Section) error {
	n, err := p.find(ctx, s.Path, false)
	if err != nil {
		return err
	}
	mode, exists := p.mode(n)
	if exists && mode.Type() != fs.ModeSymlink {
		if err := checkRegular(mode); err != nil {
			return err
		}
		// What cannot be read can be deleted.
		if err := p.readForShow(ctx, n); err != nil && ended(ctx, err) {
			return err
		}
	}
	if err := p.judge(ctx, s.target(), n, false); err != nil {
		return err
	}
	if !exists {
		return fs.ErrNotExist
	}
	p.set(n, nil, s)
	return nil
}

func (p *Plan) update(ctx context.Context, s *Section) error {
	n, err := p.find(ctx, s.Path, s.MoveTo == "")
	if err != nil {
		return err
	}
	if mode, exists := p.mode(n); exists {
		if err := p.checkUpdate(ctx, s, n, mode); err != nil {
			return err
		}
	}
	dest := n
	if s.MoveTo != "" {
		if dest, err = p.vacant(ctx, s.MoveTo); err != nil {
			return err
		}
	}
	if err := p.judge(ctx, s.target(), n, false); err != nil {
		return err
	}
	if dest != n {
		if err := p.judge(ctx, s.newName(), dest, true); err != nil {
			return err
		}
	}
	if n.now == nil {
		return fs.ErrNotExist
	}
	v, err := p.edit(ctx, s, n)
	if err != nil {
		return err
	}
	switch {
	case dest != n:
		p.set(n, nil, s)
		p.set(dest, v, s)
	case v.origin == n:
		p.set(n, v, s)
	default:
		p.set(n, v, n.section) // which has made the file, and still answers for it
	}
	return nil
}

// checkUpdate checks whether the file at n is one for the section.
func (p *Plan) checkUpdate(ctx context.Context, s *Section, n *node, mode fs.FileMode) error {
	if err := checkRegular(mode); err != nil {
		return err
	}
	if len(s.Hunks) == 0 {
		return nil
	}
	if err := p.read(ctx, n); err != nil {
		return err
	}
	return checkContent(n.now.content())
}

// edit returns the version at n with the hunks of a section applied.
func (p *Plan) edit(ctx context.Context, s *Section, n *node) (*version, error) {
	if len(s.Hunks) == 0 {
		return n.now, nil
	}
	data, notes, err := ApplyHunks(ctx, n.now.content(), s.Hunks, p.opts.Match)
	if err != nil {
		return nil, err
	}
	for _, note := range notes {
		note.Path = n.path
		p.notes = append(p.notes, note)
	}
	return n.now.edit(data), nil
}

func checkRegular(mode fs.FileMode) error {
	switch {
	case mode.IsDir():
		return ErrIsDirectory
	case !mode.IsRegular():
		return ErrNotRegular
	default:
		return nil
	}
}

// judge asks whether a section may change the file at n.
func (p *Plan) judge(ctx context.Context, t Target, n *node, creates bool) error {
	if p.opts.Judge == nil {
		return nil
	}
	subject := Subject{Target: t, Key: n.key, Creates: creates, Exists: n.now != nil, Seen: n.section != nil}
	if was := p.earlier.node(n.key); was != nil {
		subject.Seen = true
		if was.now != nil {
			subject.Last = was.now.content()
		}
	}
	if n.now != nil {
		subject.Type, subject.Data = n.now.mode().Type(), n.now.content()
	}
	if err := p.opts.Judge(ctx, subject); err != nil {
		return refusal{err}
	}
	return nil
}

// vacant returns the node of a path at which there must be nothing.
func (p *Plan) vacant(ctx context.Context, name string) (*node, error) {
	n, err := p.find(ctx, name, false)
	if err != nil {
		return nil, err
	}
	if _, exists := p.mode(n); exists {
		return nil, fs.ErrExist
	}
	return n, nil
}

// find returns the node of a path; with follow, that of the file that a
// symbolic link at its end leads to.
func (p *Plan) find(ctx context.Context, name string, follow bool) (*node, error) {
	key, err := p.resolve(ctx, name, false)
	if err != nil {
		if p.links || p.earlier.links() { // it may have gone through one
			if err := p.checkParents(ctx, name, "/"); err != nil {
				return nil, err
			}
		}
		return nil, err
	}
	if err := p.checkParents(ctx, name, key); err != nil {
		return nil, err
	}
	if n := p.nodes[key]; n != nil && n.section != nil {
		return n, nil // sections make no links that could be followed
	}
	if follow {
		if key, err = p.resolve(ctx, name, true); err != nil {
			return nil, err
		}
	}
	return p.load(ctx, key, name)
}

// checkParents checks that no earlier section has removed or replaced something
// that is a parent of a path and no directory: a directory above the key, or, if
// a section has touched a symbolic link, one that the path goes through.
func (p *Plan) checkParents(ctx context.Context, name, key string) error {
	for dir := path.Dir(key); ; dir = path.Dir(dir) {
		if p.nodes[dir].replaced() || p.earlier.node(dir).replaced() {
			return ErrNotDirectory
		}
		if dir == path.Dir(dir) {
			break
		}
	}
	if !p.links && !p.earlier.links() {
		return nil
	}
	for i := 1; i < len(name); i++ {
		if base := path.Base(name[:i]); name[i] != '/' || name[i-1] == '/' || base == "." || base == ".." {
			continue
		}
		key, err := p.resolve(ctx, name[:i], false)
		if err != nil {
			return err
		}
		if p.nodes[key].replaced() || p.earlier.node(key).replaced() {
			return ErrNotDirectory
		}
	}
	return nil
}

// resolve returns the key of a path.
func (p *Plan) resolve(ctx context.Context, name string, follow bool) (string, error) {
	q := question{name, follow}
	a, ok := p.resolved[q]
	if !ok {
		a.key, a.err = p.fs.Resolve(ctx, name, follow)
		p.resolved[q] = a
	}
	return a.key, a.err
}

// load returns the node of a key.
func (p *Plan) load(ctx context.Context, key, name string) (*node, error) {
	if n := p.nodes[key]; n != nil {
		return n, nil
	}
	found, err := p.fs.Stat(ctx, key)
	switch {
	case err == nil:
		return p.node(key, name, &found), nil
	case hasCode(err, CodeNotFound):
		return p.node(key, name, nil), nil
	default:
		return nil, err
	}
}

// read makes sure that the content of n is known.
func (p *Plan) read(ctx context.Context, n *node) error {
	if n.now.content() != nil {
		return nil
	}
	disk := n.now.origin.disk
	if disk.Size > MaxFileBytes {
		return ErrTooLarge
	}
	found, err := p.fs.Read(ctx, disk.Key, MaxFileBytes)
	if err != nil {
		return err
	}
	if found.Data == nil {
		found.Data = []byte{}
	}
	*disk = found
	return nil
}

// maxShown is how much of deleted files is read, in bytes, only because somebody
// may want to see it.
const maxShown = 64 << 20

// readForShow is read for content that nothing depends on.
func (p *Plan) readForShow(ctx context.Context, n *node) error {
	if n.now.content() == nil && n.now.origin.disk.Size > maxShown-p.shown {
		return ErrTooLarge
	}
	err := p.read(ctx, n)
	p.shown += int64(len(n.now.content()))
	return err
}

// readMoved makes writes of the moves that are no simple renaming, because the
// old name is used again, or the new one was in use: then they do not depend on
// the order in which names are changed.
func (p *Plan) readMoved(ctx context.Context) error {
	for _, n := range p.order {
		v := n.now
		if v == nil || v.origin == nil || v.origin == n || v.edited() {
			continue
		}
		if n.disk == nil && v.origin.now == nil {
			continue
		}
		if err := p.read(ctx, n); err != nil {
			return p.failed(ctx, n.section, err)
		}
		n.now = &version{origin: v.origin, data: v.content()}
	}
	return nil
}
