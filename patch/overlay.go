package patch

import (
	"bytes"
	"io/fs"
	"path"
)

// An overlay is how a tree will be: what the sections so far make of it.
type overlay struct {
	nodes map[string]*node // by key
	order []*node          // by first mention
	dirs  map[string]bool  // directories that files will be in; they may exist already
	links bool             // a section has removed or replaced a symbolic link
}

// A node is a key in an overlay.
type node struct {
	key     string
	path    string    // as first written in the patch
	disk    *Snapshot // what is there; nil if nothing is
	was     *version  // disk as a version, nil if nothing is there
	now     *version  // what will be there; nil if nothing will
	section *Section  // that decided on it; nil if none did
	done    bool      // it is so on disk, too
}

// replaced reports whether a section has decided on something that is no
// directory.
func (n *node) replaced() bool {
	return n != nil && n.section != nil && (n.was != nil || n.now != nil)
}

// A history is an overlay of what has been done already, or nothing.
type history struct{ done *overlay }

// node returns the node of a key, nil if there is none.
func (h history) node(key string) *node {
	if h.done == nil {
		return nil
	}
	return h.done.nodes[key]
}

func (h history) links() bool { return h.done != nil && h.done.links }

// A version is something that has a name.
type version struct {
	origin *node  // where on disk it comes from; nil for an added file
	data   []byte // new content; nil if it is that of the origin
	lost   bool   // content is not known, because it was damaged
}

// node returns the node of a key, which it makes if there is none.
func (o *overlay) node(key, path string, disk *Snapshot) *node {
	if n := o.nodes[key]; n != nil {
		return n
	}
	n := &node{key: key, path: path, disk: disk}
	if disk != nil {
		n.was = &version{origin: n}
		n.now = n.was
	}
	if o.nodes == nil {
		o.nodes = map[string]*node{}
	}
	o.nodes[key] = n
	o.order = append(o.order, n)
	return n
}

// set gives a node a version, nil to remove it.
func (o *overlay) set(n *node, v *version, s *Section) {
	n.now, n.section = v, s
	o.links = o.links || n.disk != nil && n.disk.Mode.Type() == fs.ModeSymlink
	if v == nil {
		return
	}
	if o.dirs == nil {
		o.dirs = map[string]bool{}
	}
	for dir := path.Dir(n.key); !o.dirs[dir]; dir = path.Dir(dir) {
		o.dirs[dir] = true
	}
}

// mode returns what will be at a node; ok is false if nothing will.
func (o *overlay) mode(n *node) (mode fs.FileMode, ok bool) {
	switch {
	case n.now != nil:
		return n.now.mode(), true
	case o.dirs[n.key]:
		return fs.ModeDir, true
	default:
		return 0, false
	}
}

func (v *version) mode() fs.FileMode {
	if v.origin == nil || v.data != nil {
		return 0
	}
	return v.origin.disk.Mode
}

// content returns the data of v, nil if it is not known.
func (v *version) content() []byte {
	if v.data != nil || v.origin == nil || v.lost {
		return v.data
	}
	return v.origin.disk.Data
}

// edited reports whether v is not what is on disk.
func (v *version) edited() bool { return v.data != nil || v.lost }

// edit returns v with other content.
func (v *version) edit(data []byte) *version {
	if v.origin != nil && v.origin.disk.Data != nil && bytes.Equal(v.origin.disk.Data, data) {
		return &version{origin: v.origin}
	}
	return &version{origin: v.origin, data: data}
}

// A view says which version of a node to look at, nil if it has none.
type view func(*node) *version

// planned is the view of what the sections make of a tree.
func planned(n *node) *version { return n.now }

// reached is the view of how much of it is done.
func reached(n *node) *version {
	if n.done {
		return n.now
	}
	return n.was
}

// source returns where the file at n comes from, if that is another name, which
// is no longer used.
func (see view) source(n *node) *node {
	v := see(n)
	if v == nil || v.origin == nil || v.origin == n || see(v.origin) != nil {
		return nil
	}
	return v.origin
}

// An effect is what becomes of a node.
type effect struct {
	node   *node
	status byte  // 'A' is added, 'M' modified or moved, 'D' deleted
	from   *node // of a move: where it comes from
}

// effects returns what becomes of all nodes, in the order of first mention,
// except for those that stay as they are. A file that moves is mentioned once,
// at its new name.
func (o *overlay) effects(see view) []effect {
	moved := map[*node]bool{}
	for _, n := range o.order {
		moved[see.source(n)] = true
	}
	var list []effect
	for _, n := range o.order {
		e := effect{node: n, from: see.source(n)}
		v := see(n)
		switch {
		case e.from != nil:
			e.status = 'M'
		case v == nil && (n.disk == nil || moved[n]):
			continue
		case v == nil:
			e.status = 'D'
		case n.disk == nil:
			e.status = 'A'
		case !n.differs(v):
			continue
		default:
			e.status = 'M'
		}
		list = append(list, e)
	}
	return list
}

// differs reports whether v is not what the disk has at n.
func (n *node) differs(v *version) bool {
	if v.origin == n {
		return v.edited()
	}
	return !n.disk.Mode.IsRegular() || n.disk.Data == nil || v.content() == nil || !bytes.Equal(n.disk.Data, v.content())
}
