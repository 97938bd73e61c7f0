"""The Kubernetes project's own Python client, which parses every answer into its typed models."""
from cases_objects import deployment
from lib_cases import case


def failure(action):
    """What the client makes of a refusal."""
    from kubernetes.client.exceptions import ApiException
    try:
        return ["no refusal", str(type(action()))]
    except ApiException as refused:
        import json
        status = json.loads(refused.body)
        return [refused.status, refused.reason, status["reason"], status.get("details")]


@case
def official_client(run):
    from kubernetes import client, watch
    run.make_namespace()
    api = run.server.official_client()
    core, apps, ns = client.CoreV1Api(api), client.AppsV1Api(api), run.namespace

    def plain(value):
        return api.sanitize_for_serialization(value)
    run.note("create", plain(core.create_namespaced_config_map(ns, client.V1ConfigMap(metadata=client.V1ObjectMeta(name="a"), data={"x": "1"}))))
    run.note("read", plain(core.read_namespaced_config_map("a", ns)))
    run.note("patch", plain(core.patch_namespaced_config_map("a", ns, {"data": {"y": "2"}})))
    run.note("JSON patch", plain(core.patch_namespaced_config_map("a", ns, [{"op": "remove", "path": "/data/y"}])))
    run.note("refusals", [failure(lambda: core.read_namespaced_config_map("none", ns)), failure(lambda: core.create_namespaced_config_map(ns, client.V1ConfigMap(metadata=client.V1ObjectMeta(name="a")))),
                          failure(lambda: core.create_namespaced_config_map(ns, client.V1ConfigMap(metadata=client.V1ObjectMeta(name="A_"))))])
    revision = core.list_namespaced_config_map(ns).metadata.resource_version
    for i in range(3):
        core.create_namespaced_config_map(ns, client.V1ConfigMap(metadata=client.V1ObjectMeta(name=f"w{i}", labels={"w": "1"})))
    seen = [(event["type"], event["object"].metadata.name) for event in watch.Watch().stream(core.list_namespaced_config_map, ns, label_selector="w=1", resource_version=revision, timeout_seconds=2)]
    run.note("watch", seen)
    page = core.list_namespaced_config_map(ns, limit=2, label_selector="w=1")
    rest = core.list_namespaced_config_map(ns, limit=2, label_selector="w=1", _continue=page.metadata._continue)
    run.note("pages", [[i.metadata.name for i in page.items], [i.metadata.name for i in rest.items]])
    made = apps.create_namespaced_deployment(ns, deployment("d"))
    run.note("deployment", [made.spec.replicas, made.spec.strategy.type, made.spec.template.spec.containers[0].image_pull_policy, made.metadata.generation])
    run.note("scale", plain(apps.read_namespaced_deployment_scale("d", ns)))
    review = client.AuthorizationV1Api(api).create_self_subject_access_review(client.V1SelfSubjectAccessReview(spec=client.V1SelfSubjectAccessReviewSpec(
        resource_attributes=client.V1ResourceAttributes(verb="get", resource="pods", namespace=ns))))
    run.note("may I", review.status.allowed)
    run.note("delete", plain(core.delete_namespaced_config_map("a", ns)))
    run.note("delete all", plain(core.delete_collection_namespaced_config_map(ns, label_selector="w=1")).get("kind"))


@case
def official_dynamic_client(run):
    from kubernetes.dynamic import DynamicClient
    run.make_namespace()
    dynamic = DynamicClient(run.server.official_client())
    maps = dynamic.resources.get(api_version="v1", kind="ConfigMap")
    applied = maps.server_side_apply(body={"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a"}, "data": {"x": "1"}}, namespace=run.namespace, field_manager="dynamic", force_conflicts=True)
    run.note("apply", applied.to_dict())
    run.note("get", maps.get(name="a", namespace=run.namespace).to_dict())
    run.note("finds deployments", [dynamic.resources.get(api_version="apps/v1", kind="Deployment").name, dynamic.resources.get(api_version="apps/v1", kind="Deployment").namespaced])
    run.note("finds jobs by plural", dynamic.resources.get(name="jobs", group="batch").kind)
    run.note("delete", maps.delete(name="a", namespace=run.namespace, body={}).to_dict())
