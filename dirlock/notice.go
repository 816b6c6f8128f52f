package dirlock

import "slices"

// A notice tells a holder once that a manual lock of its has ended against its
// will, so that it does not go on writing in the belief that it is alone.
type notice struct {
	holder Holder
	dir    Dir
	reason string
	by     Owner // if it was by force
}

func (t *Table) addNotice(n notice) {
	t.revision++
	t.notices = append(t.notices, n)
	if len(t.notices) > MaxNotices {
		t.notices = slices.Delete(t.notices, 0, 1)
	}
}

// takeNotice removes and returns the holder's oldest notice of a directory that
// is meant.
func (t *Table) takeNotice(h Holder, meant func(Dir) bool) (notice, bool) {
	i := slices.IndexFunc(t.notices, func(n notice) bool { return n.holder == h && meant(n.dir) })
	if i < 0 {
		return notice{}, false
	}
	n := t.notices[i]
	t.notices = slices.Delete(t.notices, i, i+1)
	t.revision++
	return n, true
}

func (t *Table) dropNotices(which func(notice) bool) {
	t.notices = slices.DeleteFunc(t.notices, func(n notice) bool {
		if !which(n) {
			return false
		}
		t.revision++
		return true
	})
}
