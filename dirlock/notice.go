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
	t.notices = latest(append(t.notices, n))
}

// latest leaves as many notices as are kept.
func latest(all []notice) []notice { return slices.Delete(all, 0, max(0, len(all)-MaxNotices)) }

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

// addNotices adds those of locks that were lost with their instance. The mutex is
// held.
func (m *Manager) addNotices(all []notice) { m.notices = latest(append(m.notices, all...)) }

// dropNotices forgets those of an owner that are meant.
func (m *Manager) dropNotices(owner Owner, meant func(Dir) bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.notices = slices.DeleteFunc(m.notices, func(n notice) bool { return n.holder.Agent == owner && meant(n.dir) })
}

// takeNotice removes and returns a notice of a lock that was lost with its
// instance.
func (m *Manager) takeNotice(owner Owner, meant func(Dir) bool) (notice, bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	i := slices.IndexFunc(m.notices, func(n notice) bool { return n.holder.Agent == owner && meant(n.dir) })
	if i < 0 {
		return notice{}, false
	}
	n := m.notices[i]
	m.notices = slices.Delete(m.notices, i, i+1)
	return n, true
}
