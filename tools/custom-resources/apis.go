// Package apis names the published API types whose CustomResourceDefinitions the tests use, so that go.mod pins their versions.
package apis

import (
	_ "github.com/cert-manager/cert-manager/pkg/apis/certmanager/v1"
	_ "github.com/kedacore/keda/v2/apis/keda/v1alpha1"
	_ "github.com/ray-project/kuberay/ray-operator/apis/ray/v1"
	_ "sigs.k8s.io/karpenter/pkg/apis/v1"
)
