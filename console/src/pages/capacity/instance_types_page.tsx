// The instance types of HyperPod with their hardware and what is free of their quotas.
import type { TableProps } from "@cloudscape-design/components/table";
import SpaceBetween from "@cloudscape-design/components/space-between";
import { useState } from "react";

import { Choice } from "../../shared/choice";
import { DataTable } from "../../shared/data_table";
import { ProblemAlert } from "../../shared/problem_alert";
import { useInstanceTypes, useQuotas, useZones } from "../../shared/queries";
import type { InstanceType } from "../../shared/types";

const kAccelerators = [
  { value: "", label: "Any accelerator" },
  { value: "gpu", label: "GPU" },
  { value: "trainium", label: "Trainium" },
  { value: "none", label: "None" },
] as const;

type Row = InstanceType & { free?: number; limit?: number; accelerator_count: number };

const kMebibytes = 1024;
const memoryOf = (row: Row) =>
  row.accelerators?.memory_mib
    ? `${Math.round((row.accelerators.memory_mib * (row.accelerators.count ?? 1)) / kMebibytes).toLocaleString()} GiB`
    : "–";
const kGigabytes = 1000;
const diskOf = (row: Row) =>
  row.local_nvme_gb
    ? row.local_nvme_gb >= kGigabytes
      ? `${(row.local_nvme_gb / kGigabytes).toFixed(1)} TB`
      : `${row.local_nvme_gb} GB`
    : "–";

const kColumns: TableProps.ColumnDefinition<Row>[] = [
  { id: "name", header: "Type", minWidth: 170, cell: (row) => row.name, isRowHeader: true, sortingField: "name" },
  {
    id: "accelerators",
    header: "Accelerators",
    minWidth: 130,
    cell: (row) => (row.accelerator_count ? `${row.accelerator_count} × ${row.accelerators?.name ?? "?"}` : "–"),
    sortingField: "accelerator_count",
  },
  {
    id: "free",
    header: "Quota free",
    minWidth: 110,
    cell: (row) => (row.limit === undefined ? "–" : `${row.free ?? 0} of ${row.limit}`),
    sortingField: "free",
  },
  { id: "accelerator_memory", header: "Their memory", cell: memoryOf },
  { id: "vcpus", header: "vCPU", cell: (row) => row.vcpus ?? "–", sortingField: "vcpus" },
  {
    id: "memory",
    header: "Memory",
    minWidth: 110,
    cell: (row) => (row.memory_gib ? `${row.memory_gib.toLocaleString()} GiB` : "–"),
    sortingField: "memory_gib",
  },
  { id: "efa", header: "EFA", cell: (row) => row.efa_interfaces || "–", sortingField: "efa_interfaces" },
  { id: "disk", header: "Local disk", cell: diskOf, sortingField: "local_nvme_gb" },
  { id: "pods", header: "Pods", cell: (row) => row.max_pods ?? "–", sortingField: "max_pods" },
  { id: "plan", header: "Training plans", cell: (row) => (row.training_plan ? "yes" : "–") },
];

export function InstanceTypesPage() {
  const [accelerator, setAccelerator] = useState<(typeof kAccelerators)[number]["value"]>("");
  const [zone, setZone] = useState("");
  const types = useInstanceTypes({ ...(zone ? { zone } : {}), ...(accelerator ? { accelerator } : {}) });
  const quotas = useQuotas();
  const zones = useZones("");
  const free = new Map((quotas.data?.quotas ?? []).map((each) => [each.instance_type, each]));
  const items = (types.data?.instance_types ?? []).map((type): Row => ({
    ...type,
    accelerator_count: type.accelerators?.count ?? 0,
    free: free.get(type.name)?.free,
    limit: free.get(type.name)?.limit,
  }));
  const zoneOptions = [
    { value: "", label: "Any zone" },
    ...(zones.data?.zones ?? []).map((each) => ({ value: each.name, label: each.name, description: each.zone_id })),
  ];
  if (types.error) return <ProblemAlert error={types.error} />;
  return (
    <DataTable
      page
      title="Instance types"
      description="What HyperPod offers, and what is free of this account's quotas"
      items={items}
      columns={kColumns}
      loading={types.isPending}
      rowId={(row) => row.name}
      empty="No type matches."
      sortBy="name"
      controls={
        <SpaceBetween direction="horizontal" size="xs">
          <Choice label="Accelerator" value={accelerator} options={kAccelerators} onChange={setAccelerator} />
          <Choice label="Zone" value={zone} options={zoneOptions} onChange={setZone} />
        </SpaceBetween>
      }
    />
  );
}
