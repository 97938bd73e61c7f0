// A fleet too large for a table, as the API would answer about it: pages by cursor where the API has them. Nothing here is
// computed by the product; it shows that the console draws one page of whatever it is told.
const kTime = Date.parse("2026-03-01T12:00:00Z");
const time = (ago) => new Date(kTime - ago * 1000).toISOString().replace(".000Z", "Z");
const many = (count, make) => Array.from({ length: count }, (_, index) => make(index));
const hex = (index) => index.toString(16).padStart(17, "0");

export const kNodes = 10_000;
export const kGroup = "workers-with-a-rather-long-name-for-the-research-department-1";

const groupOf = (index) => (index % 100 === 0 ? kGroup : `workers-${index % 100}`);
const node = (index) => ({
  name: `hyperpod-i-${hex(index)}`,
  instance_id: `i-${hex(index)}`,
  group: groupOf(index),
  instance_type: "ml.p5.48xlarge",
  zone: "us-west-2a",
  status: index % 997 === 5 ? "Failure" : "Running",
  health: index % 997 === 5 ? "UnschedulablePendingReplacement" : "Schedulable",
  ready: index % 997 !== 5,
  ...(index % 997 === 5 ? { faults: [{ kind: "NvidiaError", code: "NvidiaXid79" }] } : {}),
  accelerators: { resource: "nvidia.com/gpu", allocatable: 8, in_use: index % 9 },
});
const nodes = many(kNodes, node);

const operations = many(5_000, (index) => ({
  id: `op_${hex(index)}`,
  name: index % 3 ? "instance_group.update" : "node.replace",
  resource: `cluster/fleet/instance-group/${groupOf(index)}`,
  state: index === 0 ? "running" : index % 50 === 7 ? "failed" : "succeeded",
  progress: index === 0 ? 0.4 : 1,
  requested_by: { principal: "admin", face: index % 2 ? "mcp" : "rest" },
  created_at: time(index * 60),
  ...(index === 0 ? {} : { ended_at: time(index * 60 - 45) }),
}));
const audit = many(1_500, (index) => ({
  id: hex(index),
  time: time(index * 30),
  principal: index === 1_480 ? "long-ago" : "admin",
  face: "rest",
  operation: "instance_group.update",
  resource: `cluster/fleet/instance-group/${groupOf(index)}`,
  outcome: "started",
  operation_id: `op_${hex(index)}`,
}));
const events = many(20_000, (index) => ({
  time: time(index),
  source: index % 2 ? "kubernetes" : "hyperpod",
  level: index % 10 ? "Info" : "Warn",
  reason: index % 10 ? "Scheduled" : "FailedScheduling",
  object: `Pod/train-${index}`,
  message: {
    untrusted: true,
    source: `event/${index}`,
    lines: [`0/10000 nodes are available: ${index % 500} Insufficient nvidia.com/gpu.`],
  },
}));
const groups = [
  {
    name: kGroup,
    instance_type: "ml.p5.48xlarge",
    target_count: 100,
    current_count: 100,
    status: "InService",
    zone: "us-west-2a",
    capacity: { type: "on_demand" },
    labels: { team: "research" },
  },
  {
    name: "spot",
    instance_types: ["ml.g5.12xlarge", "ml.g6.12xlarge"],
    target_count: 8,
    current_count: 3,
    status: "Updating",
    zone: "us-west-2b",
    capacity: { type: "spot" },
    conditions: [
      {
        type: "WaitingForCapacity",
        message: "AWS has no ml.g5.12xlarge in us-west-2b at the moment",
        hint: "HyperPod goes on trying.",
      },
    ],
  },
  {
    name: "planned",
    instance_type: "ml.p5.48xlarge",
    target_count: 4,
    current_count: 0,
    status: "InService",
    zone: "us-west-2a",
    capacity: { type: "training_plan", training_plan_arn: "arn:aws:sagemaker:us-west-2:111122223333:training-plan/large" },
  },
  {
    name: "elastic",
    instance_type: "ml.g5.2xlarge",
    target_count: 2,
    current_count: 2,
    autoscaled: true,
    status: "InService",
    zone: "us-west-2a",
    capacity: { type: "on_demand" },
  },
  ...many(96, (index) => ({
    name: `workers-${index}`,
    instance_type: "ml.p5.48xlarge",
    target_count: 100,
    current_count: 100,
    status: "InService",
    zone: "us-west-2a",
    capacity: { type: "on_demand" },
  })),
];

