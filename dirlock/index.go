package dirlock

import "slices"

// An index finds the records whose directories overlap one, without looking at
// the others: a tree of path components, and for each identity the nodes that
// were seen with it.
type index struct {
	root  *node
	paths map[string]*node // but for the root
	nodes map[Identity]aliases
	alias int // identities with more than one node
}

// A node is a directory that records have, or that is above one.
type node struct {
	path        string
	parent      *node
	first       *node     // child
	next, prior *node     // siblings
	records     []*record // that have just this directory
	idents      []sighting

	// Room for the first of each: mostly there are no more.
	record [1]*record
	ident  [1]sighting
}

// A sighting counts the directories of records, here or below, that saw the node
// with an identity.
type sighting struct {
	id Identity
	n  int
}

// aliases are the nodes that were seen with the same identity.
type aliases struct {
	first *node
	more  []*node
}

func (x *index) add(r *record) {
	for _, d := range r.Dirs {
		n := x.at(d)
		n.records = append(n.records, r)
	}
}

// at returns the node of d, made if need be, and counts it.
func (x *index) at(d Dir) *node {
	if x.root == nil {
		x.root = &node{}
		x.paths = map[string]*node{}
		x.nodes = map[Identity]aliases{}
	}
	n := x.root
	x.see(n, d, 0)
	i := 0
	for _, end := range components(d.Path) {
		child := x.paths[d.Path[:end]]
		if child == nil {
			child = x.newChild(n, d.Path[:end])
		}
		n = child
		i++
		x.see(n, d, i)
	}
	return n
}

func (x *index) newChild(n *node, path string) *node {
	child := &node{path: path, parent: n, next: n.first}
	child.idents, child.records = child.ident[:0], child.record[:0]
	if n.first != nil {
		n.first.prior = child
	}
	n.first = child
	x.paths[path] = child
	return child
}

func (x *index) removeChild(n *node) {
	delete(x.paths, n.path)
	if n.prior != nil {
		n.prior.next = n.next
	} else {
		n.parent.first = n.next
	}
	if n.next != nil {
		n.next.prior = n.prior
	}
}

// see counts that n was seen with the identity that is the i-th of d.
func (x *index) see(n *node, d Dir, i int) {
	id := d.identity(i)
	for j := range n.idents {
		if n.idents[j].id == id {
			n.idents[j].n++
			return
		}
	}
	n.idents = append(n.idents, sighting{id, 1})
	if id == (Identity{}) {
		return
	}
	a := x.nodes[id]
	if a.first == nil {
		a.first = n
	} else {
		if a.more = append(a.more, n); len(a.more) == 1 {
			x.alias++
		}
	}
	x.nodes[id] = a
}

// identity returns the i-th identity of the chain, or zero.
func (d Dir) identity(i int) Identity {
	if i < len(d.Chain) {
		return d.Chain[i]
	}
	return Identity{}
}

func (x *index) remove(r *record) {
	for _, d := range r.Dirs {
		n := x.find(d.Path)
		i := slices.Index(n.records, r)
		last := len(n.records) - 1
		n.records[i], n.records[last] = n.records[last], nil
		n.records = n.records[:last]
		for i := depth(d.Path); n != nil; i-- {
			x.forget(n, d, i)
			if len(n.idents) == 0 && n.parent != nil { // nobody is here or below
				x.removeChild(n)
			}
			n = n.parent
		}
	}
}

// find returns the node of a path, or nil.
func (x *index) find(path string) *node {
	if n := x.paths[path]; n != nil || depth(path) > 0 {
		return n
	}
	return x.root
}

// exactly returns a record that is meant and has the path of d, or nil.
func (x *index) exactly(d Dir, meant func(*record) bool) *record {
	n := x.find(d.Path)
	if n == nil {
		return nil
	}
	if i := slices.IndexFunc(n.records, meant); i >= 0 {
		return n.records[i]
	}
	return nil
}

