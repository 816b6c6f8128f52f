// Package embedded is an etcd server in the process, on the loopback interface.
package embedded

import (
	"context"
	"net/url"

	"go.etcd.io/etcd/server/v3/embed"
	"go.uber.org/zap"
)

// Server is a cluster of one member.
type Server struct{ etcd *embed.Etcd }

// Start starts a server with its data in dir, which may have them already, and
// returns when it answers. The server must be stopped.
func Start(ctx context.Context, dir string) (*Server, error) {
	cfg := embed.NewConfig()
	cfg.Dir = dir
	cfg.ZapLoggerBuilder = embed.NewZapLoggerBuilder(zap.NewNop())
	cfg.UnsafeNoFsync = true // nothing here is to survive the loss of power
	anyPort := []url.URL{{Scheme: "http", Host: "127.0.0.1:0"}}
	cfg.ListenClientUrls, cfg.AdvertiseClientUrls = anyPort, anyPort
	cfg.ListenPeerUrls, cfg.AdvertisePeerUrls = anyPort, anyPort
	cfg.InitialCluster = cfg.InitialClusterFromName(cfg.Name)
	cfg.TickMs, cfg.ElectionMs = 20, 200 // it elects itself, so it may be quick
	etcd, err := embed.StartEtcd(cfg)
	if err != nil {
		return nil, err
	}
	select {
	case <-etcd.Server.ReadyNotify():
		return &Server{etcd}, nil
	case err = <-etcd.Err():
	case <-ctx.Done():
		err = context.Cause(ctx)
	}
	etcd.Close()
	return nil, err
}

// Addr is where clients connect to.
func (s *Server) Addr() string { return s.etcd.Clients[0].Addr().String() }

// Stop ends the server; the data stay.
func (s *Server) Stop() { s.etcd.Close() }