const part = (id, title, state, needs = [], more = {}) => ({ id, title, state, needs, ...more });
const features = [
  {
    name: "training_operator",
    title: "Training operator",
    summary: "Runs HyperPodPyTorchJobs and restarts what fails",
    enabled: true,
    status: "working",
    operation_id: operations[0].id,
    parts: [
      part("cert_manager", "cert-manager", "ready", [], { shared: true }),
      part("pod_identity_agent", "Pod identity agent", "ready", [], { shared: true }),
      part("role", "IAM role instantstart-fleet-training-operator", "ready"),
      part("tag", "Tag SageMaker=true of the cluster", "ready"),
      part("association", "Pod identity association", "starting", ["pod_identity_agent", "role"]),
      part("addon", "Add-on amazon-sagemaker-hyperpod-training-operator", "failed", ["cert_manager", "association", "tag"]),
      part("webhook", "Webhook answers", "absent", ["addon"]),
    ],
  },
  {
    name: "tiered_checkpointing",
    title: "Tiered checkpointing",
    summary: "Keeps checkpoints in the nodes' memory and copies them to S3",
    enabled: true,
    status: "drifted",
    settings: { memory_percent: 20 },
    reasons: ["The role's trust policy no longer names the service account"],
    keeps: ["OIDC provider: other roles trust it"],
    excludes: [{ feature: "mlflow", reason: "an example of a pair" }],
    parts: [
      part("oidc", "OIDC provider", "ready", [], { shared: true }),
      part("role", "IAM role", "drifted", ["oidc"]),
      part("account", "Service account with annotation", "ready", ["role"]),
      part("setting", "Cluster setting, 20 %", "ready"),
    ],
  },
  {
    name: "autoscaling",
    title: "Managed autoscaling",
    summary: "Groups follow the pods that wait",
    enabled: true,
    status: "on",
    settings: { instance_groups: ["elastic"], limits: { "nvidia.com/gpu": "64" }, consolidate_after: "60s" },
    parts: [
      part("role", "Cluster role", "ready"),
      part("switch", "AutoScaling of the cluster", "ready", ["role"]),
      part("class", "HyperpodNodeClass", "ready", ["switch"]),
      part("pool", "NodePool", "ready", ["class"]),
    ],
  },
  {
    name: "mlflow",
    title: "MLflow",
    summary: "Experiment tracking by SageMaker",
    enabled: true,
    status: "on",
    settings: { kind: "app" },
    parts: [part("role", "IAM role", "ready"), part("app", "MLflow app", "ready", ["role"])],
  },
  {
    name: "observability",
    title: "Observability",
    summary: "Metrics in Amazon Managed Prometheus",
    enabled: false,
    status: "off",
  },
  {
    name: "inference_operator",
    title: "Inference operator",
    summary: "Deploys models to endpoints",
    enabled: true,
    status: "waiting_for_nodes",
    reasons: ["its pods wait for a Ready node"],
    parts: many(11, (index) =>
      part(
        `part-${index}`,
        `Part ${index} of a long chain with a name that takes two lines`,
        index < 9 ? "ready" : "waiting_for_nodes",
        index ? [`part-${index - 1}`] : [],
      ),
    ),
  },
];
const removal = {
  steps: [
    { id: "a", title: "Remove the cluster setting", action: "x" },
    { id: "b", title: "Remove the IAM role", action: "x" },
  ],
  removes: [
    "the in-memory checkpoints of all jobs",
    "IAM role instantstart-fleet-tiered",
    "service account default/checkpointing",
  ],
  cost: {
    hourly_usd: 110.92,
    groups: [
      {
        group: "spot",
        instance_type: "ml.p5.48xlarge",
        count: 2,
        hourly_usd_each: 55.46,
        hourly_usd: 110.92,
        note: "at most: Spot costs less",
      },
      { group: "planned", count: 4, hourly_usd: 0, note: "paid for with the training plan" },
    ],
    scope: "On-demand list prices of the instances.",
    as_of: "2026-03-01",
  },
  confirm: "fleet",
  plan_digest: "0123456789abcdef",
};

