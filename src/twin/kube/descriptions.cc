#include "twin/kube/descriptions.h"

#include <map>

namespace instantstart::twin::kube {

namespace {

// "type field" or "type" → sentence; "* field" for any type.
const std::map<std::string, const char*, std::less<>>& sentences() {
    static const std::map<std::string, const char*, std::less<>> kSentences = {
        {"* metadata", "Name, namespace, labels, annotations and the bookkeeping of the object."},
        {"* spec", "What is wanted."},
        {"* status", "What is: written by the system, not by users."},
        {"* apiVersion", "Group and version of the object's schema."},
        {"* kind", "The object's kind, in CamelCase."},
        {"* name", "The name, unique in its list or namespace."},
        {"* labels", "Keys and values to select and group objects by."},
        {"* annotations", "Keys and values for tools; not for selection."},
        {"* selector", "Labels that choose the objects this one works with."},
        {"* template", "The object that is stamped out for each replica."},
        {"* replicas", "How many copies are wanted."},
        {"* conditions", "The latest observations, one per type."},
        {"core/v1.Pod", "One or more containers that share a node, an address and volumes."},
        {"core/v1.PodSpec", "What a pod runs and where it may run."},
        {"core/v1.PodSpec containers", "The containers of the pod; at least one."},
        {"core/v1.PodSpec initContainers",
         "Containers that run to their end, one after another, before the others start."},
        {"core/v1.PodSpec nodeSelector", "Labels that a node must carry to be chosen."},
        {"core/v1.PodSpec nodeName", "The node that runs the pod; set by the scheduler."},
        {"core/v1.PodSpec tolerations", "Taints of nodes that the pod puts up with."},
        {"core/v1.PodSpec volumes", "Volumes that containers can mount."},
        {"core/v1.PodSpec restartPolicy",
         "Whether ended containers start again: Always, OnFailure or Never."},
        {"core/v1.PodSpec serviceAccountName", "The account whose rights the pod has."},
        {"core/v1.PodSpec affinity", "Preferences and demands on the choice of the node."},
        {"core/v1.PodSpec terminationGracePeriodSeconds",
         "Seconds between the wish to end and the forced end."},
        {"core/v1.Container", "One program of a pod, from an image."},
        {"core/v1.Container image", "The image to run."},
        {"core/v1.Container command",
         "The program and its first arguments; the image's own entry point where absent."},
        {"core/v1.Container args", "Arguments of the program."},
        {"core/v1.Container env", "Environment variables."},
        {"core/v1.Container ports", "Ports that the container listens on; informative."},
        {"core/v1.Container resources",
         "What the container needs and at most may use: cpu, memory, accelerators."},
        {"core/v1.Container volumeMounts", "Where volumes of the pod appear in the file system."},
        {"core/v1.ResourceRequirements limits", "The most of each resource that may be used."},
        {"core/v1.ResourceRequirements requests",
         "The least of each resource that must be free on the node."},
        {"core/v1.Node", "A machine of the cluster."},
        {"core/v1.NodeSpec taints", "Marks that keep pods away which do not tolerate them."},
        {"core/v1.NodeSpec unschedulable", "True keeps new pods away."},
        {"core/v1.NodeStatus allocatable", "Resources that pods can have."},
        {"core/v1.NodeStatus capacity", "All resources of the machine."},
        {"core/v1.Service", "A stable address in front of a set of pods."},
        {"core/v1.ServiceSpec ports", "The ports that the service offers."},
        {"core/v1.ServiceSpec type", "ClusterIP, NodePort, LoadBalancer or ExternalName."},
        {"core/v1.ConfigMap", "Configuration as keys and values."},
        {"core/v1.Secret", "Small confidential values, base64 on the wire."},
        {"core/v1.Namespace", "A room for names of objects."},
        {"core/v1.ServiceAccount", "An identity for the programs in pods."},
        {"core/v1.PersistentVolumeClaim", "A wish for storage, bound to one volume."},
        {"core/v1.PersistentVolume", "A piece of storage that claims can be bound to."},
        {"core/v1.Event", "Something that happened to an object."},
        {"apps/v1.Deployment", "Keeps a number of equal pods running and rolls changes out."},
        {"apps/v1.DeploymentSpec strategy", "How old pods are replaced by new ones."},
        {"apps/v1.DaemonSet", "Keeps one pod on every fitting node."},
        {"apps/v1.StatefulSet", "Keeps pods with stable names and storage."},
        {"apps/v1.ReplicaSet", "Keeps a number of equal pods running; made by Deployments."},
        {"batch/v1.Job", "Runs pods until enough of them have succeeded."},
        {"batch/v1.JobSpec completions", "How many pods must succeed."},
        {"batch/v1.JobSpec parallelism", "How many pods may run at once."},
        {"batch/v1.JobSpec backoffLimit", "How many failures are borne before the job fails."},
        {"batch/v1.CronJob", "Starts jobs on a schedule."},
        {"storage/v1.StorageClass", "A way to make volumes, by name."},
        {"rbac/v1.ClusterRole", "Rights on kinds of objects in the whole cluster."},
        {"rbac/v1.ClusterRoleBinding", "Gives a ClusterRole's rights to users, groups and accounts."},
        {"apiextensions/v1.CustomResourceDefinition", "Adds a kind to the API."},
    };
    return kSentences;
}

}  // namespace

std::string describe(std::string_view type, std::string_view field) {
    const auto& table = sentences();
    const auto key = field.empty() ? std::string(type) : std::string(type) + " " + std::string(field);
    if (const auto found = table.find(key); found != table.end()) return found->second;
    if (field.empty()) return "";
    const auto found = table.find("* " + std::string(field));
    return found == table.end() ? "" : found->second;
}

}  // namespace instantstart::twin::kube
