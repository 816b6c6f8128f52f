package artifact

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"sync"
	"time"
)

const (
	// DefaultImportPrefix is the prefix of [ImportOptions] by default.
	DefaultImportPrefix = "tool-import"
	// MaxImporting is how many bytes an [Imports] writes at once.
	MaxImporting = 16 << 20

	importedPrefix = "artifact-"
	importedRandom = 16 // bytes
)

// ImportOptions configure an [Imports]. A zero field stands for its default.
type ImportOptions struct {
	// Dir is the parent directory, with the demands and the default of
	// [Options].
	Dir string
	// Prefix begins the name of the directory, as in [Options]. It must not be
	// that of a Spool, and by default is [DefaultImportPrefix].
	Prefix string
}

// Imported is a private file with the content of an original.
type Imported struct {
	Path string // absolute; printable as it is
	Size int64  // in bytes
}

// Imports brings originals back as private files, which live until it is
// closed:
//
//	DIR/PREFIX-UID-RANDOM/artifact-RANDOM[SUFFIX]
//	DIR/PREFIX-UID-RANDOM/owner.lock
//
// The directory has mode 0700 and the files have mode 0600, whatever the umask
// and the hints are: nothing is executable, and nobody else can find or guess
// a file. They belong to whoever imported them, who may change them.
//
// It does not touch the disk before the first import. Like a [Spool] it removes
// then what crashed processes have left, and needs the same of the system; a nil
// Imports is switched off. It is safe for concurrent use.
type Imports struct {
	dir, prefix string
	gate        gate

	mu     sync.Mutex
	closed bool
	active sync.WaitGroup // imports; none begins once closed is set
	own    *importDir     // nil before there is one
	lost   []*importDir   // that were taken away; imports may still be using them
}

// NewImports returns an Imports. The error is [fs.ErrInvalid] for a prefix that
// is not part of a printable file name.
func NewImports(opts ImportOptions) (*Imports, error) {
	if opts.Prefix == "" {
		opts.Prefix = DefaultImportPrefix
	}
	dir, prefix := defaults(opts.Dir, opts.Prefix)
	if err := checkPrefix(prefix); err != nil {
		return nil, err
	}
	return &Imports{dir: dir, prefix: prefix, gate: gate{free: MaxImporting}}, nil
}

// Import copies an original of the store to a new file, whose name ends with
// what [SuggestSuffix] makes of the hints. The file is on the disk, and size and
// digest of what was written are those of the key, when it returns; after an
// error, that of ctx included, there is no file.
//
// An import waits while others are writing and the bytes of all together would
// be more than [MaxImporting].
//
// The error is [ErrReference], [ErrUnavailable] (no store, or m is nil),
// [ErrClosed], [ErrTooLarge] for more than [MaxBytes], [ErrIntegrity] or another
// one of the store, [ErrDestination] with what is wrong there ([ErrUnsafeDir],
// [ErrUnsupported] or an error of the system), or that of ctx.
func (m *Imports) Import(ctx context.Context, s Store, key Key, hints Hints) (Imported, error) {
	if m == nil {
		return Imported{}, ErrUnavailable
	}
	if err := m.begin(); err != nil {
		return Imported{}, err
	}
	defer m.active.Done()
	r, d, err := openVerified(ctx, s, key)
	if err != nil {
		return Imported{}, err
	}
	defer r.Close() //nolint:errcheck // only read
	if d.Size > MaxBytes {
		return Imported{}, ErrTooLarge
	}
	if err := m.gate.acquire(ctx, d.Size); err != nil {
		return Imported{}, err
	}
	defer m.gate.release(d.Size)
	own, err := m.directory()
	if err != nil {
		return Imported{}, notMade(err)
	}
	return own.write(ctx, importedName(hints), r)
}

func (m *Imports) begin() error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.closed {
		return ErrClosed
	}
	m.active.Add(1)
	return nil
}

// ErrDestination says that the private file of an import could not be made; the
// store is not to blame.
var ErrDestination = errors.New("artifact: the file cannot be made")

func notMade(err error) error { return fmt.Errorf("%w: %w", ErrDestination, err) }