const detail = {
  ...node(5),
  message: "GPU fell off the bus",
  launched_at: time(90_000),
  capacity: "on_demand",
  private_ip: "10.0.16.5",
  threads_per_core: 2,
  image: { current: "ami-0123456789abcdef0", status: "UpdateAvailable" },
  deep_health_check: { status: "Passed" },
  faults: [{ time: time(300), kind: "NvidiaGpuXid", code: "79", message: "GPU has fallen off the bus" }],
  history: ["Replacement of the instance has begun", "Instance rebooted"].map((text, index) => ({
    time: time(200 + index * 86_000),
    level: "Warn",
    message: { untrusted: true, source: "hyperpod-event/x", lines: [text] },
  })),
  conditions: [
    { type: "Ready", status: "False", reason: "KubeletNotReady", since: time(250) },
    { type: "MemoryPressure", status: "False" },
  ],
  labels: {
    "sagemaker.amazonaws.com/node-health-status": "UnschedulablePendingReplacement",
    "sagemaker.amazonaws.com/fault-types": "NvidiaGpuXid",
  },
  taints: [{ key: "sagemaker.amazonaws.com/node-health-status", value: "Unschedulable", effect: "NoSchedule" }],
};

function page(rows, query, most) {
  const from = Number(query.get("cursor") ?? 0);
  const limit = Number(query.get("limit") ?? most);
  return {
    rows: rows.slice(from, from + limit),
    total: rows.length,
    ...(from + limit < rows.length ? { next_cursor: String(from + limit) } : {}),
  };
}

function listed(name, rows, query, most = 50) {
  const { rows: shown, ...rest } = page(rows, query, most);
  return { [name]: shown, ...rest };
}

const isWanted = (query) => (each) =>
  (!query.get("search") || each.name.includes(query.get("search"))) &&
  (!query.get("group") || each.group === query.get("group")) &&
  (!query.get("health") || (each.health === "Schedulable") === (query.get("health") === "healthy"));

const cluster = {
  name: "fleet",
  eks: { status: "ACTIVE", version: "1.33", vpc_id: "vpc-0123456789abcdef0" },
  hyperpod: { status: "InService", node_recovery: "Automatic" },
  nodes: { total: kNodes, ready: kNodes - 11 },
  accelerators: { total: 80_000, ready: 79_912, in_use: 39_996 },
};

