import { useOperationList } from "../../shared/queries";
import { OperationTable } from "./operation_table";

export function OperationsPage() {
  return <OperationTable title="h1" list={useOperationList()} />;
}
