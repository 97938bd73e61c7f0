// What the queries answer, as the console reads it. Every member may be absent: nulls and empty lists are dropped on the wire.
export type State = "pending" | "running" | "waiting" | "succeeded" | "failed" | "cancelled";
export type StepState = State | "skipped";

export interface Step {
  id: string;
  title: string;
  state: StepState;
  attempt?: number;
  started_at?: string;
  ended_at?: string;
  detail?: string;
  error?: { code?: string; detail?: string; hint?: string };
}

export interface Operation {
  id: string;
  name: string;
  resource: string;
  state: State;
  phase?: string;
  progress?: number;
  eta_seconds?: number;
  no_change?: boolean;
  steps?: Step[];
  result?: Record<string, unknown>;
  error?: { code?: string; detail?: string; hint?: string; step?: string; changed?: unknown };
  requested_by?: { principal?: string; face?: string };
  created_at?: string;
  updated_at?: string;
  ended_at?: string;
}

export interface Condition {
  type: string;
  reason?: string;
  message?: string;
  hint?: string;
}

export type CapacityType = "on_demand" | "spot" | "training_plan";

export interface Taint {
  key: string;
  value?: string;
  effect: "NoSchedule" | "PreferNoSchedule" | "NoExecute";
}

export interface InstanceGroup {
  name: string;
  instance_type?: string;
  instance_types?: string[];
  target_count?: number;
  current_count?: number;
  min_count?: number;
  status?: string;
  zone?: string;
  subnet_id?: string;
  capacity?: { type?: CapacityType; training_plan_arn?: string };
  interface_type?: string;
  autoscaled?: boolean; // marked: managed autoscaling may take it
  node_classes?: string[]; // the HyperpodNodeClasses that name it: managed autoscaling sets its count
  labels?: Record<string, string>;
  taints?: Taint[];
  deep_health_checks?: string[];
  lifecycle_script?: string;
  image_id?: string;
  software?: { status?: string; current?: string; desired?: string };
  conditions?: Condition[];
}

export interface NodeGroup {
  name: string;
  status?: string;
  instance_types?: string[];
  capacity?: string | { type?: string };
  target_count?: number;
  current_count?: number;
  count?: number;
  min_count?: number;
  max_count?: number;
  zone?: string;
  zones?: string[];
  version?: string;
  labels?: Record<string, string>;
  conditions?: Condition[];
}

export interface TrainingPlan {
  arn: string;
  name?: string;
  status?: string;
  instance_type?: string;
  zone?: string;
  start?: string;
  end?: string;
  total_count?: number;
  available_count?: number;
  in_use_count?: number;
}

export interface Quota {
  name: string;
  quota_code?: string;
  instance_type?: string;
  limit?: number;
  used?: number;
  free?: number;
}

export interface Dependency {
  name: string;
  title?: string;
  kind?: string;
  state?: string;
  wanted?: boolean;
  version?: string;
  healthy?: boolean;
  detail?: string;
}

export interface Storage {
  name: string;
  kind?: string;
  bucket?: string;
  file_system_id?: string;
  namespace?: string;
  status?: string;
}

export interface Counts {
  total?: number;
  ready?: number;
  in_use?: number;
}

export interface Cluster {
  name: string;
  status?: string;
  kubernetes_version?: string;
  hyperpod_status?: string;
  active?: boolean;
  region?: string;
  imported?: boolean;
  created_at?: string;
  eks?: { name?: string; status?: string; version?: string; endpoint?: string; arn?: string; vpc_id?: string };
  hyperpod?: { name?: string; status?: string; node_recovery?: string; arn?: string };
  nodes?: Counts;
  accelerators?: Counts;
  instance_groups?: InstanceGroup[];
  dependencies?: Dependency[];
  conditions?: Condition[];
}

export interface Node {
  name: string;
  instance_id?: string;
  group?: string;
  instance_type?: string;
  zone?: string;
  status?: string;
  health?: string;
  message?: string;
  ready?: boolean;
  cordoned?: boolean;
  launched_at?: string;
  logical_id?: string;
  private_ip?: string;
  capacity?: string;
  kubernetes_version?: string;
  image?: { current?: string; desired?: string; status?: string };
  last_software_update_at?: string;
  threads_per_core?: number;
  accelerators?: { resource?: string; allocatable?: number; in_use?: number };
  deep_health_check?: { status?: string };
  faults?: { time?: string; kind?: string; code?: string; message?: string }[];
  history?: { time?: string; instance_id?: string; level?: string; message?: Untrusted | string }[];
  conditions?: { type: string; status?: string; reason?: string; since?: string }[];
  labels?: Record<string, string>;
  taints?: Taint[];
}

export interface FeaturePart {
  id: string;
  title?: string;
  kind?: string;
  state?: string;
  detail?: string;
  // Parts of the same feature that must be there first.
  needs?: string[];
  // Other features use it too: it stays when this one is switched off.
  shared?: boolean;
}

export interface Feature {
  name: string;
  title?: string;
  summary?: string;
  enabled?: boolean;
  // on, off, working, and words for what is between.
  status?: string;
  reasons?: string[];
  settings?: Record<string, unknown>;
  requires?: string[];
  excludes?: { feature: string; reason?: string }[];
  parts?: FeaturePart[];
  // What switching it off would take away, and what would stay and why.
  removes?: string[];
  keeps?: string[];
  operation_id?: string;
}

export interface EventRecord {
  time?: string;
  source?: string;
  level?: string;
  reason?: string;
  object?: string;
  message?: Untrusted | string;
}

export interface Untrusted {
  untrusted: true;
  source?: string;
  lines?: string[];
}

export interface Environment {
  account?: string;
  region?: string;
  caller_arn?: string;
  backend?: "aws" | "twin";
  active_cluster?: string;
  version?: string;
  problem?: string;
}

export interface Price {
  instance_type?: string;
  hourly_usd?: number;
  as_of?: string;
}

export interface Cost {
  hourly_usd?: number;
  groups?: {
    group: string;
    instance_type?: string;
    count?: number;
    hourly_usd_each?: number;
    hourly_usd?: number;
    note?: string;
  }[];
  scope?: string;
  as_of?: string;
}

export interface Plan {
  steps?: { id: string; title: string; action: string }[];
  creates?: string[];
  changes?: string[];
  removes?: string[];
  quota?: { name: string; limit?: number; used?: number; needed?: number; free?: number }[];
  cost?: Cost;
  warnings?: (string | { code?: string; text?: string; message?: string })[];
  addresses?: { subnet: string; zone: string; free: number; needed: number; figures: string }[];
  // What must be typed before something is removed.
  confirm?: string;
  plan_digest?: string;
  no_change?: boolean;
}

export interface Zone {
  name: string;
  zone_id: string;
  type?: string;
  state?: string;
}

export interface InstanceType {
  name: string;
  vcpus?: number;
  memory_gib?: number;
  max_pods?: number;
  accelerators?: { count?: number; name?: string; resource?: string; memory_mib?: number };
  efa_interfaces?: number;
  local_nvme_gb?: number;
  training_plan?: boolean;
  arch?: string;
}

export interface AuditEntry {
  id?: string;
  time?: string;
  principal?: string;
  face?: string;
  operation?: string;
  resource?: string;
  outcome?: string;
  operation_id?: string;
}

export const isTerminal = (state: State) => state === "succeeded" || state === "failed" || state === "cancelled";