const kAnswers = [
  [
    /^\/environment$/,
    () => ({ environment: { account: "111122223333", region: "us-west-2", backend: "twin", active_cluster: "fleet" } }),
  ],
  [
    /^\/clusters$/,
    () => ({
      clusters: [
        { name: "fleet", status: "ACTIVE", hyperpod_status: "InService", kubernetes_version: "1.33" },
        ...many(299, (index) => ({ name: `cluster-${index}`, status: "ACTIVE" })),
      ],
    }),
  ],
  [/^\/clusters\/[^/]+$/, () => ({ cluster })],
  [/\/nodes$/, (query) => listed("nodes", nodes.filter(isWanted(query)), query, 100)],
  [/\/nodes\/[^/]+$/, () => ({ node: detail })],
  [/\/instance-groups$/, () => ({ instance_groups: groups, total: groups.length })],
  [
    /\/node-groups$/,
    () => ({
      node_groups: [
        {
          name: "system",
          status: "ACTIVE",
          instance_types: ["m6i.xlarge"],
          capacity: "on_demand",
          target_count: 2,
          current_count: 2,
          min_count: 2,
          max_count: 4,
          zone: "us-west-2a",
        },
      ],
    }),
  ],
  [/\/features$/, () => ({ features })],
  [/\/events$/, (query) => listed("events", events, query, 100)],
  [
    /\/dependencies$/,
    () => ({ dependencies: [{ name: "vpc_cni", title: "VPC CNI", kind: "eks_addon", state: "ready", version: "v1.20.4" }] }),
  ],
  [/\/storages$/, () => ({ storages: [] })],
  [/^\/operations$/, (query) => listed("operations", query.get("resource")?.includes("/node/") ? [] : operations, query)],
  [/^\/operations\/[^/]+$/, () => ({ operation: operations[0] })],
  [/^\/audit$/, (query) => listed("audit", audit, query)],
  [
    /^\/quotas$/,
    (query) => ({
      quotas: many(400, (index) => ({
        name: `ml.type${index}.xlarge for cluster usage`,
        instance_type: `ml.type${index}.xlarge`,
        limit: index % 3 ? 64 : 0,
        used: index % 7,
        free: index % 3 ? 64 - (index % 7) : 0,
      })).filter((each) => !query.get("instance_type") || each.instance_type === "ml.type1.xlarge"),
    }),
  ],
  [
    /^\/instance-types$/,
    () => ({
      instance_types: [
        {
          name: "ml.p5.48xlarge",
          vcpus: 192,
          memory_gib: 2048,
          max_pods: 49,
          efa_interfaces: 32,
          training_plan: true,
          accelerators: { count: 8, name: "H100", memory_mib: 81_559 },
        },
        ...many(179, (index) => ({
          name: `ml.type${index}.xlarge`,
          vcpus: 8,
          memory_gib: 32,
          max_pods: 49,
          efa_interfaces: index % 33,
          accelerators: { count: 8, name: "H100", memory_mib: 81_559 },
        })),
      ],
    }),
  ],
  [/^\/zones$/, () => ({ zones: ["a", "b", "c"].map((zone) => ({ name: `us-west-2${zone}`, zone_id: `usw2-az${zone}` })) })],
  [
    /^\/training-plans$/,
    () => ({
      training_plans: [
        {
          arn: "arn:aws:sagemaker:us-west-2:111122223333:training-plan/large",
          name: "large",
          status: "Scheduled",
          instance_type: "ml.p5.48xlarge",
          zone: "us-west-2a",
          start: time(-86_400),
          end: time(-864_000),
          total_count: 8,
          available_count: 4,
        },
      ],
    }),
  ],
];

// Asked for, counted and answered.
export function fleetServer() {
  const asked = [];
  let refused;
  const send = (response, body, status = 200) => {
    const text = JSON.stringify(body);
    asked.at(-1).bytes = text.length;
    response.writeHead(status, { "Content-Type": "application/json" }).end(text);
  };
  const answer = (request, response) => {
    const { pathname, searchParams } = new URL(request.url, "http://fleet");
    const path = pathname.replace("/api/v1", "");
    asked.push({ method: request.method, path, query: searchParams.toString() });
    if (path.endsWith("/mlflow/open")) return send(response, { mlflow: { url: "/favicon.svg?signed" } });
    if (request.method !== "GET") return refused ? send(response, refused, 422) : send(response, { plan: removal });
    const found = kAnswers.find(([pattern]) => pattern.test(path));
    return found ? send(response, found[1](searchParams)) : send(response, { title: "Not found", code: "not_found" }, 404);
  };
  // From now on every change is refused for these fields.
  const refuse = (pointers) => {
    refused = {
      title: "Some fields cannot be taken",
      code: "invalid_fields",
      detail: "",
      errors: pointers.map((pointer) => ({ pointer, message: `refused at ${pointer}` })),
    };
  };
  return { asked, answer, refuse };
}
