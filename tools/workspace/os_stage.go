package workspace

import (
	"context"
	"errors"
	"io/fs"
	"os"
)

// Stage prepares data as the content of the file. What is then left to do,
// after Sync, is quick: data is in a temporary file beside the file, with the
// owner, mode and attributes that it is to have. But a file with several names,
// or one that a new file cannot be like, is to be rewritten in place, unless
// the name is to get a file of its own.
func (e *entry) Stage(ctx context.Context, data []byte, opts StageOptions) (Staged, error) {
	s := &staged{entry: e, data: data, newFile: opts.NewFile || e.found == nil, clean: !opts.NoCleaning, into: e.place}
	if opts.Like != nil {
		like, ok := opts.Like.(*entry)
		if !ok {
			return nil, errors.ErrUnsupported
		}
		s.model = like
		if opts.Writable {
			if err := checkWritable(like.place); err != nil {
				return nil, like.orStale(ctx, err)
			}
		}
	} else if e.found != nil && e.found.mode().IsRegular() {
		s.model = e
	}
	if err := s.prepare(ctx); err != nil {
		s.Discard()
		return nil, e.orStale(ctx, err)
	}
	return s, nil
}

// staged is the new content of an entry.
type staged struct {
	*entry
	data    []byte
	newFile bool   // the name gets a file of its own
	clean   bool   // the directory of what others have left
	model   *entry // what a new file is to be like; nil for no other one

	into    place        // where the temporary file is, with no directory missing
	pending *pendingFile // nil if the file is rewritten in place
	like    stamp        // the state of the model that the temporary file is like
	made    []place      // directories that were made, by their names in those above
}

func (s *staged) prepare(ctx context.Context) error {
	inPlace := false
	if s.found == nil {
		if err := s.makeParents(); err != nil {
			return err
		}
	}
	if !s.newFile {
		if err := checkWritable(s.place); err != nil {
			return err
		}
		now, err := s.lstat()
		if err != nil {
			return err
		}
		inPlace = now.links() > 1
	}
	err := s.create(ctx, inPlace)
	if err == nil && s.pending != nil {
		err = s.write(ctx)
	}
	if errors.Is(err, errInPlace) {
		s.cleanUp()
		return nil
	}
	return err
}

// create makes the temporary file, unless that is not needed. Others that were
// left in the directory are removed. While that is done, nobody makes one, or
// gives one its name.
func (s *staged) create(ctx context.Context, inPlace bool) error {
	unlock, locked := lockFile(ctx, s.into.handle)
	defer unlock()
	if locked && s.clean {
		removeStale(s.into)
	}
	if inPlace {
		return nil
	}
	perm := fs.FileMode(0o600) // nobody else may read it until it is like its model
	if s.model == nil {
		perm = 0o666 // less the umask
	}
	if err := s.system.step("create"); err != nil {
		return err
	}
	pending, err := newPending(s.into, perm)
	if err != nil {
		if !s.newFile && refusesNewFile(err) {
			err = errors.Join(errInPlace, err)
		}
		return err
	}
	s.pending = pending
	return nil
}

// makeParents makes the directories that are missing.
func (s *staged) makeParents() error {
	for _, name := range s.missing {
		if err := s.system.step("mkdir"); err != nil {
			return err
		}
		made := s.into.at(name)
		switch err := made.mkdir(); {
		case err == nil:
			s.made = append(s.made, made)
		case !errors.Is(err, fs.ErrExist): // somebody else may have been faster
			return err
		}
		below, err := made.child()
		if err != nil {
			return err
		}
		below.base = s.base
		s.into = below
		s.below = append(s.below, below)
	}
	return nil
}

// write writes the data to the temporary file.
func (s *staged) write(ctx context.Context) error {
	for rest := s.data; len(rest) > 0; {
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := s.system.step("write"); err != nil {
			return err
		}
		n, err := s.pending.Write(rest[:min(len(rest), blockSize)])
		if err != nil {
			return err
		}
		rest = rest[n:]
	}
	if s.model != nil {
		return s.liken()
	}
	return nil
}

// Sync puts the data on disk, unless the file is to be rewritten in place.
func (s *staged) Sync(ctx context.Context) error {
	err := ctx.Err()
	if err == nil && s.pending != nil {
		err = s.syncFile(s.pending.File, "sync")
	}
	return s.orStale(ctx, err)
}

