package main

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/pflag"
	utilerrors "k8s.io/apimachinery/pkg/util/errors"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/util/keyutil"
	_ "k8s.io/component-base/metrics/prometheus/version" // the version in discovery
	"k8s.io/kubernetes/cmd/kube-apiserver/app"
	"k8s.io/kubernetes/cmd/kube-apiserver/app/options"
)

const certificateFile = "apiserver.crt"

type apiServer struct {
	url     string
	version string
	ca      []byte
	config  *rest.Config
	ended   chan error
}

// startServer starts kube-apiserver with its usual admission and RBAC, and returns when it says that it is ready.
func startServer(ctx context.Context, data, etcdURL string, port int) (*apiServer, error) {
	listener, err := net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", port))
	if err != nil {
		return nil, err
	}
	completed, err := completeOptions(ctx, data, etcdURL, listener)
	if err != nil {
		return nil, err
	}
	server := &apiServer{url: "https://" + listener.Addr().String(), ended: make(chan error, 1)}
	go func() { server.ended <- app.Run(ctx, completed) }()
	if server.ca, err = os.ReadFile(filepath.Join(data, certificateFile)); err != nil {
		return nil, err
	}
	server.config = &rest.Config{
		Host: server.url, BearerToken: adminToken, QPS: 1000, Burst: 2000,
		TLSClientConfig: rest.TLSClientConfig{CAData: server.ca},
	}
	return server, server.waitUntilReady(ctx)
}

func completeOptions(ctx context.Context, data, etcdURL string, listener net.Listener) (options.CompletedOptions, error) {
	none := options.CompletedOptions{}
	tokenFile, keyFile, err := writeSecrets(data)
	if err != nil {
		return none, err
	}
	run := options.NewServerRunOptions()
	run.SecureServing.Listener = listener
	run.SecureServing.BindPort = listener.Addr().(*net.TCPAddr).Port
	flags := pflag.NewFlagSet("kube-apiserver", pflag.ContinueOnError)
	for _, set := range run.Flags().FlagSets {
		flags.AddFlagSet(set)
	}
	err = flags.Parse([]string{
		"--etcd-servers=" + etcdURL,
		"--bind-address=127.0.0.1",
		"--cert-dir=" + data,
		"--authorization-mode=RBAC",
		"--token-auth-file=" + tokenFile,
		"--service-account-issuer=https://kubernetes.default.svc",
		"--service-account-key-file=" + keyFile,
		"--service-account-signing-key-file=" + keyFile,
		"--service-cluster-ip-range=172.20.0.0/16",
		"--allow-privileged=true",
		"--endpoint-reconciler-type=none",
		"--shutdown-delay-duration=0s",
		// Continued lists come from etcd, so that a compaction ends their tokens at once.
		"--feature-gates=ListFromCacheSnapshot=false",
	})
	if err != nil {
		return none, err
	}
	if err := run.GenericServerRunOptions.ComponentGlobalsRegistry.Set(); err != nil {
		return none, err
	}
	completed, err := run.Complete(ctx)
	if err != nil {
		return none, err
	}
	return completed, utilerrors.NewAggregate(completed.Validate())
}

// writeSecrets writes the callers' tokens and a new key that signs service accounts' tokens.
func writeSecrets(data string) (tokenFile, keyFile string, err error) {
	tokenFile, keyFile = filepath.Join(data, "tokens.csv"), filepath.Join(data, "service-accounts.key")
	if err = os.WriteFile(tokenFile, []byte(tokens), 0o600); err != nil {
		return "", "", err
	}
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return "", "", err
	}
	text, err := keyutil.MarshalPrivateKeyToPEM(key)
	if err != nil {
		return "", "", err
	}
	return tokenFile, keyFile, os.WriteFile(keyFile, text, 0o600)
}

func (s *apiServer) waitUntilReady(ctx context.Context) error {
	client, err := kubernetes.NewForConfig(s.config)
	if err != nil {
		return err
	}
	var last error
	for end := time.Now().Add(3 * time.Minute); time.Now().Before(end); time.Sleep(100 * time.Millisecond) {
		select {
		case err := <-s.ended:
			return fmt.Errorf("it ended before it was ready: %w", err)
		default:
		}
		if _, last = client.RESTClient().Get().AbsPath("/readyz").DoRaw(ctx); last != nil {
			continue
		}
		version, err := client.ServerVersion()
		if err != nil {
			return err
		}
		s.version = version.GitVersion
		return nil
	}
	return fmt.Errorf("not ready after three minutes: %w", last)
}
