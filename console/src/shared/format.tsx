// Small renderers used by several pages.
import StatusIndicator, { type StatusIndicatorProps } from "@cloudscape-design/components/status-indicator";
import type { ReactNode } from "react";

import type { Condition, Counts, StepState, Untrusted } from "./types";

const kTypes: Record<string, StatusIndicatorProps.Type> = {
  pending: "pending",
  running: "in-progress",
  waiting: "pending",
  succeeded: "success",
  skipped: "stopped",
  failed: "error",
  cancelled: "stopped",
  active: "success",
  inservice: "success",
  ready: "success",
  bound: "success",
  schedulable: "success",
  creating: "in-progress",
  updating: "in-progress",
  deleting: "in-progress",
  systemupdating: "in-progress",
  waiting_for_nodes: "pending",
  on: "success",
  off: "stopped",
  enabling: "in-progress",
  disabling: "in-progress",
  missing: "error",
  absent: "stopped",
  starting: "in-progress",
  working: "in-progress",
  unknown: "pending",
  failure: "error",
  schedulingdisabled: "warning",
  unschedulablependingreboot: "warning",
  unschedulablependingreplacement: "warning",
  passed: "success",
  inprogress: "in-progress",
  scheduled: "pending",
  expired: "stopped",
  degraded: "warning",
  drifted: "warning",
  unschedulable: "warning",
  error: "error",
  warn: "warning",
  warning: "warning",
  info: "info",
  normal: "info",
};

// A word or two that stay on one line, also where the lines of a table wrap.
export function Short({ children }: { children: ReactNode }) {
  return <span style={{ whiteSpace: "nowrap" }}>{children}</span>;
}

// The status of an operation, a cluster, a group, a component. `kinds` overrides where a word means another thing.
export function Status({ value, kinds = {} }: { value?: string; kinds?: Record<string, StatusIndicatorProps.Type> }): ReactNode {
  if (!value) return "–";
  const key = value.toLowerCase();
  return (
    <Short>
      <StatusIndicator type={kinds[key] ?? kTypes[key] ?? "info"}>{value.replaceAll("_", " ")}</StatusIndicator>
    </Short>
  );
}

const kStepTypes: Record<StepState, StatusIndicatorProps.Type> = {
  pending: "pending",
  running: "in-progress",
  waiting: "loading",
  succeeded: "success",
  skipped: "stopped",
  failed: "error",
  cancelled: "stopped",
};
export const stepType = (state: StepState): StatusIndicatorProps.Type => kStepTypes[state] ?? "pending";

export function duration(seconds: number): string {
  const whole = Math.max(0, Math.round(seconds));
  if (whole < 60) return `${whole} s`;
  if (whole < 3600) return `${Math.floor(whole / 60)} min ${whole % 60} s`;
  return `${Math.floor(whole / 3600)} h ${Math.floor((whole % 3600) / 60)} min`;
}

export function between(from?: string, to?: string): string {
  if (!from) return "";
  return duration((to ? Date.parse(to) : Date.now()) / 1000 - Date.parse(from) / 1000);
}

// Sentences of the backend begin as they would in the middle of another.
export const sentence = (text: string) => text.charAt(0).toUpperCase() + text.slice(1);

export const localTime = (time?: string) => (time ? new Date(time).toLocaleString() : "–");

export const ofTotal = (counts?: Counts) =>
  counts ? `${(counts.ready ?? 0).toLocaleString()} of ${(counts.total ?? 0).toLocaleString()}` : "–";

// Text that came from a workload or an event: shown as text, marked as such, never as markup.
export function plain(text?: Untrusted | string): string {
  if (!text) return "";
  return typeof text === "string" ? text : (text.lines ?? []).join("\n");
}

// How many there are of how many are wanted.
export function CountOf({ current = 0, target = 0 }: { current?: number; target?: number }): ReactNode {
  return (
    <Short>
      <StatusIndicator
        type={current === target ? "success" : "in-progress"}
      >{`${current.toLocaleString()} of ${target.toLocaleString()}`}</StatusIndicator>
    </Short>
  );
}

export function Notices({ conditions = [] }: { conditions?: Condition[] }): ReactNode {
  if (conditions.length === 0) return "–";
  return conditions.map((each) => (
    <div key={each.type + (each.message ?? "")} title={each.hint}>
      <StatusIndicator type={each.type === "Scaling" ? "in-progress" : "warning"} wrapText>
        {each.message ?? each.reason ?? each.type}
      </StatusIndicator>
    </div>
  ));
}
