// What is mounted into the pods of a cluster.
import Button from "@cloudscape-design/components/button";
import ButtonDropdown from "@cloudscape-design/components/button-dropdown";
import FormField from "@cloudscape-design/components/form-field";
import Input from "@cloudscape-design/components/input";
import SpaceBetween from "@cloudscape-design/components/space-between";
import type { TableProps } from "@cloudscape-design/components/table";
import { useState } from "react";

import { client, withKey } from "../../shared/api";
import { Choice } from "../../shared/choice";
import { DataTable } from "../../shared/data_table";
import { Status } from "../../shared/format";
import { PlannedDialog } from "../../shared/planned_dialog";
import { ProblemAlert } from "../../shared/problem_alert";
import { useStorages } from "../../shared/queries";
import type { Storage } from "../../shared/types";

const kKinds = [
  { value: "s3", label: "S3 bucket", description: "Any size; by the Mountpoint driver" },
  { value: "fsx_lustre", label: "FSx for Lustre", description: "An existing file system in the zone of the groups" },
] as const;

function Mount({ cluster, taken, onDismiss }: { cluster: string; taken: string[]; onDismiss: () => void }) {
  const [name, setName] = useState(taken.includes("shared") ? "" : "shared");
  const [kind, setKind] = useState<(typeof kKinds)[number]["value"]>("s3");
  const [source, setSource] = useState("");
  const [namespace, setNamespace] = useState("");
  const from = source === "" ? {} : kind === "s3" ? { bucket: source } : { file_system_id: source };
  const body = { kind, ...(name ? { name } : {}), ...from, ...(namespace ? { namespace } : {}) };
  return (
    <PlannedDialog
      title="Mount storage"
      action="Mount"
      onDismiss={onDismiss}
      complete={name !== "" && (kind === "s3" || source !== "")}
      asked={JSON.stringify(["storage", cluster, body])}
      send={(options, key) =>
        client.POST("/clusters/{cluster}/storages", {
          params: { path: { cluster }, ...withKey(key) },
          body: { ...body, ...options },
        })
      }
    >
      {(problem) => (
        <SpaceBetween size="m">
          <FormField label="Kind" errorText={problem?.field("/kind")}>
            <Choice
              options={kKinds}
              value={kind}
              onChange={(value) => {
                setKind(value);
                setSource("");
              }}
            />
          </FormField>
          <FormField label="Name" description="Of the claim that pods mount, too" errorText={problem?.field("/name")}>
            <Input value={name} autoComplete={false} onChange={(event) => setName(event.detail.value)} />
          </FormField>
          {kind === "s3" ? (
            <FormField label="Bucket" description="Left empty, one is made for the cluster" errorText={problem?.field("/bucket")}>
              <Input value={source} autoComplete={false} onChange={(event) => setSource(event.detail.value)} />
            </FormField>
          ) : (
            <FormField label="File system" errorText={problem?.field("/file_system_id")}>
              <Input value={source} autoComplete={false} placeholder="fs-…" onChange={(event) => setSource(event.detail.value)} />
            </FormField>
          )}
          <FormField label="Namespace" errorText={problem?.field("/namespace")}>
            <Input
              value={namespace}
              autoComplete={false}
              placeholder="default"
              onChange={(event) => setNamespace(event.detail.value)}
            />
          </FormField>
        </SpaceBetween>
      )}
    </PlannedDialog>
  );
}

function Unmount({ cluster, storage, onDismiss }: { cluster: string; storage: string; onDismiss: () => void }) {
  return (
    <PlannedDialog
      title={`Unmount ${storage}`}
      action="Unmount"
      onDismiss={onDismiss}
      intro="The claim and its volume go; the data stays where it is."
      asked={JSON.stringify(["storage", cluster, storage, "delete"])}
      send={(options, key) =>
        client.DELETE("/clusters/{cluster}/storages/{storage}", {
          params: { path: { cluster, storage }, ...withKey(key) },
          body: options,
        })
      }
    />
  );
}

export function StorageTable({ name }: { name: string }) {
  const storages = useStorages(name);
  const [mounting, setMounting] = useState(false);
  const [leaving, setLeaving] = useState<string>();
  const items = storages.data?.storages ?? [];
  const columns: TableProps.ColumnDefinition<Storage>[] = [
    { id: "name", header: "Name", cell: (each) => each.name, isRowHeader: true, sortingField: "name" },
    {
      id: "kind",
      header: "Kind",
      minWidth: 130,
      cell: (each) => kKinds.find((kind) => kind.value === each.kind)?.label ?? each.kind ?? "–",
    },
    { id: "source", header: "Bucket or file system", cell: (each) => each.bucket ?? each.file_system_id ?? "–" },
    { id: "namespace", header: "Namespace", cell: (each) => each.namespace ?? "–", sortingField: "namespace" },
    { id: "status", header: "Claim", minWidth: 130, cell: (each) => <Status value={each.status} /> },
    {
      id: "actions",
      header: "Actions",
      width: 90,
      cell: (each) => (
        <ButtonDropdown
          variant="inline-icon"
          expandToViewport
          ariaLabel={`Actions for ${each.name}`}
          items={[{ id: "unmount", text: "Unmount" }]}
          onItemClick={() => setLeaving(each.name)}
        />
      ),
    },
  ];
  if (storages.error) return <ProblemAlert error={storages.error} />;
  return (
    <>
      <DataTable
        title="Storage"
        items={items}
        columns={columns}
        loading={storages.isPending}
        empty="No storage is mounted."
        rowId={(each) => `${each.namespace}/${each.name}`}
        wrap
        actions={<Button onClick={() => setMounting(true)}>Mount storage</Button>}
      />
      {mounting && <Mount cluster={name} taken={items.map((each) => each.name)} onDismiss={() => setMounting(false)} />}
      {leaving && <Unmount cluster={name} storage={leaving} onDismiss={() => setLeaving(undefined)} />}
    </>
  );
}
