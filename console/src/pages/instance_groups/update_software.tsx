// Software update of a cluster's groups, by rolling batches.
import FormField from "@cloudscape-design/components/form-field";
import Input from "@cloudscape-design/components/input";
import Multiselect from "@cloudscape-design/components/multiselect";
import SpaceBetween from "@cloudscape-design/components/space-between";
import { useState } from "react";

import { client, withKey } from "../../shared/api";
import { PlannedDialog } from "../../shared/planned_dialog";
import type { InstanceGroup } from "../../shared/types";

export function UpdateSoftware({
  cluster,
  groups,
  chosen,
  onDismiss,
}: {
  cluster: string;
  groups: InstanceGroup[];
  chosen?: string;
  onDismiss: () => void;
}) {
  const [names, setNames] = useState(chosen ? [chosen] : []);
  const [batch, setBatch] = useState("");
  const [image, setImage] = useState("");
  const body = {
    ...(names.length ? { instance_groups: names } : {}),
    ...(batch ? { max_batch_percent: Number(batch) } : {}),
    ...(image ? { image_id: image } : {}),
  };
  const options = groups.map((each) => ({
    value: each.name,
    label: each.name,
    description: each.software?.current ? `runs ${each.software.current}` : each.instance_type,
  }));
  return (
    <PlannedDialog
      title="Update software"
      action="Update"
      onDismiss={onDismiss}
      intro="HyperPod replaces the image of the instances, batch by batch. What is on their root volumes is lost; work on them is interrupted."
      asked={JSON.stringify(["update", cluster, body])}
      send={(options, key) =>
        client.POST("/clusters/{cluster}/hyperpod/update-software", {
          params: { path: { cluster }, ...withKey(key) },
          body: { ...body, ...options },
        })
      }
    >
      {(problem) => (
        <SpaceBetween size="m">
          <FormField label="Instance groups" errorText={problem?.field("/instance_groups")}>
            <Multiselect
              options={options}
              selectedOptions={options.filter((each) => names.includes(each.value))}
              placeholder="All that have an update"
              keepOpen
              onChange={(event) => setNames(event.detail.selectedOptions.map((each) => each.value ?? ""))}
            />
          </FormField>
          <FormField
            label="Largest batch in percent"
            description="Of a group's instances at a time; left empty, AWS's own"
            errorText={problem?.field("/max_batch_percent")}
          >
            <Input
              type="number"
              inputMode="numeric"
              placeholder="AWS's own"
              value={batch}
              onChange={(event) => setBatch(event.detail.value)}
            />
          </FormField>
          <FormField
            label="Image"
            description="Groups on an image of your own change only with one named here; default is HyperPod's"
            errorText={problem?.field("/image_id")}
          >
            <Input
              placeholder="HyperPod's newest"
              value={image}
              autoComplete={false}
              onChange={(event) => setImage(event.detail.value.trim())}
            />
          </FormField>
        </SpaceBetween>
      )}
    </PlannedDialog>
  );
}
