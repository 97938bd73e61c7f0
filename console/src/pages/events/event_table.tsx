// HyperPod's and Kubernetes' events in one timeline, newest first.
import type { TableProps } from "@cloudscape-design/components/table";
import SpaceBetween from "@cloudscape-design/components/space-between";
import { useState } from "react";

import { Choice } from "../../shared/choice";
import { DataTable } from "../../shared/data_table";
import { localTime, plain, Status } from "../../shared/format";
import { ProblemAlert } from "../../shared/problem_alert";
import { eventId, useEventList } from "../../shared/queries";
import type { EventRecord } from "../../shared/types";

const kSources = [
  { value: "", label: "All sources" },
  { value: "hyperpod", label: "HyperPod" },
  { value: "kubernetes", label: "Kubernetes" },
] as const;

const kLevels = [
  { value: "", label: "All levels" },
  { value: "warn", label: "Warnings and errors" },
] as const;

const kColumns: TableProps.ColumnDefinition<EventRecord>[] = [
  { id: "time", header: "Time", minWidth: 180, cell: (each) => localTime(each.time), sortingField: "time" },
  { id: "level", header: "Level", minWidth: 105, cell: (each) => <Status value={each.level} />, sortingField: "level" },
  { id: "source", header: "Source", minWidth: 120, cell: (each) => each.source ?? "–", sortingField: "source" },
  { id: "object", header: "Object", minWidth: 220, cell: (each) => each.object ?? "–", sortingField: "object" },
  { id: "reason", header: "Reason", minWidth: 160, cell: (each) => each.reason ?? "–", sortingField: "reason" },
  { id: "message", header: "Message", minWidth: 380, cell: (each) => plain(each.message) },
];

export function EventTable({ name }: { name: string }) {
  const { rows, pending, error, older, total } = useEventList(name);
  const [source, setSource] = useState<(typeof kSources)[number]["value"]>("");
  const [level, setLevel] = useState<(typeof kLevels)[number]["value"]>("");
  const items = rows.filter(
    (each) => (!source || each.source?.toLowerCase() === source) && (!level || each.level?.toLowerCase() !== "info"),
  );
  if (error && rows.length === 0) return <ProblemAlert error={error} />;
  const filtered = source !== "" || level !== "";
  return (
    <DataTable
      title="Events"
      items={items}
      columns={kColumns}
      loading={pending}
      older={older}
      empty={filtered ? "No event matches." : "Nothing has happened yet."}
      wrap
      total={filtered ? 0 : total}
      rowId={eventId}
      sortBy="time"
      descending
      controls={
        <SpaceBetween direction="horizontal" size="xs">
          <Choice label="Source of events" value={source} options={kSources} onChange={setSource} />
          <Choice label="Level of events" value={level} options={kLevels} onChange={setLevel} />
        </SpaceBetween>
      }
    />
  );
}
