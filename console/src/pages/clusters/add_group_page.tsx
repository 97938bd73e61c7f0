import Container from "@cloudscape-design/components/container";
import Header from "@cloudscape-design/components/header";
import { useState } from "react";
import { useParams } from "react-router-dom";

import { client, withKey } from "../../shared/api";
import { emptyGroup, GroupFields, groupRequest } from "./group_fields";
import { PlannedForm } from "./planned_form";

export function AddGroupPage() {
  const { name = "" } = useParams();
  const [group, setGroup] = useState({ ...emptyGroup, name: "workers-2" });
  return (
    <PlannedForm
      title="Add an instance group" description={`To the HyperPod cluster of ${name}. Type, zone and capacity are fixed for the group's life.`}
      asked={JSON.stringify(group)} action="Add"
      send={(options, key) => client.POST("/clusters/{cluster}/instance-groups", { params: { path: { cluster: name }, ...withKey(key) }, body: { ...groupRequest(group), ...options } })}
      complete={group.name !== "" && group.instance_type !== "" && group.zone !== "" && group.count !== ""}
    >
      {(problem) => (
        <Container header={<Header variant="h2">Instance group</Header>}>
          <GroupFields draft={group} onChange={setGroup} problem={problem} prefix="" />
        </Container>
      )}
    </PlannedForm>
  );
}
