// Which settings each feature has, as its form shows them, and what of them was changed.
export type SettingValue = string | string[] | Record<string, string>;
export type Draft = Record<string, SettingValue>;

export interface Setting {
  field: string;
  label: string;
  description?: string;
  placeholder?: string;
  kind: "number" | "text" | "choice" | "groups" | "limits";
  options?: { value: string; label: string; description?: string }[];
}

const kSettings: Record<string, Setting[]> = {
  tiered_checkpointing: [
    {
      field: "memory_percent",
      kind: "number",
      label: "Share of memory in percent",
      placeholder: "20",
      description: "Of each node's CPU memory, 20 to 100; pods that request all memory do not fit beside it",
    },
  ],
  autoscaling: [
    {
      field: "instance_groups",
      kind: "groups",
      label: "Instance groups",
      description: "Groups that start from zero; their counts are then the autoscaler's",
    },
    {
      field: "limits",
      kind: "limits",
      label: "Limits",
      description: "The most that all of them together may have; pods beyond stay pending",
    },
    {
      field: "consolidate_after",
      kind: "text",
      label: "Consolidate after",
      placeholder: "60s",
      description: "How long a node stands empty before it goes",
    },
  ],
  observability: [
    {
      field: "workspace_arn",
      kind: "text",
      label: "Prometheus workspace",
      placeholder: "arn:aws:aps:…:workspace/…",
      description: "An existing one; left empty, one is made",
    },
  ],
  mlflow: [
    {
      field: "kind",
      kind: "choice",
      label: "Kind",
      options: [
        { value: "app", label: "MLflow app", description: "Serverless; starts in minutes" },
        {
          value: "tracking_server",
          label: "Tracking server",
          description: "A server of its own, billed while it runs; takes half an hour to start",
        },
      ],
    },
  ],
};

export const settingsOf = (feature: string): Setting[] => kSettings[feature] ?? [];

const asText = (value: unknown) => (value === undefined || value === null ? "" : String(value));

function draftValue(setting: Setting, value: unknown): SettingValue {
  if (setting.kind === "groups") return Array.isArray(value) ? value.map(asText) : [];
  if (setting.kind === "limits")
    return Object.fromEntries(Object.entries((value ?? {}) as Record<string, unknown>).map(([key, each]) => [key, asText(each)]));
  return asText(value);
}

export const draftOf = (feature: string, settings: Record<string, unknown> | undefined): Draft =>
  Object.fromEntries(settingsOf(feature).map((setting) => [setting.field, draftValue(setting, settings?.[setting.field])]));

// What the request carries: settings that differ from what is; emptied ones are left alone.
export function changedSettings(feature: string, now: Draft, wanted: Draft): Record<string, unknown> {
  const change: Record<string, unknown> = {};
  for (const { field, kind } of settingsOf(feature)) {
    const value = wanted[field];
    if (value === undefined || value === "" || JSON.stringify(value) === JSON.stringify(now[field])) continue;
    change[field] = kind === "number" ? Number(value) : value;
  }
  return change;
}
