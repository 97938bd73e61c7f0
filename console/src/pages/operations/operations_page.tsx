import { ProblemAlert } from "../../shared/problem_alert";
import { useOperations } from "../../shared/queries";
import { OperationTable } from "./operation_table";

export function OperationsPage() {
  const operations = useOperations();
  if (operations.error) return <ProblemAlert error={operations.error} />;
  return <OperationTable title="h1" operations={operations.data?.operations ?? []} loading={operations.isPending} />;
}
