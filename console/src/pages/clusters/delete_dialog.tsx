// Deleting asks for the cluster's name and shows what would be lost, as the backend's plan says it.
import Box from "@cloudscape-design/components/box";
import Button from "@cloudscape-design/components/button";
import Checkbox from "@cloudscape-design/components/checkbox";
import FormField from "@cloudscape-design/components/form-field";
import Input from "@cloudscape-design/components/input";
import Modal from "@cloudscape-design/components/modal";
import SpaceBetween from "@cloudscape-design/components/space-between";
import { useMutation, useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { useNavigate } from "react-router-dom";

import { client, newKey, take, withKey } from "../../shared/api";
import { ProblemAlert } from "../../shared/problem_alert";
import type { Operation, Plan } from "../../shared/types";

export function DeleteDialog({ name, onDismiss }: { name: string; onDismiss: () => void }) {
  const [typed, setTyped] = useState("");
  const [buckets, setBuckets] = useState(false);
  const [key] = useState(newKey);
  const navigate = useNavigate();
  const plan = useQuery({
    queryKey: ["plan", "delete", name],
    queryFn: () => take<{ plan: Plan }>(client.POST("/plan", { body: { operation: "cluster.delete", arguments: { cluster: name } } })),
  });
  const remove = useMutation({
    mutationFn: () => 
      take<{ operation: Operation }>(
        client.DELETE("/clusters/{cluster}", { params: { path: { cluster: name }, ...withKey(key) }, body: { confirm: typed, delete_buckets: buckets } }),
      ),
    onSuccess: (answer) => navigate(`/operations/${answer.operation.id}`),
  });
  const removes = plan.data?.plan.removes ?? [];
  return (
    <Modal
      visible
      onDismiss={onDismiss}
      closeAriaLabel="Close"
      header={`Delete ${name}`}
      footer={
        <Box float="right">
          <SpaceBetween direction="horizontal" size="xs">
            <Button variant="link" onClick={onDismiss}>Cancel</Button>
            <Button variant="primary" disabled={typed !== name} loading={remove.isPending} onClick={() => remove.mutate()}>Delete</Button>
          </SpaceBetween>
        </Box>
      }
    >
      <SpaceBetween size="m">
        <ProblemAlert error={remove.error ?? plan.error} />
        <Box>This removes what InstantStart made for this cluster, in the order that AWS needs. It cannot be taken back.</Box>
        {removes.length > 0 && (
          <ul>
            {removes.map((each) => (
              <li key={each}>{each}</li>
            ))}
          </ul>
        )}
        <Checkbox checked={buckets} onChange={(event) => setBuckets(event.detail.checked)}>Also delete buckets that hold data</Checkbox>
        <FormField label={`Type ${name} to confirm`}>
          <Input value={typed} onChange={(event) => setTyped(event.detail.value)} autoComplete={false} />
        </FormField>
      </SpaceBetween>
    </Modal>
  );
}
