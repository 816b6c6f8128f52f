package patch

import (
	"bytes"
	"unicode/utf8"
)

// A Change is the difference that a patch makes to one file: the net effect of
// all sections. The data must not be changed.
type Change struct {
	Status        byte   // 'A' is added, 'M' modified or moved, 'D' deleted
	Path          string // as first written in the patch
	From          string // of a move: its old path, as first written; "" otherwise
	Key, FromKey  string // the keys of Path and From
	Before, After []byte // the content; nil if there is no file, or it was not read
	Text          bool   // each side there is was read, and is UTF-8 without NUL: it makes sense to compare
}

// changes returns the net effect, in the order of first mention.
func (o *overlay) changes(see view) []Change {
	effects := o.effects(see)
	list := make([]Change, len(effects))
	for i, e := range effects {
		c := Change{Status: e.status, Path: e.node.path, Key: e.node.key, Text: true}
		old := e.node.disk
		if e.from != nil {
			c.From, c.FromKey = e.from.path, e.from.key
			old = e.from.disk
		}
		if old != nil {
			c.Before = old.Data
			c.Text = isText(c.Before)
		}
		if v := see(e.node); v != nil {
			c.After = v.content()
			c.Text = c.Text && isText(c.After)
		}
		list[i] = c
	}
	return list
}

// isText reports whether data was read and is text.
func isText(data []byte) bool {
	return data != nil && bytes.IndexByte(data, 0) < 0 && utf8.Valid(data)
}