func (s *staged) syncFile(f *os.File, step string) error {
	if err := s.system.step(step); err != nil || s.system.NoSync {
		return err
	}
	return f.Sync()
}

// errInPlace says that no new file can take the place of the old one.
var errInPlace = errors.New("the file must be rewritten in place")

// liken gives the temporary file the owner, mode and attributes of its model. It
// goes by descriptors: a name could lead to another file by now.
func (s *staged) liken() error {
	if err := s.system.step("attributes"); err != nil {
		return err
	}
	model, now, err := s.model.open()
	if err != nil {
		return err
	}
	defer model.Close() //nolint:errcheck // nothing was written
	s.like = now
	err = copyAttributes(s.pending.File, model.(*osFile).File, now)
	if err != nil && !s.newFile {
		return errors.Join(errInPlace, err)
	}
	return nil // a file of its own is like its model as far as may be
}

// Publish makes the new content visible, if what was read is still there, and
// nothing where nothing was. Until then nothing can be seen of it.
func (s *staged) Publish(ctx context.Context, check Check) error {
	defer s.Discard()
	now, unlock, err := s.ready(ctx, check, s.into)
	if err != nil {
		return err
	}
	defer unlock()
	switch {
	case s.found == nil:
		err = s.name()
	case s.pending == nil, !s.newFile && now.links() > 1:
		err = s.rewrite(ctx, now)
	default:
		err = s.replace(ctx, now)
	}
	if err != nil {
		return err
	}
	s.made = nil
	return nil
}

// replace renames the temporary file over the file.
func (s *staged) replace(ctx context.Context, now stamp) error {
	if s.model == s.entry {
		var err error
		if now, err = s.keepLike(ctx, now); errors.Is(err, errInPlace) {
			return s.rewrite(ctx, now)
		} else if err != nil {
			return err
		}
	}
	if err := s.system.step("replace"); err != nil {
		return err
	}
	err := s.pending.replace(s.system.NoSync)
	if err != nil && !s.newFile && cannotBeReplaced(err) {
		return s.rewrite(ctx, now)
	}
	return err
}

// keepLike makes the temporary file once more like the file if that was
// touched meanwhile and may have another mode now. As this takes its time, the
// file is looked at again afterwards.
func (s *staged) keepLike(ctx context.Context, now stamp) (stamp, error) {
	for range maxTouches {
		if now == s.like {
			return now, nil
		}
		if err := s.liken(); err != nil {
			return now, err
		}
		if err := s.syncFile(s.pending.File, "sync again"); err != nil {
			return now, err
		}
		var err error
		if now, err = s.verify(ctx); err != nil {
			return now, err
		}
		if now.links() > 1 {
			return now, errInPlace
		}
	}
	return now, ErrStaleVersion
}

// name gives the temporary file its name, unless that is taken.
func (s *staged) name() error {
	err := s.system.step("name")
	if err == nil {
		err = s.pending.create(s.system.NoSync)
	}
	if !errors.Is(err, errors.ErrUnsupported) {
		return err
	}
	// The temporary file is removed afterwards, as after a failure.
	if err = s.system.step("link"); err == nil {
		err = linkAt(s.pending.temporary(), s.into)
	}
	if err == nil || errors.Is(err, fs.ErrExist) {
		return err
	}
	return s.copyExclusive()
}

// copyExclusive writes the file itself, for file systems that can neither link
// nor rename without replacing.
func (s *staged) copyExclusive() error {
	if err := s.system.step("copy"); err != nil {
		return err
	}
	p := s.into
	f, err := p.createExclusive()
	if err != nil {
		return err
	}
	if _, err = f.Write(s.data); err == nil {
		err = s.syncFile(f, "sync copy")
	}
	ours, _ := stampOf(f)
	if err = errors.Join(err, f.Close()); err != nil {
		if now, statErr := p.lstat(); statErr == nil && now.sameFile(ours) {
			_ = removeName(p)
		}
	}
	return err
}

// Discard removes what has been prepared. It does nothing after Publish.
func (s *staged) Discard() {
	s.cleanUp()
	for i := len(s.made) - 1; i >= 0; i-- {
		_ = removeDirectory(s.made[i]) // fails if it is not empty
	}
	s.made = nil
}

// cleanUp removes the temporary file.
func (s *staged) cleanUp() {
	if s.pending != nil {
		_ = s.pending.Cleanup()
		s.pending = nil
	}
}
