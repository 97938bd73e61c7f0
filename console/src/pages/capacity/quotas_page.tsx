// How many instances of each type HyperPod may run, and how many it does.
import type { TableProps } from "@cloudscape-design/components/table";
import StatusIndicator from "@cloudscape-design/components/status-indicator";
import { useState } from "react";

import { Choice } from "../../shared/choice";
import { DataTable } from "../../shared/data_table";
import { ProblemAlert } from "../../shared/problem_alert";
import { useQuotas } from "../../shared/queries";
import type { Quota } from "../../shared/types";

const kWhich = [
  { value: "", label: "All quotas" },
  { value: "usable", label: "Above zero" },
  { value: "used", label: "In use" },
] as const;

const kColumns: TableProps.ColumnDefinition<Quota>[] = [
  {
    id: "type",
    header: "Instance type",
    cell: (each) => each.instance_type ?? "–",
    isRowHeader: true,
    sortingField: "instance_type",
  },
  { id: "limit", header: "Limit", cell: (each) => each.limit ?? 0, sortingField: "limit" },
  { id: "used", header: "Used", cell: (each) => each.used ?? 0, sortingField: "used" },
  {
    id: "free",
    header: "Free",
    cell: (each) => <StatusIndicator type={each.free ? "success" : "stopped"}>{each.free ?? 0}</StatusIndicator>,
    sortingField: "free",
  },
  { id: "name", header: "Quota", cell: (each) => each.name, sortingField: "name" },
  { id: "code", header: "Code", cell: (each) => each.quota_code ?? "–" },
];

export function QuotasPage() {
  const quotas = useQuotas();
  const [which, setWhich] = useState<(typeof kWhich)[number]["value"]>("");
  const items = (quotas.data?.quotas ?? []).filter(
    (each) => which === "" || (which === "used" ? (each.used ?? 0) > 0 : (each.limit ?? 0) > 0),
  );
  if (quotas.error) return <ProblemAlert error={quotas.error} />;
  return (
    <DataTable
      page
      title="Quotas"
      description="Instances in all HyperPod clusters of this region; an increase is asked for in AWS's Service Quotas console"
      items={items}
      columns={kColumns}
      loading={quotas.isPending}
      rowId={(each) => each.name}
      empty={which ? "No quota matches." : "AWS named no quota."}
      sortBy="instance_type"
      controls={<Choice label="Which quotas" value={which} options={kWhich} onChange={setWhich} />}
    />
  );
}
