package dirlock

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

const tableVersion = 1

// ErrTable says that bytes are no encoded [Table]: no JSON, another version, or
// locks that the rules exclude.
var ErrTable = errors.New("dirlock: not a lock table")

type tableJSON struct {
	Version    int           `json:"version"`
	Epoch      string        `json:"epoch"`
	Generation uint64        `json:"generation"`
	Verdicts   uint64        `json:"verdicts"`
	NextID     uint64        `json:"next_id"`
	Manual     []manualJSON  `json:"manual"`
	Auto       []autoJSON    `json:"auto"`
	Waiters    []waiterJSON  `json:"waiters"`
	Notices    []*noticeJSON `json:"notices"`
}

type manualJSON struct {
	ID       uint64     `json:"id"`
	Token    uint64     `json:"token"`
	Instance string     `json:"instance"`
	Agent    Owner      `json:"agent"`
	Dir      pathJSON   `json:"dir"`
	Chain    []Identity `json:"ident"`
	Acquired int64      `json:"acquired_ms"`
	Used     int64      `json:"used_ms"`
	Uses     uint64     `json:"uses"`
}

type autoJSON struct {
	ID       uint64       `json:"id"`
	Token    uint64       `json:"token"`
	Instance string       `json:"instance"`
	Agent    Owner        `json:"agent"`
	Dirs     []pathJSON   `json:"dirs"`
	Chains   [][]Identity `json:"ident"`
	Call     pathJSON     `json:"call"`
	Acquired int64        `json:"acquired_ms"`
}

type waiterJSON struct {
	ID       uint64       `json:"id"`
	Instance string       `json:"instance"`
	Agent    Owner        `json:"agent"`
	Dirs     []pathJSON   `json:"dirs"`
	Chains   [][]Identity `json:"ident"`
	Call     pathJSON     `json:"call"`
	Class    string       `json:"class"`
	Refused  *refusalJSON `json:"refused,omitzero"`
}

type refusalJSON struct {
	Code      string   `json:"code"`
	Directory pathJSON `json:"directory"`
	Owner     Owner    `json:"owner"`
	Held      pathJSON `json:"held,omitzero"`
}

type noticeJSON struct {
	Instance string     `json:"instance"`
	Agent    Owner      `json:"agent"`
	Dir      pathJSON   `json:"dir"`
	Chain    []Identity `json:"ident"`
	Reason   string     `json:"reason"`
	By       Owner      `json:"by,omitzero"`
}

const (
	classManual    = "manual"
	classAutomatic = "automatic"
)

// Encode returns the table as JSON; equal tables give equal bytes.
func (t *Table) Encode() []byte {
	out := tableJSON{Version: tableVersion, Epoch: t.epoch, Generation: t.generation, Verdicts: t.verdicts, NextID: t.nextID}
	for _, r := range t.sorted() {
		switch {
		case r.token == 0:
			out.Waiters = append(out.Waiters, encodeWaiter(r))
		case r.Manual:
			out.Manual = append(out.Manual, manualJSON{
				r.id, r.token, r.Instance, r.Agent, pathJSON(r.Dirs[0].Path), r.Dirs[0].Chain, r.acquired, r.used, r.uses,
			})
		default:
			dirs, chains := encodeDirs(r.Dirs)
			out.Auto = append(out.Auto, autoJSON{r.id, r.token, r.Instance, r.Agent, dirs, chains, pathJSON(r.Call), r.acquired})
		}
	}
	for _, n := range t.notices {
		out.Notices = append(out.Notices, &noticeJSON{n.holder.Instance, n.holder.Agent, pathJSON(n.dir.Path), n.dir.Chain, n.reason, n.by})
	}
	data, err := json.Marshal(&out)
	if err != nil {
		panic(err) // all strings are valid UTF-8 here
	}
	return data
}

// sorted returns the records in the order of arrival.
func (t *Table) sorted() []*record {
	all := make([]*record, 0, len(t.records))
	for _, r := range t.records {
		all = append(all, r)
	}
	slices.SortFunc(all, func(a, b *record) int { return cmp.Compare(a.id, b.id) })
	return all
}

func encodeWaiter(r *record) waiterJSON {
	w := waiterJSON{ID: r.id, Instance: r.Instance, Agent: r.Agent, Call: pathJSON(r.Call), Class: classAutomatic}
	w.Dirs, w.Chains = encodeDirs(r.Dirs)
	if r.Manual {
		w.Class = classManual
	}
	if e := r.refusal; e != nil {
		w.Refused = &refusalJSON{e.Code, pathJSON(e.Blocking), e.BlockingOwner, pathJSON(e.Held)}
	}
	return w
}

func encodeDirs(dirs []Dir) (paths []pathJSON, chains [][]Identity) {
	for _, d := range dirs {
		paths = append(paths, pathJSON(d.Path))
		chains = append(chains, d.Chain)
	}
	return paths, chains
}

