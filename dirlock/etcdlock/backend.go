package etcdlock

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/taukit/taukit/dirlock"
)

// Limits.
const (
	DefaultTTL    = 15 * time.Second // of the lease of an instance
	MinTTL        = 5 * time.Second
	MinMargin     = 500 * time.Millisecond // by which a lease ends earlier than its server says, at least;
	marginPart    = 10                     // and at least this part of its TTL
	MaxTableBytes = 1 << 20                // of the stored table; servers take 1.5 MiB
	MaxScopeBytes = 128

	UpdateTimeout = 10 * time.Second       // of all attempts to make one change
	CloseTimeout  = 5 * time.Second        // of giving up an instance
	RetryMin      = 5 * time.Millisecond   // bounds the random delay before another attempt; doubles
	RetryMax      = 250 * time.Millisecond // up to this
)

// keyPrefix has the version of the keys and of what is in them.
const keyPrefix = "taukit/dirlock/v1/"

// Options configure a [Backend]. Root and Scope are required.
type Options struct {
	// Root is the directory of this host that has the shared tree. Only
	// directories in it can be locked.
	Root string
	// Scope names the tree, the same on all hosts: 1 to [MaxScopeBytes] bytes
	// without "/".
	Scope string
	// TTL is after how long without a sign of life others may have what an
	// instance held, in whole seconds; at least [MinTTL], by default
	// [DefaultTTL]. Its third is the time between renewals.
	TTL time.Duration
	// Clock is by default that of the system. Managers need the same one, as
	// they compare it with [dirlock.Session.ValidUntil].
	Clock dirlock.Clock
}

// Backend is a [dirlock.Backend] for one tree that hosts share. It is safe for
// concurrent use and needs no release.
type Backend struct {
	client   *clientv3.Client
	tree     tree
	clock    dirlock.Clock
	ttl      time.Duration // asked for
	keys     string        // the prefix of all
	tableKey string
	instKeys string // the prefix of those of instances
}

// New returns a Backend. The client stays the caller's, who closes it after the
// sessions. The error is about the options: the server is not asked yet.
//
// A client with DialKeepAliveTime set recovers from a connection that went dead
// without an end; without it, one that is idle may hold up requests until they
// time out.
func New(client *clientv3.Client, opts Options) (*Backend, error) {
	if client == nil {
		return nil, errors.New("etcdlock: no client")
	}
	if opts.Scope == "" || len(opts.Scope) > MaxScopeBytes || strings.Contains(opts.Scope, "/") {
		return nil, fmt.Errorf("etcdlock: scope %q: want 1 to %d bytes without /", opts.Scope, MaxScopeBytes)
	}
	if opts.TTL == 0 {
		opts.TTL = DefaultTTL
	}
	if opts.TTL < MinTTL || opts.TTL%time.Second != 0 {
		return nil, fmt.Errorf("etcdlock: TTL %v: want whole seconds, at least %v", opts.TTL, MinTTL)
	}
	if !filepath.IsAbs(opts.Root) {
		return nil, fmt.Errorf("etcdlock: root %q is not absolute", opts.Root)
	}
	root, err := dirlock.Canonical(opts.Root, ".")
	if err != nil {
		return nil, fmt.Errorf("etcdlock: root %q: %w", opts.Root, err)
	}
	if opts.Clock == nil {
		opts.Clock = systemClock{time.Now()}
	}
	prefix := keyPrefix + opts.Scope + "/"
	return &Backend{
		client:   client,
		tree:     newTree(root),
		clock:    opts.Clock,
		ttl:      opts.TTL,
		keys:     prefix,
		tableKey: prefix + "table",
		instKeys: prefix + "inst/",
	}, nil
}

// Attach makes a new instance, with a lease of its own that is renewed until the
// session is closed or lost.
func (b *Backend) Attach(ctx context.Context) (dirlock.Session, error) {
	ctx, cancel := context.WithTimeout(ctx, UpdateTimeout)
	defer cancel()
	sent := readClock(b.clock)
	grant, err := b.client.Grant(ctx, int64(b.ttl/time.Second))
	if err != nil {
		return nil, err
	}
	s := newSession(b, grant.ID, validity{sent, time.Duration(grant.TTL) * time.Second})
	put, err := b.client.Put(ctx, s.key, s.record(0), clientv3.WithLease(grant.ID))
	if err != nil {
		s.end(err)
		_ = s.revoke(context.WithoutCancel(ctx)) // or it runs out
		return nil, err
	}
	s.created = put.Header.Revision
	go s.keepAlive()
	return s, nil
}

// newID returns 128 random bits in hexadecimal.
func newID() string {
	var random [16]byte
	_, _ = rand.Read(random[:]) // never fails
	return hex.EncodeToString(random[:])
}

// hostAndProgram tell a person who looks at the keys whose instance one is.
func hostAndProgram() (host, program string) {
	host, _ = os.Hostname()
	return strings.ToValidUTF8(host, "?"), strings.ToValidUTF8(filepath.Base(os.Args[0]), "?")
}
