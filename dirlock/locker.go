package dirlock

import "context"

// A Locker takes automatic locks: all that a tool needs which changes files.
type Locker interface {
	LockAuto(ctx context.Context, req Request) (*Guard, error)
	LockCovered(ctx context.Context, req Request) (*Guard, error)
	LockResolved(ctx context.Context, req Request, resolve func() ([]string, error)) (*Guard, error)
}

var (
	_ Locker = (*Manager)(nil)
	_ Locker = Disabled{}
)

// Disabled is a [Locker] for locking that is off: it grants all at once, covered
// or not, and locks nothing. It looks at contexts only.
type Disabled struct{}

// LockAuto returns a guard.
func (Disabled) LockAuto(ctx context.Context, req Request) (*Guard, error) {
	if ctx.Err() != nil {
		return nil, ended(ctx)
	}
	g := &Guard{}
	for _, dir := range Normalize(req.Dirs) {
		g.dirs = append(g.dirs, Dir{Path: dir})
	}
	return g, nil
}

// LockCovered returns a guard.
func (d Disabled) LockCovered(ctx context.Context, req Request) (*Guard, error) {
	return d.LockAuto(ctx, req)
}

// LockResolved returns a guard without directories: resolve is not called.
func (d Disabled) LockResolved(ctx context.Context, _ Request, _ func() ([]string, error)) (*Guard, error) {
	return d.LockAuto(ctx, Request{})
}
