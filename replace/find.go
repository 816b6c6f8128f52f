package replace

import (
	"bytes"
	"context"
)

// A finder looks for several texts, the targets, in one pass. Overlapping
// occurrences count, equal targets share their places, and after MaxMatches
// occurrences of a target it looks for no more of them.
type finder struct {
	text    []byte
	targets []string // different, not empty, and no longer than text
	places  [][]int  // of each target, ascending
}

// findAll returns the places of each target in text. The time is linear in text
// plus targets. The error is that of ctx.
func findAll(ctx context.Context, text []byte, targets []string) ([][]int, error) {
	long := finder{text: text} // long enough to be found by samples
	rest := finder{text: text}
	type slot struct {
		f     *finder
		index int
	}
	slots := make(map[string]slot, len(targets))
	for _, t := range targets {
		if _, ok := slots[t]; ok || len(t) > len(text) {
			continue
		}
		f := &rest
		if len(t) >= minSampled {
			f = &long
		}
		slots[t] = slot{f, len(f.targets)}
		f.targets = append(f.targets, t)
	}
	if err := long.find(ctx, (*finder).sample); err != nil {
		return nil, err
	}
	if err := rest.find(ctx, (*finder).scan); err != nil {
		return nil, err
	}
	found := make([][]int, len(targets))
	for i, t := range targets {
		if s, ok := slots[t]; ok {
			found[i] = s.f.places[s.index]
		}
	}
	return found, nil
}

// find fills the places with the given method.
func (f *finder) find(ctx context.Context, method func(*finder, context.Context) error) error {
	f.places = make([][]int, len(f.targets))
	if len(f.targets) == 0 {
		return ctx.Err()
	}
	return method(f, ctx)
}

// add notes an occurrence of a target. Those of one target come in order.
func (f *finder) add(target, at int) {
	f.places[target] = append(f.places[target], at)
}

// done reports whether no more occurrences of a target are looked for.
func (f *finder) done(target int) bool {
	return len(f.places[target]) >= MaxMatches
}

// blockSize is how many bytes of text are searched between two looks at the
// context.
const blockSize = 1 << 20

// scan finds the targets by reading every byte of the text once.
func (f *finder) scan(ctx context.Context) error {
	a := newAutomaton(f.targets)
	first, single := a.onlyFirst()
	state := int32(0)
	for at := 0; at < len(f.text); {
		if err := ctx.Err(); err != nil {
			return err
		}
		for end := min(at+blockSize, len(f.text)); at < end; at++ {
			if state == 0 && single {
				i := bytes.IndexByte(f.text[at:end], first)
				if i < 0 {
					at = end
					break
				}
				at += i
			}
			state = a.step(state, f.text[at])
			if a.output[state] != 0 {
				f.report(a, state, at+1)
			}
		}
	}
	return nil
}

// report notes the targets that end at text[:end], where the automaton is in the
// given state.
func (f *finder) report(a *automaton, state int32, end int) {
	for o := a.live(a.output[state], f.done); o != 0; o = a.live(a.shorter[o], f.done) {
		target := int(o) - 1
		f.add(target, end-len(f.targets[target]))
	}
}
