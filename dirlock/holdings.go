package dirlock

// holdings are the records of one holder.
type holdings struct {
	manual, auto, waiting, refused []*record
	locked                         index // of the manual ones
}

// of returns what a holder has, which may be nothing yet.
func (t *Table) of(h Holder) *holdings {
	if own := t.holders[h]; own != nil {
		return own
	}
	return &holdings{}
}

func (o *holdings) add(r *record) {
	list := o.list(r)
	r.at = len(*list)
	*list = append(*list, r)
	if list == &o.manual {
		o.locked.add(r)
	}
}

func (o *holdings) remove(r *record) {
	list := o.list(r)
	last := len(*list) - 1
	moved := (*list)[last]
	(*list)[r.at], (*list)[last] = moved, nil
	*list = (*list)[:last]
	moved.at = r.at
	if list == &o.manual {
		o.locked.remove(r)
	}
}

func (o *holdings) list(r *record) *[]*record {
	switch {
	case r.refusal != nil:
		return &o.refused
	case r.token == 0:
		return &o.waiting
	case r.Manual:
		return &o.manual
	default:
		return &o.auto
	}
}

func (o *holdings) exempting() int {
	if len(o.manual) > 0 && len(o.waiting) > 0 {
		return 1
	}
	return 0
}

func (o *holdings) empty() bool {
	return len(o.manual)+len(o.auto)+len(o.waiting)+len(o.refused) == 0
}

// covering visits the manual locks that cover d, until visit returns false. That is
// what it returns then.
func (o *holdings) covering(d Dir, visit func(*record) bool) bool {
	_, all := o.locked.above(d, func(lock *record) bool { return !lock.Dirs[0].covers(d) || visit(lock) })
	return all
}
