// The queries of the console, one hook each. Lists are bounded by the server; live messages invalidate them (stream.ts).
import { useQueries, useQuery } from "@tanstack/react-query";

import { get } from "./api";
import type {
  AuditEntry, Cluster, Dependency, Environment, EventRecord, InstanceType, Node, Operation, Storage, Zone,
} from "./types";
import { isTerminal } from "./types";

export const useEnvironment = () =>
  useQuery({ queryKey: ["environment"], queryFn: () => get<{ environment: Environment }>("/environment"), refetchInterval: 30_000 });

export const useClusters = () =>
  useQuery({ queryKey: ["clusters"], queryFn: () => get<{ clusters: Cluster[]; total?: number }>("/clusters"), refetchInterval: 15_000 });

export const useCluster = (name: string) =>
  useQuery({ queryKey: ["cluster", name], queryFn: () => get<{ cluster: Cluster }>(`/clusters/${name}`), refetchInterval: 10_000 });

// The full view of each of some clusters, for totals over the fleet.
export const useClusterDetails = (names: string[]) =>
  useQueries({
    queries: names.map((name) => ({ queryKey: ["cluster", name], queryFn: () => get<{ cluster: Cluster }>(`/clusters/${name}`), refetchInterval: 15_000 })),
    combine: (results) => results.flatMap((each) => (each.data ? [each.data.cluster] : [])),
  });

export const useNodes = (name: string, cursor: string) =>
  useQuery({
    queryKey: ["cluster", name, "nodes", cursor],
    queryFn: () =>
      get<{ nodes: Node[]; total?: number; next_cursor?: string }>(
        `/clusters/${name}/nodes?limit=50${cursor ? `&cursor=${encodeURIComponent(cursor)}` : ""}`,
      ),
    refetchInterval: 10_000,
  });

export const useDependencies = (name: string) =>
  useQuery({
    queryKey: ["cluster", name, "dependencies"],
    queryFn: () => get<{ dependencies: Dependency[] }>(`/clusters/${name}/dependencies`),
    refetchInterval: 20_000,
  });

export const useStorages = (name: string) =>
  useQuery({ queryKey: ["cluster", name, "storages"], queryFn: () => get<{ storages: Storage[] }>(`/clusters/${name}/storages`) });

export const useEvents = (name: string) =>
  useQuery({
    queryKey: ["cluster", name, "events"],
    queryFn: () => get<{ events: EventRecord[] }>(`/clusters/${name}/events?limit=100`),
    refetchInterval: 10_000,
  });

export const useOperations = (resource = "") =>
  useQuery({
    queryKey: ["operations", resource],
    queryFn: () =>
      get<{ operations: Operation[]; total?: number; next_cursor?: string }>(
        `/operations?limit=100${resource ? `&resource=${encodeURIComponent(resource)}` : ""}`,
      ),
    refetchInterval: 15_000,
  });

export const useOperation = (id: string) =>
  useQuery({
    queryKey: ["operation", id],
    queryFn: () => get<{ operation: Operation }>(`/operations/${id}`),
    // The stream brings changes; this is the net below it.
    refetchInterval: (query) => (query.state.data && isTerminal(query.state.data.operation.state) ? false : 5_000),
  });

export const useInstanceTypes = () =>
  useQuery({ queryKey: ["types"], queryFn: () => get<{ instance_types: InstanceType[] }>("/instance-types"), staleTime: 600_000 });

export const useZones = (type: string) =>
  useQuery({
    queryKey: ["zones", type],
    queryFn: () => get<{ zones: Zone[] }>(`/zones${type ? `?instance_type=${encodeURIComponent(type)}` : ""}`),
    staleTime: 600_000,
  });

export const useAudit = () =>
  useQuery({ queryKey: ["audit"], queryFn: () => get<{ audit: AuditEntry[] }>("/audit?limit=100") });
