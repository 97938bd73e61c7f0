// One node: what AWS and Kubernetes say of it, its deep checks, its faults, and what was done about them.
import Alert from "@cloudscape-design/components/alert";
import Box from "@cloudscape-design/components/box";
import BreadcrumbGroup from "@cloudscape-design/components/breadcrumb-group";
import Container from "@cloudscape-design/components/container";
import ExpandableSection from "@cloudscape-design/components/expandable-section";
import Header from "@cloudscape-design/components/header";
import KeyValuePairs from "@cloudscape-design/components/key-value-pairs";
import SpaceBetween from "@cloudscape-design/components/space-between";
import StatusIndicator from "@cloudscape-design/components/status-indicator";
import Spinner from "@cloudscape-design/components/spinner";
import { useNavigate, useParams } from "react-router-dom";

import { DataTable } from "../../shared/data_table";
import { localTime, plain, Short, Status } from "../../shared/format";
import { ProblemAlert } from "../../shared/problem_alert";
import { useNode, useOperationList } from "../../shared/queries";
import type { Node } from "../../shared/types";
import { OperationTable } from "../operations/operation_table";
import { NodeActions } from "./node_actions";
import { kNodeStates } from "./node_table";

const imageOf = ({ image }: Node) =>
  image?.current ? `${image.current}${image.status && image.status !== "UpToDate" ? ` (${image.status})` : ""}` : "–";

function Summary({ node }: { node: Node }) {
  const accelerators = node.accelerators?.allocatable
    ? `${node.accelerators.in_use ?? 0} of ${node.accelerators.allocatable}`
    : "none";
  return (
    <Container header={<Header variant="h2">Summary</Header>}>
      <KeyValuePairs
        columns={4}
        items={[
          { label: "Status", value: <Status value={node.status} kinds={kNodeStates} /> },
          { label: "Health", value: <Status value={node.health} /> },
          {
            label: "Kubernetes",
            value: <Status value={node.ready ? "Ready" : "Not ready"} kinds={{ "not ready": "warning" }} />,
          },
          { label: "Deep health check", value: <Status value={node.deep_health_check?.status} /> },
          { label: "Instance group", value: node.group ?? "–" },
          { label: "Instance type", value: node.instance_type ?? "–" },
          { label: "Capacity", value: (node.capacity ?? "–").replaceAll("_", " ") },
          { label: "Accelerators in use", value: accelerators },
          { label: "Instance", value: node.instance_id ?? "–" },
          { label: "Private address", value: node.private_ip ?? "–" },
          { label: "Zone", value: node.zone ?? "–" },
          { label: "Launched", value: localTime(node.launched_at) },
          { label: "Image", value: imageOf(node) },
          { label: "Software updated", value: localTime(node.last_software_update_at) },
          { label: "Threads per core", value: node.threads_per_core ?? "–" },
          { label: "Kubernetes version", value: node.kubernetes_version ?? "–" },
        ]}
      />
    </Container>
  );
}

// Kubernetes' conditions: all but Ready are well when they are not there.
function Conditions({ node }: { node: Node }) {
  const conditions = node.conditions ?? [];
  if (conditions.length === 0) return null;
  const isWell = (type: string, status?: string) => (type === "Ready" ? status === "True" : status === "False");
  return (
    <Container header={<Header variant="h2">Conditions</Header>}>
      <KeyValuePairs
        columns={4}
        items={conditions.map(({ type, status, reason, since }) => ({
          label: type,
          value: (
            <span title={`${reason ?? ""} since ${localTime(since)}`}>
              <StatusIndicator type={isWell(type, status) ? "success" : "warning"}>{status ?? "Unknown"}</StatusIndicator>
            </span>
          ),
        }))}
      />
    </Container>
  );
}

