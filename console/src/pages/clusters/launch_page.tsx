// From an empty account to a HyperPod cluster with storage: one form, its plan, one operation.
import Button from "@cloudscape-design/components/button";
import ColumnLayout from "@cloudscape-design/components/column-layout";
import Container from "@cloudscape-design/components/container";
import ExpandableSection from "@cloudscape-design/components/expandable-section";
import FormField from "@cloudscape-design/components/form-field";
import Header from "@cloudscape-design/components/header";
import Input from "@cloudscape-design/components/input";
import Select from "@cloudscape-design/components/select";
import SpaceBetween from "@cloudscape-design/components/space-between";
import Toggle from "@cloudscape-design/components/toggle";
import { useState } from "react";

import { client, withKey } from "../../shared/api";
import { PlannedForm } from "../../shared/planned_form";
import { type FeatureName, featureRequest, LaunchFeaturesSection } from "../features/launch_features";
import { emptyGroup, groupRequest, isComplete } from "../instance_groups/group_draft";
import { GroupFields } from "../instance_groups/group_fields";

type Nat = "single" | "per_zone" | "none";
const kNat: { value: Nat; label: string; description: string }[] = [
  { value: "single", label: "One NAT gateway", description: "Cheapest; its zone is a single point of failure for egress" },
  { value: "per_zone", label: "One in each zone", description: "Egress survives the loss of a zone" },
  { value: "none", label: "None", description: "Only for networks with their own way out" },
];

export function LaunchPage() {
  const [name, setName] = useState("");
  const [groups, setGroups] = useState([emptyGroup]);
  const [storage, setStorage] = useState(true);
  const [nat, setNat] = useState(kNat[0]!);
  const [cidr, setCidr] = useState("");
  const [features, setFeatures] = useState<FeatureName[]>([]);
  const complete = name !== "" && groups.every(isComplete);
  const network = { ...(nat.value === "single" ? {} : { nat: nat.value }), ...(cidr ? { vpc_cidr: cidr } : {}) };
  const body = {
    name,
    instance_groups: groups.map(groupRequest),
    ...(storage ? { storage: { kind: "s3" as const } } : {}),
    ...(Object.keys(network).length ? { network } : {}),
    ...featureRequest(features),
  };
  return (
    <PlannedForm
      title="Launch a cluster"
      description="Network, EKS control plane, dependencies, HyperPod with automatic node recovery, and storage"
      asked={JSON.stringify(body)}
      complete={complete}
      action="Launch"
      send={(options, key) => client.POST("/clusters/launch", { params: withKey(key), body: { ...body, ...options } })}
    >
      {(problem) => (
        <SpaceBetween size="l">
          <Container header={<Header variant="h2">Cluster</Header>}>
            <ColumnLayout columns={2}>
              <FormField
                label="Name"
                constraintText="Lower-case letters, digits and hyphens; at most 28 characters."
                errorText={problem?.field("/name")}
              >
                <Input value={name} onChange={(event) => setName(event.detail.value)} autoComplete={false} placeholder="demo" />
              </FormField>
              <FormField label="Shared storage" description="An S3 bucket of its own, mounted into pods by a claim named shared">
                <Toggle checked={storage} onChange={(event) => setStorage(event.detail.checked)}>
                  S3 bucket
                </Toggle>
              </FormField>
            </ColumnLayout>
          </Container>
          {groups.map((group, index) => (
            <Container
              key={index}
              header={
                <Header
                  variant="h2"
                  actions={
                    groups.length > 1 && (
                      <Button
                        formAction="none"
                        ariaLabel={`Remove group ${group.name}`}
                        onClick={() => setGroups(groups.filter((_, at) => at !== index))}
                      >
                        Remove
                      </Button>
                    )
                  }
                >
                  {index === 0 ? "Instance group" : `Instance group ${index + 1}`}
                </Header>
              }
            >
              <GroupFields
                draft={group}
                problem={problem}
                prefix={`/instance_groups/${index}`}
                onChange={(draft) => setGroups(groups.map((each, at) => (at === index ? draft : each)))}
              />
            </Container>
          ))}
          <Button
            formAction="none"
            iconName="add-plus"
            onClick={() => setGroups([...groups, { ...emptyGroup, name: `group-${groups.length + 1}` }])}
          >
            Another instance group
          </Button>
          <LaunchFeaturesSection groups={groups} chosen={features} onChange={setFeatures} problem={problem} />
          <ExpandableSection headerText="Network" variant="container">
            <ColumnLayout columns={2}>
              <FormField
                label="VPC range"
                description="Left empty, the first free 10.N.0.0/16 is taken"
                errorText={problem?.field("/network/vpc_cidr")}
              >
                <Input value={cidr} onChange={(event) => setCidr(event.detail.value)} placeholder="10.0.0.0/16" />
              </FormField>
              <FormField label="Way to the internet" errorText={problem?.field("/network/nat")}>
                <Select
                  selectedOption={nat}
                  options={kNat}
                  onChange={(event) => setNat(kNat.find((each) => each.value === event.detail.selectedOption.value) ?? kNat[0]!)}
                />
              </FormField>
            </ColumnLayout>
          </ExpandableSection>
        </SpaceBetween>
      )}
    </PlannedForm>
  );
}