// forget takes see back.
func (x *index) forget(n *node, d Dir, i int) {
	id := d.identity(i)
	j := slices.IndexFunc(n.idents, func(s sighting) bool { return s.id == id })
	if n.idents[j].n--; n.idents[j].n > 0 {
		return
	}
	n.idents = slices.Delete(n.idents, j, j+1)
	if id == (Identity{}) {
		return
	}
	a := x.nodes[id]
	if len(a.more) == 0 {
		delete(x.nodes, id)
		return
	}
	if a.first == n {
		a.first = a.more[len(a.more)-1]
		a.more = a.more[:len(a.more)-1]
	} else {
		a.more = slices.DeleteFunc(a.more, func(other *node) bool { return other == n })
	}
	if len(a.more) == 0 {
		x.alias--
	}
	x.nodes[id] = a
}

// overlapping visits the records with a directory that overlaps one of dirs,
// some of them more than once, until visit returns false. That is what it
// returns then.
func (x *index) overlapping(dirs []Dir, visit func(*record) bool) bool {
	for _, d := range dirs {
		n, ok := x.above(d, visit)
		if !ok || n != nil && !n.below(visit) {
			return false
		}
		if d.self() == (Identity{}) {
			continue
		}
		if !x.aliases(d.self(), n, func(alias *node) bool { return alias.subtree(x.only(d, visit)) }) {
			return false
		}
	}
	return true
}

// above visits the records at d and at what is above it, by path or identity. It
// returns the node of d, if there is one.
func (x *index) above(d Dir, visit func(*record) bool) (*node, bool) {
	n := x.root
	if n == nil {
		return nil, true
	}
	if !x.level(n, d, 0, visit) {
		return nil, false
	}
	i := 0
	for _, end := range components(d.Path) {
		if n != nil {
			n = x.paths[d.Path[:end]]
		}
		i++
		if !x.level(n, d, i, visit) {
			return nil, false
		}
	}
	return n, true
}

// level visits the records at one ancestor of d: at n, which may be nil, and at
// nodes with the same identity.
func (x *index) level(n *node, d Dir, i int, visit func(*record) bool) bool {
	if n != nil && !n.visit(visit) {
		return false
	}
	id := d.identity(i)
	if id == (Identity{}) {
		return true
	}
	return x.aliases(id, n, func(alias *node) bool { return alias.visit(x.only(d, visit)) })
}

// aliases visits the nodes other than n that were seen with id.
func (x *index) aliases(id Identity, n *node, visit func(*node) bool) bool {
	if n != nil && x.alias == 0 && slices.ContainsFunc(n.idents, func(s sighting) bool { return s.id == id }) {
		return true // it is the only one
	}
	a := x.nodes[id]
	if a.first != nil && a.first != n && !visit(a.first) {
		return false
	}
	for _, other := range a.more {
		if other != n && !visit(other) {
			return false
		}
	}
	return true
}

// only passes on the records that do overlap d. A node that was seen with an
// identity may have other records too.
func (x *index) only(d Dir, visit func(*record) bool) func(*record) bool {
	return func(r *record) bool {
		for _, e := range r.Dirs {
			if d.overlaps(e) {
				return visit(r)
			}
		}
		return true
	}
}

// all visits the records, some of them more than once, until visit returns false.
// That is what it returns then.
func (x *index) all(visit func(*record) bool) bool { return x.root == nil || x.root.subtree(visit) }

func (n *node) visit(visit func(*record) bool) bool {
	for _, r := range n.records {
		if !visit(r) {
			return false
		}
	}
	return true
}

// below visits the records below n, and subtree those at n too.
func (n *node) below(visit func(*record) bool) bool {
	for child := n.first; child != nil; child = child.next {
		if !child.subtree(visit) {
			return false
		}
	}
	return true
}

func (n *node) subtree(visit func(*record) bool) bool { return n.visit(visit) && n.below(visit) }
