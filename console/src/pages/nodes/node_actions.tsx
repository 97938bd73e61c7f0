// What can be done with nodes, one or some together: the menu and its dialogs, for the table and a node's own page.
import ButtonDropdown, { type ButtonDropdownProps } from "@cloudscape-design/components/button-dropdown";
import { useState } from "react";

import { client, withKey } from "../../shared/api";
import { PlannedDialog } from "../../shared/planned_dialog";

type Verb = "reboot" | "replace" | "delete";

// AWS takes so many nodes in one call.
const kMost = 25;

const kItems = [
  { id: "reboot", text: "Reboot" },
  { id: "replace", text: "Replace" },
  { id: "delete", text: "Delete" },
];

const kWords: Record<Verb, { title: string; intro: string }> = {
  reboot: { title: "Reboot", intro: "An instance restarts in place. Pods on it end and are scheduled anew; its volumes stay." },
  replace: { title: "Replace", intro: "A new instance takes the place. What is on the old one's volumes is lost." },
  delete: {
    title: "Delete",
    intro: "An instance ends and its group's wanted count goes down by one, so that it does not come back.",
  },
};

function NodeDialog({
  cluster,
  nodes,
  verb,
  onDismiss,
  onStarted,
}: {
  cluster: string;
  nodes: string[];
  verb: Verb;
  onDismiss: () => void;
  onStarted?: () => void;
}) {
  const [node = "", ...further_nodes] = nodes;
  const params = (key: string) => ({ path: { cluster, node }, ...withKey(key) });
  const path = "/clusters/{cluster}/nodes/{node}";
  const body = further_nodes.length ? { further_nodes } : {};
  return (
    <PlannedDialog
      title={`${kWords[verb].title} ${nodes.length === 1 ? node : `${nodes.length} nodes`}`}
      intro={kWords[verb].intro}
      action={kWords[verb].title}
      onDismiss={onDismiss}
      onStarted={onStarted}
      asked={JSON.stringify([verb, cluster, nodes])}
      send={(options, key) =>
        verb === "delete"
          ? client.DELETE(path, { params: params(key), body: { ...body, ...options } })
          : client.POST(`${path}/${verb}`, { params: params(key), body: { ...body, ...options } })
      }
    />
  );
}

export function NodeActions({
  cluster,
  nodes,
  label,
  variant = "inline-icon",
  onStarted,
}: {
  cluster: string;
  nodes: string[];
  label: string;
  variant?: ButtonDropdownProps.Variant;
  // Called with what was started; after a reboot the nodes are the same.
  onStarted?: (verb: Verb) => void;
}) {
  const [verb, setVerb] = useState<Verb>();
  return (
    <>
      <ButtonDropdown
        variant={variant}
        expandToViewport
        ariaLabel={label}
        items={kItems}
        disabled={nodes.length === 0 || nodes.length > kMost}
        disabledReason={nodes.length > kMost ? `At most ${kMost} nodes at a time` : undefined}
        onItemClick={(event) => setVerb(event.detail.id as Verb)}
      >
        {variant === "inline-icon" ? undefined : "Actions"}
      </ButtonDropdown>
      {verb && (
        <NodeDialog
          cluster={cluster}
          nodes={nodes}
          verb={verb}
          onDismiss={() => setVerb(undefined)}
          onStarted={() => onStarted?.(verb)}
        />
      )}
    </>
  );
}
