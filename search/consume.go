package search

import (
	"context"
	"errors"

	"github.com/taukit/taukit/search/internal/rawfs"
)

// consume gives the results in order. All of it runs in the goroutine of the
// caller.
func (s *search) consume(yield func(FileMatches, error) bool) {
	err := s.results(func(m FileMatches) bool { return yield(m, nil) })
	switch {
	case errors.Is(err, errStopped):
	case s.caller.Err() != nil:
		yield(FileMatches{}, context.Cause(s.caller))
	case err != nil:
		yield(FileMatches{}, err)
	}
}

// results calls yield for each file with matches. The error is errStopped if
// yield has had enough.
func (s *search) results(yield func(FileMatches) bool) error {
	for j := range s.order {
		ready := 0
		for i, item := range j.items {
			if i == ready {
				s.ahead.await(&j.results[i])
				select {
				case ready = <-j.ready:
				case <-s.ctx.Done():
					return s.ctx.Err()
				}
			}
			if err := s.result(item, &j.results[i], yield); err != nil {
				return err
			}
		}
	}
	return s.walkErr
}

// result gives one result.
func (s *search) result(i item, r *result, yield func(FileMatches) bool) error {
	if r.big != nil {
		return s.segments(i, r.big, yield)
	}
	if r.found != nil {
		if err := s.give(i.path(), r.found, false, yield); err != nil {
			return err
		}
	}
	return s.fault(i, r.err)
}

// segments gives the results of a large file.
func (s *search) segments(i item, b *bigFile, yield func(FileMatches) bool) error {
	defer close(b.given)
	number, continued := 0, false
	for k := range b.segments {
		seg := &b.segments[k]
		if err := s.await(seg); err != nil {
			return err
		}
		<-b.window
		if found := seg.found; found != nil {
			for l := range found.lines {
				found.lines[l].Number += number
			}
			if err := s.give(i.path(), found, continued, yield); err != nil {
				return err
			}
			continued = true
			seg.found = nil
		}
		if seg.err != nil {
			if err := s.drop(b, k+1); err != nil {
				return err
			}
			return s.fault(i, seg.err)
		}
		number += seg.lines
	}
	return nil
}

// await waits for a segment.
func (s *search) await(seg *segment) error {
	s.ahead.await(seg)
	select {
	case <-seg.done:
		return nil
	case <-s.ctx.Done():
		return s.ctx.Err()
	}
}

// drop drops the segments from one on, which nobody is to take any more.
func (s *search) drop(b *bigFile, from int) error {
	for k := from; k < b.stop(); k++ {
		seg := &b.segments[k]
		if err := s.await(seg); err != nil {
			return err
		}
		if seg.found != nil {
			s.ahead.release(seg.found.held)
			seg.found = nil
		}
	}
	return nil
}

// give gives what was found in a file, or in a part of it, up to the limit.
func (s *search) give(path string, found *collector, continued bool, yield func(FileMatches) bool) error {
	selected, over := s.limit(found.lines)
	if len(selected) > 0 && !yield(FileMatches{path, selected, continued}) {
		return errStopped
	}
	s.ahead.release(found.held)
	s.collectors.Put(found)
	if over {
		return ErrLimit
	}
	return nil
}

// limit returns the lines up to the limit, with no more context than belongs to
// them, and whether there is one more match.
func (s *search) limit(all []Line) (selected []Line, over bool) {
	last := -1 // index of the last match to give
	for i := range all {
		switch {
		case !all[i].Match:
		case s.o.Limit > 0 && s.shown == s.o.Limit:
			end := last + 1
			for last >= 0 && end < i && all[end].Number <= all[last].Number+s.o.Context {
				end++
			}
			return all[:end], true
		default:
			s.shown++
			last = i
		}
	}
	return all, false
}

// fault handles what kept a file from being searched to its end. The root
// cannot be left out.
func (s *search) fault(i item, err error) error {
	switch {
	case err == nil:
		return nil
	case isOver(err):
		return err
	case i.path() == "" && !errors.Is(err, ErrLineTooLong) && !errors.Is(err, ErrTooLarge):
		if errors.Is(err, rawfs.ErrNotRegular) {
			err = ErrNotRegular
		}
		return s.o.rootError(err)
	case i.err == nil && isVanished(err):
		return nil
	case s.reported[i.path()]:
		return nil // an ignore file that is searched too
	default:
		s.reported[i.path()] = true
		s.o.report(i.path(), reason(err))
		return nil
	}
}