// directory returns the directory for imports. It makes one if there is none,
// or if it has been taken away, as cleaners of temporary directories do.
func (m *Imports) directory() (*importDir, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.own == nil {
		_, _ = SweepImports(m.dir, m.prefix, StaleAge) // a courtesy: its failure is nobody's problem
	} else {
		err := m.own.inPlace()
		if !errors.Is(err, fs.ErrNotExist) {
			return m.own, err
		}
		m.lost = append(m.lost, m.own)
		m.own = nil
	}
	var err error
	m.own, err = makeImportDir(m.dir, m.prefix)
	return m.own, err
}

func importedName(hints Hints) string {
	var random [importedRandom]byte
	_, _ = rand.Read(random[:]) // never fails
	return importedPrefix + hex.EncodeToString(random[:]) + SuggestSuffix(hints.Filename, hints.MediaType)
}

// isImported reports whether an import may have this name.
func isImported(name string) bool {
	digits := hex.EncodedLen(importedRandom)
	if len(name) < len(importedPrefix)+digits || name[:len(importedPrefix)] != importedPrefix {
		return false
	}
	_, err := hex.DecodeString(name[len(importedPrefix) : len(importedPrefix)+digits])
	return err == nil
}

// Close removes the directory with all that is in it, after waiting for the
// imports that are under way; their contexts end them. It may be called again,
// and then tries again what failed.
func (m *Imports) Close() error {
	if m == nil {
		return nil
	}
	m.mu.Lock()
	m.closed = true
	m.mu.Unlock()
	m.active.Wait()

	m.mu.Lock()
	defer m.mu.Unlock()
	dirs := m.lost // a directory may be back where it was
	if m.own != nil {
		dirs = append(dirs, m.own)
	}
	m.lost, m.own = nil, nil
	var errs []error
	for _, d := range dirs {
		if err := d.remove(); err != nil {
			m.lost = append(m.lost, d)
			errs = append(errs, err)
		}
	}
	return errors.Join(errs...)
}

// SweepImports removes the directories of imports in dir that dead processes
// have left, and returns how many, by the rules of [Sweep]: the names it unlinks
// are those that imports have, all of regular files, and a directory with anything
// else in it stays as it is. Empty strings stand for the defaults.
func SweepImports(dir, prefix string, minAge time.Duration) (removed int, err error) {
	if prefix == "" {
		prefix = DefaultImportPrefix
	}
	dir, prefix = defaults(dir, prefix)
	if err := checkPrefix(prefix); err != nil {
		return 0, err
	}
	return sweepImports(dir, prefix, minAge)
}

// A gate lets so much through at once and makes the rest wait in turn.
type gate struct {
	mu      sync.Mutex
	free    int64
	waiting []*turn // first come, first served
}

type turn struct {
	need  int64
	ready chan struct{} // closed when the turn has got what it needs
}

// acquire waits until need is free, which must not be more than there is.
func (g *gate) acquire(ctx context.Context, need int64) error {
	g.mu.Lock()
	if len(g.waiting) == 0 && need <= g.free {
		g.free -= need
		g.mu.Unlock()
		return nil
	}
	t := &turn{need, make(chan struct{})}
	g.waiting = append(g.waiting, t)
	g.mu.Unlock()
	select {
	case <-t.ready:
		return nil
	case <-ctx.Done():
		g.leave(t)
		return ctx.Err()
	}
}

// leave gives up a turn, or what it has got meanwhile.
func (g *gate) leave(t *turn) {
	g.mu.Lock()
	defer g.mu.Unlock()
	select {
	case <-t.ready:
		g.free += t.need
	default:
		i := slices.Index(g.waiting, t)
		g.waiting = slices.Delete(g.waiting, i, i+1)
	}
	g.serve()
}

func (g *gate) release(n int64) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.free += n
	g.serve()
}

// serve gives those in front what they need. It needs g.mu.
func (g *gate) serve() {
	for len(g.waiting) > 0 && g.waiting[0].need <= g.free {
		g.free -= g.waiting[0].need
		close(g.waiting[0].ready)
		g.waiting = g.waiting[1:]
	}
}
