package main

import (
	"context"
	"fmt"
	"net/url"
	"path/filepath"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
	"go.etcd.io/etcd/server/v3/embed"
)

type etcd struct {
	server *embed.Etcd
	client *clientv3.Client
	url    string
}

// startEtcd starts a member of its own in this process. It does not wait for the disk: its data lives as long as the test.
func startEtcd(data string) (*etcd, error) {
	config := embed.NewConfig()
	config.Dir = filepath.Join(data, "etcd")
	config.UnsafeNoFsync = true
	config.LogLevel = "error"
	anyPort := url.URL{Scheme: "http", Host: "127.0.0.1:0"}
	config.ListenClientUrls = []url.URL{anyPort}
	config.ListenPeerUrls = []url.URL{anyPort}
	server, err := embed.StartEtcd(config)
	if err != nil {
		return nil, err
	}
	select {
	case <-server.Server.ReadyNotify():
	case <-time.After(time.Minute):
		server.Close()
		return nil, fmt.Errorf("not ready after a minute")
	}
	address := "http://" + server.Clients[0].Addr().String()
	client, err := clientv3.New(clientv3.Config{Endpoints: []string{address}, DialTimeout: 10 * time.Second})
	if err != nil {
		server.Close()
		return nil, err
	}
	return &etcd{server: server, client: client, url: address}, nil
}

// compact forgets every revision before the present one, and says which that is.
func (e *etcd) compact(ctx context.Context) (int64, error) {
	ctx, cancel := context.WithTimeout(ctx, 30*time.Second)
	defer cancel()
	present, err := e.client.Get(ctx, "/")
	if err != nil {
		return 0, err
	}
	revision := present.Header.Revision
	_, err = e.client.Compact(ctx, revision, clientv3.WithCompactPhysical())
	return revision, err
}

func (e *etcd) close() {
	_ = e.client.Close()
	e.server.Close()
}
