// The queries of the console, one hook each. Lists are bounded by the server; live messages invalidate them (stream.ts).
import { keepPreviousData, queryOptions, useQueries, useQuery, useQueryClient } from "@tanstack/react-query";

import { client, take } from "./api";
import { useCursorList } from "./cursor_list";
import type {
  AuditEntry,
  Cluster,
  Dependency,
  Environment,
  EventRecord,
  Feature,
  InstanceGroup,
  InstanceType,
  Node,
  NodeGroup,
  Operation,
  Price,
  Quota,
  Storage,
  TrainingPlan,
  Zone,
} from "./types";
import { isTerminal } from "./types";

const at = (cluster: string) => ({ params: { path: { cluster } } });

export const useEnvironment = () =>
  useQuery({
    queryKey: ["environment"],
    queryFn: () => take<{ environment: Environment }>(client.GET("/environment")),
    refetchInterval: 30_000,
  });

export const useClusters = () =>
  useQuery({
    queryKey: ["clusters"],
    queryFn: () => take<{ clusters: Cluster[]; total?: number }>(client.GET("/clusters")),
    refetchInterval: 15_000,
  });

export const useCluster = (name: string) =>
  useQuery({
    queryKey: ["cluster", name],
    queryFn: () => take<{ cluster: Cluster }>(client.GET("/clusters/{cluster}", at(name))),
    refetchInterval: 10_000,
  });

// The full view of each of some clusters, for totals over the fleet.
export const useClusterDetails = (names: string[]) =>
  useQueries({
    queries: names.map((name) => ({
      queryKey: ["cluster", name],
      queryFn: () => take<{ cluster: Cluster }>(client.GET("/clusters/{cluster}", at(name))),
      refetchInterval: 15_000,
    })),
    combine: (results) => results.flatMap((each) => (each.data ? [each.data.cluster] : [])),
  });

// The server searches and pages: a fleet of any size costs one page.
export type NodeFilter = { search?: string; health?: "healthy" | "unhealthy"; group?: string; cursor?: string };

export const kNodePage = 50;

export const useNodes = (name: string, filter: NodeFilter) =>
  useQuery({
    queryKey: ["cluster", name, "nodes", filter],
    queryFn: () =>
      take<{ nodes: Node[]; total?: number; next_cursor?: string }>(
        client.GET("/clusters/{cluster}/nodes", { params: { path: { cluster: name }, query: { limit: kNodePage, ...filter } } }),
      ),
    placeholderData: keepPreviousData,
    refetchInterval: 10_000,
  });

export const useNode = (cluster: string, node: string) =>
  useQuery({
    queryKey: ["cluster", cluster, "node", node],
    queryFn: () => take<{ node: Node }>(client.GET("/clusters/{cluster}/nodes/{node}", { params: { path: { cluster, node } } })),
    refetchInterval: 5_000,
  });

const isMoving = (group: InstanceGroup) => group.current_count !== group.target_count || /ing$/i.test(group.status ?? "");
const kMoving = 3_000;
const kResting = 15_000;

// Counts of a group that moves are looked at more often, between what the stream tells.
export const useInstanceGroups = (name: string) =>
  useQuery({
    queryKey: ["cluster", name, "instance-groups"],
    queryFn: () => take<{ instance_groups: InstanceGroup[] }>(client.GET("/clusters/{cluster}/instance-groups", at(name))),
    refetchInterval: (query) => (query.state.data?.instance_groups.some(isMoving) ? kMoving : kResting),
  });

export const useNodeGroups = (name: string) =>
  useQuery({
    queryKey: ["cluster", name, "node-groups"],
    queryFn: () => take<{ node_groups: NodeGroup[] }>(client.GET("/clusters/{cluster}/node-groups", at(name))),
    refetchInterval: kResting,
  });

const kWorking = 5_000;

// Every part is looked at for real, so messages about operations do not ask anew before the end (stream.ts).
export const useFeatures = (name: string) =>
  useQuery({
    queryKey: ["features", name],
    queryFn: () => take<{ features: Feature[] }>(client.GET("/clusters/{cluster}/features", at(name))),
    refetchInterval: (query) => (query.state.data?.features.some((each) => each.status === "working") ? kWorking : 2 * kResting),
  });

export const useTrainingPlans = (type = "") =>
  useQuery({
    queryKey: ["training-plans", type],
    queryFn: () =>
      take<{ training_plans: TrainingPlan[] }>(
        client.GET("/training-plans", { params: { query: type ? { instance_type: type } : {} } }),
      ),
    refetchInterval: 60_000,
  });

export const useQuotas = (type = "") =>
  useQuery({
    queryKey: ["quotas", type],
    queryFn: () => take<{ quotas: Quota[] }>(client.GET("/quotas", { params: { query: type ? { instance_type: type } : {} } })),
    staleTime: 10_000,
  });

