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

export interface InstanceGroup {
  name: string;
  instance_type?: string;
  instance_types?: string[];
  target_count?: number;
  current_count?: number;
  status?: string;
  zone?: string;
  subnet_id?: string;
  capacity?: { type?: string };
  conditions?: Condition[];
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
  ready?: boolean;
  accelerators?: { resource?: string; allocatable?: number; in_use?: number };
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

export interface Plan {
  steps?: { id: string; title: string; action: string }[];
  creates?: string[];
  changes?: string[];
  removes?: string[];
  quota?: { name: string; limit?: number; used?: number; needed?: number; free?: number }[];
  cost?: Record<string, unknown>;
  warnings?: (string | { code?: string; text?: string; message?: string })[];
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
  accelerators?: number;
  accelerator_name?: string;
  efa_interfaces?: number;
}

export interface AuditEntry {
  time?: string;
  principal?: string;
  face?: string;
  operation?: string;
  resource?: string;
  outcome?: string;
  operation_id?: string;
}

export const isTerminal = (state: State) => state === "succeeded" || state === "failed" || state === "cancelled";
