// The peer of bench/kube_cache.cc: client-go's shared informers of nodes and pods, as its documentation shows
// them. Prints the same figures after the same two phases: one JSON line once both kinds are synced, one more
// once `-events` changes of pods have come (made, changed or deleted).
package main

import (
	"encoding/json"
	"flag"
	"log"
	"os"
	"runtime/debug"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"
)

func cpuSeconds() float64 {
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		log.Fatal(err)
	}
	seconds := func(t syscall.Timeval) float64 { return float64(t.Sec) + float64(t.Usec)/1e6 }
	return seconds(usage.Utime) + seconds(usage.Stime)
}

func residentMB() float64 {
	text, err := os.ReadFile("/proc/self/status")
	if err != nil {
		log.Fatal(err)
	}
	for _, line := range strings.Split(string(text), "\n") {
		if fields := strings.Fields(line); len(fields) > 1 && fields[0] == "VmRSS:" {
			kb, _ := strconv.ParseFloat(fields[1], 64)
			return kb / 1024
		}
	}
	return 0
}

func tell(fields map[string]any) {
	if err := json.NewEncoder(os.Stdout).Encode(fields); err != nil {
		log.Fatal(err)
	}
}

func main() {
	url := flag.String("url", "", "the API server")
	authority := flag.String("ca", "", "file with the authority of the server's certificate; its bearer token is in KUBE_TOKEN")
	events := flag.Int64("events", 0, "changes of pods to wait for")
	flag.Parse()
	config := &rest.Config{Host: *url, QPS: -1, BearerToken: os.Getenv("KUBE_TOKEN")}
	config.CAFile = *authority
	// Both programs ask for JSON without compression.
	config.ContentType = "application/json"
	config.DisableCompression = true
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		log.Fatal(err)
	}
	factory := informers.NewSharedInformerFactory(client, 0)
	nodes, pods := factory.Core().V1().Nodes().Informer(), factory.Core().V1().Pods().Informer()
	byNode := cache.Indexers{"node": func(object any) ([]string, error) { return []string{object.(*corev1.Pod).Spec.NodeName}, nil }}
	if err := pods.AddIndexers(byNode); err != nil {
		log.Fatal(err)
	}
	var changes atomic.Int64
	handlers := cache.ResourceEventHandlerDetailedFuncs{
		AddFunc: func(_ any, listed bool) {
			if !listed {
				changes.Add(1)
			}
		},
		UpdateFunc: func(any, any) { changes.Add(1) },
		DeleteFunc: func(any) { changes.Add(1) },
	}
	if _, err := pods.AddEventHandler(handlers); err != nil {
		log.Fatal(err)
	}
	stop := make(chan struct{})
	began, memory := time.Now(), residentMB()
	factory.Start(stop)
	for !nodes.HasSynced() || !pods.HasSynced() {
		time.Sleep(5 * time.Millisecond)
	}
	synced, used := time.Since(began).Seconds(), cpuSeconds()
	debug.FreeOSMemory() // as the other program does
	tell(map[string]any{"phase": "synced", "seconds": synced, "cpu_seconds": used, "memory_mb": residentMB() - memory,
		"nodes": len(nodes.GetStore().List()), "pods": len(pods.GetStore().List())})
	before := cpuSeconds()
	for changes.Load() < *events {
		time.Sleep(10 * time.Millisecond)
	}
	tell(map[string]any{"phase": "followed", "events": changes.Load(), "cpu_seconds": cpuSeconds() - before, "memory_mb": residentMB() - memory})
}
