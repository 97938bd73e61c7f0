import Container from "@cloudscape-design/components/container";
import Header from "@cloudscape-design/components/header";
import SpaceBetween from "@cloudscape-design/components/space-between";
import { useState } from "react";
import { useParams } from "react-router-dom";

import { client, withKey } from "../../shared/api";
import { PlannedForm } from "../../shared/planned_form";
import { useInstanceGroups } from "../../shared/queries";
import { CapacitySummary } from "./capacity_summary";
import { emptyGroup, groupRequest, isComplete } from "./group_draft";
import { GroupFields } from "./group_fields";

// The first of workers, workers-2, workers-3 … that no group has.
function freeName(taken: string[]): string {
  for (let index = 1; ; ++index) {
    const name = index === 1 ? emptyGroup.name : `${emptyGroup.name}-${index}`;
    if (!taken.includes(name)) return name;
  }
}

export function AddGroupPage() {
  const { name = "" } = useParams();
  const groups = useInstanceGroups(name);
  const [draft, setDraft] = useState({ ...emptyGroup, name: "" });
  const [named, setNamed] = useState(false);
  const group = named ? draft : { ...draft, name: freeName((groups.data?.instance_groups ?? []).map((each) => each.name)) };
  const request = groupRequest(group);
  return (
    <PlannedForm
      title="Add an instance group"
      description={`To the HyperPod cluster of ${name}. Type, zone and capacity are fixed for the group's life.`}
      asked={JSON.stringify([name, request])}
      action="Add"
      complete={isComplete(group)}
      send={(options, key) =>
        client.POST("/clusters/{cluster}/instance-groups", {
          params: { path: { cluster: name }, ...withKey(key) },
          body: { ...request, ...options },
        })
      }
    >
      {(problem) => (
        <SpaceBetween size="l">
          <Container header={<Header variant="h2">Instance group</Header>}>
            <GroupFields
              draft={group}
              problem={problem}
              prefix=""
              onChange={(next) => {
                if (next.name !== group.name) setNamed(true);
                setDraft(next);
              }}
            />
          </Container>
          <Container header={<Header variant="h2">What it takes</Header>}>
            <CapacitySummary draft={group} />
          </Container>
        </SpaceBetween>
      )}
    </PlannedForm>
  );
}
