package integration_test

import (
	"io"
	"net"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
)

// A proxy is a way to a server that a test can break.
type proxy struct {
	listener net.Listener
	all      sync.WaitGroup

	mu          sync.Mutex
	server      string
	conns       map[net.Conn]bool
	cut         bool // there are no connections
	noRequests  bool // what clients send is dropped
	noResponses bool // what the server sends is
}

func newProxy(t *testing.T, server string) *proxy {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	p := &proxy{listener: listener, server: server, conns: map[net.Conn]bool{}}
	p.all.Go(p.accept)
	t.Cleanup(func() {
		listener.Close()
		p.Cut()
		p.all.Wait()
	})
	return p
}

func (p *proxy) Addr() string { return p.listener.Addr().String() }

// Cut ends all connections, and lets none be made.
func (p *proxy) Cut() { p.set(func() { p.cut = true }) }

// Restore ends all connections, and lets sound ones be made.
func (p *proxy) Restore() { p.RestoreTo(p.server) }

// RestoreTo is Restore with another server.
func (p *proxy) RestoreTo(server string) {
	p.set(func() {
		p.server = server
		p.cut, p.noRequests, p.noResponses = false, false, false
	})
}

func (p *proxy) set(change func()) {
	p.mu.Lock()
	defer p.mu.Unlock()
	change()
	for conn := range p.conns {
		conn.Close()
	}
}

// Silence keeps the connections, but nothing gets through any more.
func (p *proxy) Silence() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.noRequests, p.noResponses = true, true
}

// Mute is Silence for what the server sends: requests still get there.
func (p *proxy) Mute() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.noResponses = true
}

func (p *proxy) accept() {
	for {
		client, err := p.listener.Accept()
		if err != nil {
			return
		}
		p.all.Go(func() { p.connect(client) })
	}
}

func (p *proxy) connect(client net.Conn) {
	defer client.Close()
	p.mu.Lock()
	address, cut := p.server, p.cut
	p.mu.Unlock()
	if cut {
		return
	}
	server, err := net.Dial("tcp", address)
	if err != nil {
		return
	}
	defer server.Close()
	p.mu.Lock()
	if cut = p.cut; !cut {
		p.conns[client], p.conns[server] = true, true
	}
	p.mu.Unlock()
	if cut {
		return
	}
	var both sync.WaitGroup
	both.Go(func() { p.copy(server, client, &p.noRequests) })
	both.Go(func() { p.copy(client, server, &p.noResponses) })
	both.Wait()
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.conns, client)
	delete(p.conns, server)
}

// copy is io.Copy, which drops what it has read while it is told to. Then it
// closes both.
func (p *proxy) copy(to, from net.Conn, drop *bool) {
	defer to.Close()
	defer from.Close()
	_, _ = io.Copy(writerFunc(func(data []byte) (int, error) {
		p.mu.Lock()
		dropped := *drop
		p.mu.Unlock()
		if dropped {
			return len(data), nil
		}
		return to.Write(data)
	}), from)
}

type writerFunc func([]byte) (int, error)

func (w writerFunc) Write(data []byte) (int, error) { return w(data) }
