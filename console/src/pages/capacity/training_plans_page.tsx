// The training plans of this account: reserved capacity, paid in advance.
import type { TableProps } from "@cloudscape-design/components/table";

import { DataTable } from "../../shared/data_table";
import { localTime, Status } from "../../shared/format";
import { ProblemAlert } from "../../shared/problem_alert";
import { useTrainingPlans } from "../../shared/queries";
import type { TrainingPlan } from "../../shared/types";

const kColumns: TableProps.ColumnDefinition<TrainingPlan>[] = [
  {
    id: "name",
    header: "Name",
    cell: (plan) => <span title={plan.arn}>{plan.name ?? plan.arn}</span>,
    isRowHeader: true,
    sortingField: "name",
  },
  { id: "status", header: "Status", cell: (plan) => <Status value={plan.status} />, sortingField: "status" },
  { id: "type", header: "Instance type", cell: (plan) => plan.instance_type ?? "–", sortingField: "instance_type" },
  { id: "zone", header: "Zone", cell: (plan) => plan.zone ?? "–", sortingField: "zone" },
  {
    id: "free",
    header: "Free",
    cell: (plan) => `${plan.available_count ?? 0} of ${plan.total_count ?? 0}`,
    sortingField: "available_count",
  },
  { id: "start", header: "Starts", cell: (plan) => localTime(plan.start), sortingField: "start" },
  { id: "end", header: "Ends", cell: (plan) => localTime(plan.end), sortingField: "end" },
];

export function TrainingPlansPage() {
  const plans = useTrainingPlans();
  if (plans.error) return <ProblemAlert error={plans.error} />;
  return (
    <DataTable
      page
      title="Training plans"
      description="Reserved capacity, bought in AWS's console or with its CLI; an instance group draws on one"
      items={plans.data?.training_plans ?? []}
      columns={kColumns}
      loading={plans.isPending}
      rowId={(plan) => plan.arn}
      empty="This account has no training plan."
      sortBy="start"
      descending
    />
  );
}
