package lazydfa

import "github.com/taukit/taukit/search/internal/lines"

// A lane is a part of a text of whole lines on its way through the automaton.
type lane struct {
	s         *state
	from      int
	next, end int // what is to come is text[next:end]
	found     int // a position in the first line that matches, or that of its end; or -1
}

// lanes are the two halves of what is left of a text. They take turns byte by
// byte: the processor waits for the state of one while it looks up that of the
// other.
type lanes struct {
	both  [2]lane
	ahead bool // the second one is in use, and has gone some way
}

// minLane is the size of a part of a text that is worth a lane, in bytes.
const minLane = 1 << 10

func (m *Machine) lane(from, end int) lane {
	return lane{s: m.start, from: from, next: from, end: end, found: -1}
}

// Next looks for the first line of a text, at or after the start of a line at
// from, that matches. It returns a position in that line, or that of its end,
// and -1 if no line matches. It is false if the automaton gave up, at the start
// of a line at that position: every line before it has been searched. From one
// call to the next, from must not decrease.
func (m *Machine) Next(text []byte, from int) (at int, ok bool) {
	a, b := &m.lanes.both[0], &m.lanes.both[1]
	if m.lanes.ahead && from >= b.from {
		*a, m.lanes.ahead = *b, false
	} else {
		*a = m.lane(from, len(text))
		if m.lanes.ahead {
			a.end = b.from
		}
	}
	for {
		if a.found >= 0 {
			return a.found, true
		}
		if !m.lanes.ahead {
			m.split(text)
		}
		ok := true
		if m.lanes.ahead && b.found < 0 {
			ok = m.runBoth(text)
		}
		if ok && a.found < 0 {
			ok = m.run(a, text)
		}
		switch {
		case !ok:
			return lineStart(text, a.next, a.from), false
		case a.found >= 0:
			return a.found, true
		case !m.lanes.ahead:
			return -1, true
		}
		*a, m.lanes.ahead = *b, false
	}
}

// split gives the second half of the first lane to the second one.
func (m *Machine) split(text []byte) {
	a := &m.lanes.both[0]
	if a.end-a.next < 2*minLane {
		return
	}
	t := lines.Text{Data: text}
	if middle := t.After(lines.End(text, a.next+(a.end-a.next)/2)); middle < a.end {
		m.lanes.both[1] = m.lane(middle, a.end)
		a.end, m.lanes.ahead = middle, true
	}
}

// runBoth runs both lanes until one has ended or found something. It is false if
// the automaton gave up.
func (m *Machine) runBoth(text []byte) bool {
	for {
		a, b := m.lanes.both[0], m.lanes.both[1]
		n := min(a.end-a.next, b.end-b.next)
		x, y := text[a.next:a.next+n], text[b.next:b.next+n]
		i := 0
		for ; i < len(x) && i < len(y); i++ {
			s, r := a.s.next[x[i]], b.s.next[y[i]]
			if s == nil || r == nil {
				break
			}
			a.s, b.s = s, r
		}
		a.next += i
		b.next += i
		m.lanes.both[0], m.lanes.both[1] = a, b
		for k := range m.lanes.both {
			l := &m.lanes.both[k]
			if l.next < l.end && l.s.next[text[l.next]] != nil {
				continue // it is the other one that has to stop
			}
			if more, ok := m.turn(l, text); !more || !ok {
				return ok
			}
		}
	}
}

// run runs a lane until it has ended or found something. It is false if the
// automaton gave up.
func (m *Machine) run(l *lane, text []byte) bool {
	for {
		s, i := l.s, l.next
		for i < l.end {
			n := s.next[text[i]]
			if n == nil {
				break
			}
			s = n
			i++
		}
		l.s, l.next = s, i
		if more, ok := m.turn(l, text); !more {
			return ok
		}
	}
}

// turn moves a lane on that cannot go on by the states that are known. It
// reports whether there is more to do, and is not ok if the automaton gave up.
func (m *Machine) turn(l *lane, text []byte) (more, ok bool) {
	switch {
	case l.s == m.match:
		l.found = l.next - 1
		return false, true
	case l.next == l.end:
		// A lane that does not end where a line does is the last one.
		if l.s != m.dead && l.s.context&atStart == 0 && m.matchesAtEnd(l.s) {
			l.found = l.next - 1
		}
		return false, true
	case l.s == m.dead:
		l.next = lines.End(text[:l.end], l.next)
		if l.next < l.end {
			l.s = m.start
			if text[l.next] == '\r' {
				l.s = m.startCR
			}
			l.next++
		}
		return true, true
	}
	n := m.step(l.s, text[l.next])
	if m.size > m.limit {
		if n, ok = m.flush(n); !ok {
			return false, false
		}
	} else {
		l.s.next[text[l.next]] = n
	}
	l.s = n
	l.next++
	return true, true
}

// lineStart returns where the line of text[i] starts, given the start of a line
// before it.
func lineStart(text []byte, i, from int) int {
	for i > from && text[i-1] != '\n' && (text[i-1] != '\r' || i < len(text) && text[i] == '\n') {
		i--
	}
	return i
}
