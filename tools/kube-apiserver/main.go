// Command kube-apiserver runs one real Kubernetes API server for the tests: etcd, kube-apiserver and those controllers
// without which deleting does not end (garbage collection, namespaces, service accounts), in one process on free ports of
// the loopback address.
//
//	kube-apiserver --data DIR [--port PORT]
//
// prints one line of JSON when it answers, {"event":"ready","url":…,"ca":FILE,"token":…,"reader_token":…}, and ends when its
// standard input does. A line "compact" on standard input forgets all past revisions, as etcd does in time, and is answered by
// {"event":"compacted","revision":…}. Killed and started again with the same folder and port it is the same server after a
// restart.
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"

	"k8s.io/klog/v2"
)

// The caller that may all, as the twin's creator of a cluster is, and one that may nothing but ask who it is.
const (
	adminToken  = "admin-of-the-tests"
	readerToken = "reader-of-the-tests"
	tokens      = adminToken + ",admin,admin,\"system:masters\"\n" + readerToken + ",reader,reader\n"
)

func main() {
	port := flag.Int("port", 0, "the API server's port; 0: any that is free")
	data := flag.String("data", "", "folder for etcd's data, certificates and keys; made where it is missing")
	flag.Parse()
	if *data == "" || flag.NArg() != 0 {
		fmt.Fprintln(os.Stderr, "usage: kube-apiserver --data DIR [--port PORT]")
		os.Exit(2)
	}
	if err := run(*data, *port); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(data string, port int) error {
	klog.LogToStderr(true)
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	if err := os.MkdirAll(data, 0o700); err != nil {
		return fmt.Errorf("the data folder: %w", err)
	}
	store, err := startEtcd(data)
	if err != nil {
		return fmt.Errorf("etcd: %w", err)
	}
	defer store.close()
	server, err := startServer(ctx, data, store.url, port)
	if err != nil {
		return fmt.Errorf("kube-apiserver: %w", err)
	}
	if err := startControllers(ctx, server); err != nil {
		return fmt.Errorf("controllers: %w", err)
	}
	say(map[string]any{"event": "ready", "url": server.url, "ca": filepath.Join(data, certificateFile),
		"token": adminToken, "reader_token": readerToken, "version": server.version})
	return obey(ctx, store, server)
}

// obey carries out what standard input says until its end, or until the server ends by itself.
func obey(ctx context.Context, store *etcd, server *apiServer) error {
	lines := make(chan string)
	go func() {
		defer close(lines)
		for input := bufio.NewScanner(os.Stdin); input.Scan(); {
			lines <- input.Text()
		}
	}()
	for {
		select {
		case err := <-server.ended:
			return fmt.Errorf("kube-apiserver ended: %w", err)
		case line, open := <-lines:
			if !open {
				return nil
			}
			if line != "compact" {
				return fmt.Errorf("unknown command %q; known: compact", line)
			}
			revision, err := store.compact(ctx)
			if err != nil {
				return fmt.Errorf("compaction: %w", err)
			}
			say(map[string]any{"event": "compacted", "revision": revision})
		}
	}
}

func say(event map[string]any) {
	line, err := json.Marshal(event)
	if err != nil {
		panic(err) // strings and numbers only
	}
	fmt.Println(string(line))
}
