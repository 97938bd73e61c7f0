package main

import (
	"context"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/discovery/cached/memory"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/metadata/metadatainformer"
	"k8s.io/client-go/restmapper"
	"k8s.io/controller-manager/pkg/informerfactory"
	"k8s.io/kubernetes/pkg/controller/certificates/rootcacertpublisher"
	"k8s.io/kubernetes/pkg/controller/garbagecollector"
	"k8s.io/kubernetes/pkg/controller/namespace"
	"k8s.io/kubernetes/pkg/controller/serviceaccount"
)

// How often the collector looks for new kinds: kube-controller-manager does so every 30 s, tests are less patient.
const discoveryPeriod = time.Second

// startControllers starts kube-controller-manager's own garbage collector, namespace controller and the two that fill a new
// namespace. Workload controllers are left out: they need a scheduler and nodes, which only the twin has.
func startControllers(ctx context.Context, server *apiServer) error {
	client, err := kubernetes.NewForConfig(server.config)
	if err != nil {
		return err
	}
	objects, err := metadata.NewForConfig(server.config)
	if err != nil {
		return err
	}
	typed := informers.NewSharedInformerFactory(client, 0)
	untyped := metadatainformer.NewSharedInformerFactory(objects, 0)
	both := informerfactory.NewInformerFactory(typed, untyped)
	mapper := restmapper.NewDeferredDiscoveryRESTMapper(memory.NewMemCacheClient(client.Discovery()))
	go wait.Until(mapper.Reset, discoveryPeriod, ctx.Done())
	started := make(chan struct{})

	ignored := map[schema.GroupResource]struct{}{
		{Resource: "events"}: {}, {Group: "events.k8s.io", Resource: "events"}: {},
	}
	collector, err := garbagecollector.NewGarbageCollector(ctx, client, objects, mapper, ignored, both, started)
	if err != nil {
		return err
	}
	namespaces := namespace.NewNamespaceController(ctx, client, objects, client.Discovery().ServerPreferredNamespacedResources,
		typed.Core().V1().Namespaces(), time.Minute, corev1.FinalizerKubernetes)
	accounts, err := serviceaccount.NewServiceAccountsController(typed.Core().V1().ServiceAccounts(), typed.Core().V1().Namespaces(),
		client, serviceaccount.DefaultServiceAccountsControllerOptions())
	if err != nil {
		return err
	}
	authorities, err := rootcacertpublisher.NewPublisher(typed.Core().V1().ConfigMaps(), typed.Core().V1().Namespaces(), client, server.ca)
	if err != nil {
		return err
	}
	go collector.Run(ctx, 10, discoveryPeriod)
	go collector.Sync(ctx, client.Discovery(), discoveryPeriod)
	go namespaces.Run(ctx, 5)
	go accounts.Run(ctx, 1)
	go authorities.Run(ctx, 1)
	typed.Start(ctx.Done())
	both.Start(ctx.Done())
	close(started)
	return nil
}
