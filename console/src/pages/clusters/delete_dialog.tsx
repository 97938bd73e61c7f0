// Deleting asks for the cluster's name and shows what would be lost, as the backend's plan says it.
import Checkbox from "@cloudscape-design/components/checkbox";
import { useState } from "react";

import { client, withKey } from "../../shared/api";
import { PlannedDialog } from "../../shared/planned_dialog";

export function DeleteDialog({ name, onDismiss }: { name: string; onDismiss: () => void }) {
  const [buckets, setBuckets] = useState(false);
  return (
    <PlannedDialog
      title={`Delete ${name}`}
      action="Delete"
      follow
      onDismiss={onDismiss}
      intro="This removes what InstantStart made for this cluster, in the order that AWS needs. It cannot be taken back."
      asked={JSON.stringify(["cluster.delete", name, buckets])}
      send={(options, key) =>
        client.DELETE("/clusters/{cluster}", {
          params: { path: { cluster: name }, ...withKey(key) },
          body: { delete_buckets: buckets, ...options },
        })
      }
    >
      {() => (
        <Checkbox checked={buckets} onChange={(event) => setBuckets(event.detail.checked)}>
          Also delete buckets that hold data
        </Checkbox>
      )}
    </PlannedDialog>
  );
}