export const useDependencies = (name: string) =>
  useQuery({
    queryKey: ["cluster", name, "dependencies"],
    queryFn: () => take<{ dependencies: Dependency[] }>(client.GET("/clusters/{cluster}/dependencies", at(name))),
    refetchInterval: 20_000,
  });

export const useStorages = (name: string) =>
  useQuery({
    queryKey: ["cluster", name, "storages"],
    queryFn: () => take<{ storages: Storage[] }>(client.GET("/clusters/{cluster}/storages", at(name))),
  });

const kPage = 100;
const idOf = (row: { id?: string }) => row.id ?? "";

type OperationsAnswer = { operations: Operation[]; total?: number; next_cursor?: string };
const operationsPage = (resource: string, cursor?: string) =>
  take<OperationsAnswer>(
    client.GET("/operations", {
      params: { query: { limit: kPage, ...(resource ? { resource } : {}), ...(cursor ? { cursor } : {}) } },
    }),
  );

// Rows of older pages that still run are shown as the stream told of them last.
export function useOperationList(resource = "") {
  const queries = useQueryClient();
  const list = useCursorList<Operation>({
    key: ["operations", resource],
    fetch: (cursor) =>
      operationsPage(resource, cursor).then((page) => ({ rows: page.operations, total: page.total, next: page.next_cursor })),
    idOf,
    refresh: 15_000,
  });
  const current = (row: Operation) =>
    isTerminal(row.state) ? row : (queries.getQueryData<{ operation: Operation }>(["operation", row.id])?.operation ?? row);
  return { ...list, rows: list.rows.map(current) };
}

// What runs on a resource and below it.
export const useRunning = (resource: string) =>
  useQuery({
    queryKey: ["operations", resource, "running"],
    queryFn: () => operationsPage(resource),
    select: (answer) => answer.operations.filter((operation) => !isTerminal(operation.state)),
    refetchInterval: 15_000,
  });

export const operationQuery = (id: string) =>
  queryOptions({
    queryKey: ["operation", id],
    queryFn: () =>
      take<{ operation: Operation }>(client.GET("/operations/{operation_id}", { params: { path: { operation_id: id } } })),
    // The stream brings changes; this is the net below it.
    refetchInterval: (query) => (query.state.data && isTerminal(query.state.data.operation.state) ? false : 5_000),
  });

export const useOperation = (id: string) => useQuery(operationQuery(id));

export const useInstanceTypes = (filter: { zone?: string; accelerator?: "gpu" | "trainium" | "none" } = {}) =>
  useQuery({
    queryKey: ["types", filter],
    queryFn: () => take<{ instance_types: InstanceType[] }>(client.GET("/instance-types", { params: { query: filter } })),
    staleTime: 600_000,
    placeholderData: keepPreviousData,
  });

// AWS's list price, where it can be had.
export const usePrice = (type: string) =>
  useQuery({
    queryKey: ["price", type],
    queryFn: () => take<{ prices: Price[] }>(client.GET("/prices", { params: { query: { instance_type: type } } })),
    enabled: type !== "",
    staleTime: 600_000,
    retry: false,
  });

export const useZones = (type: string) =>
  useQuery({
    queryKey: ["zones", type],
    queryFn: () => take<{ zones: Zone[] }>(client.GET("/zones", { params: { query: type ? { instance_type: type } : {} } })),
    staleTime: 600_000,
  });

type EventsAnswer = { events: EventRecord[]; total?: number; next_cursor?: string };
// Where an event came from is its id; its text may change.
export const eventId = (row: EventRecord) =>
  (typeof row.message === "object" && row.message.source) || `${row.time} ${row.object} ${row.reason}`;

export const useEventList = (name: string) =>
  useCursorList<EventRecord>({
    key: ["cluster", name, "events"],
    fetch: (cursor) =>
      take<EventsAnswer>(
        client.GET("/clusters/{cluster}/events", {
          params: { path: { cluster: name }, query: { limit: kPage, ...(cursor ? { cursor } : {}) } },
        }),
      ).then((page) => ({
        rows: page.events,
        total: page.total,
        next: page.next_cursor,
      })),
    idOf: eventId,
    refresh: 10_000,
  });

type AuditAnswer = { audit: AuditEntry[]; next_cursor?: string };

export const useAuditList = () =>
  useCursorList<AuditEntry>({
    key: ["audit"],
    fetch: (cursor) =>
      take<AuditAnswer>(client.GET("/audit", { params: { query: { limit: kPage, ...(cursor ? { cursor } : {}) } } })).then(
        (page) => ({ rows: page.audit, next: page.next_cursor }),
      ),
    idOf,
    refresh: 15_000,
  });