function Faults({ node }: { node: Node }) {
  const faults = node.faults ?? [];
  return (
    <DataTable
      title="Faults"
      items={faults}
      loading={false}
      empty="No fault has been seen."
      rowId={(each) => `${each.time}${each.kind}${each.code}`}
      sortBy="time"
      descending
      wrap
      columns={[
        { id: "time", header: "Seen", cell: (each) => localTime(each.time), sortingField: "time" },
        { id: "kind", header: "Fault", cell: (each) => each.kind ?? "–", sortingField: "kind" },
        { id: "code", header: "Code", cell: (each) => each.code ?? "–" },
        { id: "message", header: "Message", cell: (each) => each.message ?? "–" },
      ]}
    />
  );
}

function History({ node }: { node: Node }) {
  return (
    <DataTable
      title="Recovery history"
      items={node.history ?? []}
      loading={false}
      empty="HyperPod has nothing to tell of this node."
      rowId={(each) => `${each.time}${plain(each.message)}`}
      sortBy="time"
      descending
      wrap
      columns={[
        { id: "time", header: "Time", cell: (each) => <Short>{localTime(each.time)}</Short>, sortingField: "time" },
        { id: "level", header: "Level", cell: (each) => <Status value={each.level} />, sortingField: "level" },
        {
          id: "instance",
          header: "Instance",
          cell: (each) => <Short>{each.instance_id ?? "–"}</Short>,
          sortingField: "instance_id",
        },
        { id: "message", header: "What happened", minWidth: 400, cell: (each) => plain(each.message) || "–" },
      ]}
    />
  );
}

function Labels({ node }: { node: Node }) {
  const labels = Object.entries(node.labels ?? {});
  const taints = (node.taints ?? []).map((taint) => `${taint.key}${taint.value ? `=${taint.value}` : ""}:${taint.effect}`);
  if (labels.length + taints.length === 0) return null;
  return (
    <ExpandableSection variant="container" headerText="Labels and taints" headerCounter={`(${labels.length + taints.length})`}>
      <ul style={{ overflowWrap: "anywhere" }}>
        {taints.map((taint) => (
          <li key={taint}>taint {taint}</li>
        ))}
        {labels.map(([key, value]) => (
          <li key={key}>
            {key} = {value}
          </li>
        ))}
      </ul>
    </ExpandableSection>
  );
}

function Operations({ cluster, node }: { cluster: string; node: string }) {
  const list = useOperationList(`cluster/${cluster}/node/${node}`);
  return list.rows.length > 0 ? <OperationTable title="h2" list={list} /> : null;
}

export function NodePage() {
  const { name = "", node = "" } = useParams();
  const query = useNode(name, node);
  const navigate = useNavigate();
  const back = `/clusters/${name}?tab=nodes`;
  const crumbs = (
    <BreadcrumbGroup
      ariaLabel="Breadcrumbs"
      items={[
        { text: "Clusters", href: "/clusters" },
        { text: name, href: `/clusters/${name}` },
        { text: "Nodes", href: back },
        { text: query.data?.node.name ?? node, href: "" },
      ]}
      onFollow={(event) => (event.preventDefault(), event.detail.href && navigate(event.detail.href))}
    />
  );
  if (query.error)
    return (
      <SpaceBetween size="l">
        {crumbs}
        <ProblemAlert error={query.error} />
      </SpaceBetween>
    );
  if (!query.data)
    return (
      <Box textAlign="center">
        <Spinner /> Loading the node
      </Box>
    );
  const value = query.data.node;
  return (
    <SpaceBetween size="l">
      {crumbs}
      <Header
        variant="h1"
        actions={
          <NodeActions
            variant="normal"
            cluster={name}
            nodes={[value.name]}
            label={`Actions for ${value.name}`}
            onStarted={(verb) => verb !== "reboot" && navigate(back)}
          />
        }
      >
        {value.name}
      </Header>
      {value.cordoned && <Alert type="info">No new pods are scheduled to this node.</Alert>}
      {value.message && <Alert type="warning">{value.message}</Alert>}
      <Summary node={value} />
      <Faults node={value} />
      <History node={value} />
      <Operations cluster={name} node={value.name} />
      <Conditions node={value} />
      <Labels node={value} />
    </SpaceBetween>
  );
}
