// The progress panel: live steps, times and what to do about a failure.
import Alert from "@cloudscape-design/components/alert";
import Box from "@cloudscape-design/components/box";
import BreadcrumbGroup from "@cloudscape-design/components/breadcrumb-group";
import Button from "@cloudscape-design/components/button";
import Container from "@cloudscape-design/components/container";
import Header from "@cloudscape-design/components/header";
import KeyValuePairs from "@cloudscape-design/components/key-value-pairs";
import ProgressBar from "@cloudscape-design/components/progress-bar";
import SpaceBetween from "@cloudscape-design/components/space-between";
import Spinner from "@cloudscape-design/components/spinner";
import StatusIndicator from "@cloudscape-design/components/status-indicator";
import type { TableProps } from "@cloudscape-design/components/table";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useEffect, useState } from "react";
import { useNavigate, useParams } from "react-router-dom";

import { client, newKey, take, withKey } from "../../shared/api";
import { DataTable } from "../../shared/data_table";
import { between, duration, localTime, Status, stepType } from "../../shared/format";
import { ProblemAlert } from "../../shared/problem_alert";
import { useOperation } from "../../shared/queries";
import { isTerminal, type Operation, type Step } from "../../shared/types";
import { Link } from "../../shared/link";
import { Timeline } from "./timeline";

// Re-renders once a second while something runs, for the elapsed times.
function useTick(enabled: boolean) {
  const [, setTick] = useState(0);
  useEffect(() => {
    if (!enabled) return;
    const timer = setInterval(() => setTick((tick) => tick + 1), 1000);
    return () => clearInterval(timer);
  }, [enabled]);
}

function Outcome({ operation }: { operation: Operation }) {
  if (operation.state === "failed") {
    return (
      <Alert type="error" header={`Failed${operation.error?.step ? ` at ${operation.error.step}` : ""}`}>
        <div>{operation.error?.detail}</div>
        {operation.error?.hint && <div>{operation.error.hint}</div>}
        <div>What succeeded is kept. Retry goes on from the step that failed and repeats nothing that is done.</div>
      </Alert>
    );
  }
  if (operation.state === "succeeded")
    return (
      <Alert type="success">
        {operation.no_change ? "Nothing had to be changed." : `Done in ${between(operation.created_at, operation.ended_at)}.`}
      </Alert>
    );
  if (operation.state === "cancelled")
    return <Alert type="warning">Cancelled. What was made is kept; retry goes on, delete removes it.</Alert>;
  return null;
}

const kStepRows = 100;

const kStepColumns: TableProps.ColumnDefinition<Step>[] = [
  { id: "title", header: "Step", minWidth: 260, cell: (step) => step.title, isRowHeader: true },
  {
    id: "state",
    header: "State",
    minWidth: 130,
    cell: (step) => <StatusIndicator type={stepType(step.state)}>{step.state}</StatusIndicator>,
  },
  { id: "detail", header: "Detail", cell: (step) => step.error?.detail ?? step.detail ?? "" },
  { id: "time", header: "Time", minWidth: 110, cell: (step) => (step.started_at ? between(step.started_at, step.ended_at) : "") },
  { id: "attempt", header: "Tries", minWidth: 80, cell: (step) => (step.started_at ? (step.attempt ?? "") : "") },
];

function Steps({ steps }: { steps: Step[] }) {
  const ended = steps.filter((step) => step.state === "succeeded" || step.state === "skipped").length;
  return (
    <DataTable
      title="Steps"
      items={steps}
      columns={kStepColumns}
      loading={false}
      empty="There is no step."
      rowId={(step) => step.id}
      counter={`(${ended}/${steps.length})`}
      pageRows={kStepRows}
      compact
      wrap
    />
  );
}

export function OperationPage() {
  const { id = "" } = useParams();
  const query = useOperation(id);
  const queries = useQueryClient();
  const navigate = useNavigate();
  const operation = query.data?.operation;
  const running = operation !== undefined && !isTerminal(operation.state);
  useTick(running);
  const act = useMutation({
    mutationFn: (verb: "cancel" | "retry") => {
      const path = { operation_id: id };
      return verb === "cancel"
        ? take(client.POST("/operations/{operation_id}/cancel", { params: { path }, body: {} }))
        : take(client.POST("/operations/{operation_id}/retry", { params: { path, ...withKey(newKey()) }, body: {} }));
    },
    onSettled: () => void queries.invalidateQueries({ queryKey: ["operation", id] }),
  });

  if (query.error) return <ProblemAlert error={query.error} />;
  if (!operation)
    return (
      <Box textAlign="center">
        <Spinner /> Loading the operation
      </Box>
    );
  const cluster = operation.resource.startsWith("cluster/") ? operation.resource.split("/")[1] : undefined;
  return (
    <SpaceBetween size="l">
      <BreadcrumbGroup
        ariaLabel="Breadcrumbs"
        items={[
          { text: "Operations", href: "/operations" },
          { text: operation.name, href: "" },
        ]}
        onFollow={(event) => (event.preventDefault(), event.detail.href && navigate(event.detail.href))}
      />
      <Header
        variant="h1"
        actions={
          <SpaceBetween direction="horizontal" size="xs">
            {running && (
              <Button loading={act.isPending} onClick={() => act.mutate("cancel")}>
                Cancel
              </Button>
            )}
            {(operation.state === "failed" || operation.state === "cancelled") && (
              <Button variant="primary" loading={act.isPending} onClick={() => act.mutate("retry")}>
                Retry
              </Button>
            )}
          </SpaceBetween>
        }
      >
        {operation.name}
      </Header>
      <ProblemAlert error={act.error} />
      <Outcome operation={operation} />
      <Container>
        <SpaceBetween size="m">
          <ProgressBar
            value={Math.round((operation.progress ?? (operation.state === "succeeded" ? 1 : 0)) * 100)}
            label="Progress"
            status={running ? "in-progress" : operation.state === "succeeded" ? "success" : "error"}
            resultText={operation.state}
            additionalInfo={
              running && operation.eta_seconds !== undefined ? `about ${duration(operation.eta_seconds)} left` : undefined
            }
            description={operation.phase?.replaceAll("_", " ")}
          />
          <KeyValuePairs
            columns={4}
            items={[
              { label: "State", value: <Status value={operation.state} /> },
              {
                label: "Resource",
                value: cluster ? <Link to={`/clusters/${cluster}`}>{operation.resource}</Link> : operation.resource,
              },
              { label: "Started", value: localTime(operation.created_at) },
              {
                label: "Requested by",
                value: `${operation.requested_by?.principal ?? "–"} (${operation.requested_by?.face ?? "–"})`,
              },
            ]}
          />
        </SpaceBetween>
      </Container>
      <Timeline steps={operation.steps ?? []} />
      <div>
        <Steps steps={operation.steps ?? []} />
      </div>
      <Box variant="small" color="text-body-secondary">
        {operation.id}
      </Box>
    </SpaceBetween>
  );
}