// DecodeTable is the inverse of Encode. It fails with [ErrTable] for bytes that no
// Table encodes to, in particular if locks of different owners overlap.
func DecodeTable(data []byte) (*Table, error) {
	var in tableJSON
	if err := json.Unmarshal(data, &in, json.RejectUnknownMembers(true)); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrTable, err)
	}
	if in.Version != tableVersion {
		return nil, fmt.Errorf("%w of version %d", ErrTable, tableVersion)
	}
	t := newTable(in.Epoch)
	t.generation, t.verdicts, t.nextID = in.Generation, in.Verdicts, in.NextID
	ok := isID(in.Epoch)
	for _, m := range in.Manual {
		r := &record{id: m.ID, token: m.Token, acquired: m.Acquired, used: m.Used, uses: m.Uses}
		r.Claim = Claim{Holder: Holder{m.Instance, m.Agent}, Manual: true}
		ok = ok && m.Token > 0 && t.load(r, []pathJSON{m.Dir}, [][]Identity{m.Chain})
	}
	for _, a := range in.Auto {
		r := &record{id: a.ID, token: a.Token, acquired: a.Acquired, used: a.Acquired}
		r.Claim = Claim{Holder: Holder{a.Instance, a.Agent}, Call: CallID(a.Call)}
		ok = ok && a.Token > 0 && t.load(r, a.Dirs, a.Chains)
	}
	for _, w := range in.Waiters {
		r := &record{id: w.ID, Claim: Claim{Holder: Holder{w.Instance, w.Agent}, Call: CallID(w.Call), Manual: w.Class == classManual}}
		ok = ok && (r.Manual || w.Class == classAutomatic) && w.Refused.decode(r, w.Dirs) && t.load(r, w.Dirs, w.Chains)
	}
	for _, n := range in.Notices {
		if ok = ok && n != nil && isID(n.Instance) && n.Agent.valid() && isCanonical(string(n.Dir)) && (n.By == "" || n.By.valid()) && len(t.notices) < MaxNotices; ok {
			t.addNotice(notice{Holder{n.Instance, n.Agent}, Dir{string(n.Dir), n.Chain}, n.Reason, n.By})
		}
	}
	if !ok {
		return nil, fmt.Errorf("%w: records that cannot be", ErrTable)
	}
	return t, nil
}

// load puts a decoded record in the table, if the rules let it be there.
func (t *Table) load(r *record, paths []pathJSON, chains [][]Identity) bool {
	if len(paths) == 0 || len(chains) != len(paths) || r.Manual && len(paths) != 1 {
		return false
	}
	for i, path := range paths {
		if !isCanonical(string(path)) || len(chains[i]) != 0 && len(chains[i]) != depth(string(path))+1 {
			return false
		}
		r.Dirs = append(r.Dirs, Dir{string(path), chains[i]})
	}
	if !isID(r.Instance) || !r.Agent.valid() || t.records[r.id] != nil || r.id == 0 || max(r.id, r.token) >= t.nextID {
		return false
	}
	if r.token != 0 && !t.held.overlapping(r.Dirs, func(lock *record) bool {
		return lock.Holder == r.Holder && (!lock.Manual || !r.Manual)
	}) {
		return false
	}
	r.own = t.of(r.Holder)
	t.add(r)
	return true
}

// decode gives r the refusal, if there is one.
func (w *refusalJSON) decode(r *record, dirs []pathJSON) bool {
	if w == nil {
		return true
	}
	facts := Error{Blocking: string(w.Directory), BlockingOwner: w.Owner, Held: string(w.Held)}
	switch w.Code {
	case CodeDuplicate:
		if len(dirs) == 1 {
			facts.Requested = string(dirs[0])
		}
		r.refusal = ErrDuplicate.with(facts)
	case CodeDeadlock:
		r.refusal = ErrDeadlock.with(facts)
	}
	return r.refusal != nil
}

// isID reports whether s can be an instance or an epoch.
func isID(s string) bool {
	return len(s) == 32 && strings.Trim(s, "0123456789abcdef") == ""
}

// MarshalText returns the identity as DEVICE:FILE, in hexadecimal.
func (id Identity) MarshalText() ([]byte, error) {
	text := strconv.AppendUint(make([]byte, 0, 24), id.Device, 16)
	return strconv.AppendUint(append(text, ':'), id.File, 16), nil
}

// UnmarshalText is the inverse of MarshalText.
func (id *Identity) UnmarshalText(text []byte) error {
	device, file, _ := strings.Cut(string(text), ":")
	var err1, err2 error
	id.Device, err1 = strconv.ParseUint(device, 16, 64)
	id.File, err2 = strconv.ParseUint(file, 16, 64)
	return errors.Join(err1, err2)
}

// A pathJSON is a string of any bytes. JSON has only valid UTF-8: other bytes, and
// "%", become "%" and two hexadecimal digits.
type pathJSON string

// MarshalJSONTo writes the escaped string.
func (p pathJSON) MarshalJSONTo(enc *jsontext.Encoder) error {
	return enc.WriteToken(jsontext.String(p.escape()))
}

func (p pathJSON) escape() string {
	s := string(p)
	if utf8.ValidString(s) && !strings.Contains(s, "%") {
		return s
	}
	var b strings.Builder
	for len(s) > 0 {
		r, n := utf8.DecodeRuneInString(s)
		if r == utf8.RuneError && n == 1 || r == '%' {
			fmt.Fprintf(&b, "%%%02x", s[0])
		} else {
			b.WriteString(s[:n])
		}
		s = s[n:]
	}
	return b.String()
}

// UnmarshalJSONFrom reads an escaped string.
func (p *pathJSON) UnmarshalJSONFrom(dec *jsontext.Decoder) error {
	token, err := dec.ReadToken()
	if err != nil {
		return err
	}
	if token.Kind() != '"' {
		return ErrTable
	}
	var b strings.Builder
	text := token.String()
	for {
		plain, rest, found := strings.Cut(text, "%")
		b.WriteString(plain)
		if !found {
			break
		}
		if len(rest) < 2 {
			return ErrTable
		}
		code, err := strconv.ParseUint(rest[:2], 16, 8)
		if err != nil {
			return ErrTable
		}
		b.WriteByte(byte(code))
		text = rest[2:]
	}
	if *p = pathJSON(b.String()); p.escape() != token.String() {
		return ErrTable // not what Encode writes
	}
	return nil
}
