// Kubernetes labels and taints as rows to add and remove; what the backend refuses stands beside its row.
import AttributeEditor from "@cloudscape-design/components/attribute-editor";
import FormField from "@cloudscape-design/components/form-field";
import Input from "@cloudscape-design/components/input";

import type { Problem } from "./api";
import { Choice } from "./choice";
import type { Pair } from "./labels";
import type { Taint } from "./types";

// A key's part of a JSON Pointer.
const token = (key: string) => key.replaceAll("~", "~0").replaceAll("/", "~1");

const replaced = <T,>(rows: T[], index: number, change: Partial<T>) =>
  rows.map((row, at) => (at === index ? { ...row, ...change } : row));

export function LabelsEditor({
  rows,
  onChange,
  problem,
  pointer,
}: {
  rows: Pair[];
  onChange: (rows: Pair[]) => void;
  problem?: Problem;
  pointer: string;
}) {
  return (
    <FormField
      label="Labels"
      description="Kubernetes labels of the nodes"
      errorText={rows.length === 0 ? problem?.field(pointer) : undefined}
      stretch
    >
      <AttributeEditor
        items={rows}
        empty="No labels"
        addButtonText="Add a label"
        removeButtonText="Remove"
        removeButtonAriaLabel={(row) => `Remove label ${row.key}`}
        onAddButtonClick={() => onChange([...rows, { key: "", value: "" }])}
        onRemoveButtonClick={(event) => onChange(rows.filter((_, index) => index !== event.detail.itemIndex))}
        definition={[
          {
            label: "Key",
            control: (row, index) => (
              <Input
                ariaLabel={`Key of label ${index + 1}`}
                value={row.key}
                placeholder="team"
                onChange={(event) => onChange(replaced(rows, index, { key: event.detail.value }))}
              />
            ),
            errorText: (row, index) =>
              problem?.field(`${pointer}/${token(row.key)}`) ?? (index === 0 ? problem?.exactly(pointer) : undefined),
          },
          {
            label: "Value",
            control: (row, index) => (
              <Input
                ariaLabel={`Value of label ${index + 1}`}
                value={row.value}
                placeholder="research"
                onChange={(event) => onChange(replaced(rows, index, { value: event.detail.value }))}
              />
            ),
          },
        ]}
      />
    </FormField>
  );
}

const kEffects = [
  { value: "NoSchedule", label: "NoSchedule", description: "New pods keep away unless they tolerate it" },
  { value: "PreferNoSchedule", label: "PreferNoSchedule", description: "New pods avoid it where they can" },
  { value: "NoExecute", label: "NoExecute", description: "Running pods leave, too" },
] as const;

export function TaintsEditor({
  rows,
  onChange,
  problem,
  pointer,
}: {
  rows: Taint[];
  onChange: (rows: Taint[]) => void;
  problem?: Problem;
  pointer: string;
}) {
  return (
    <FormField
      label="Taints"
      description="Keep pods away that do not tolerate them"
      errorText={problem?.exactly(pointer)}
      stretch
    >
      <AttributeEditor
        items={rows}
        empty="No taints"
        addButtonText="Add a taint"
        removeButtonText="Remove"
        removeButtonAriaLabel={(row) => `Remove taint ${row.key}`}
        onAddButtonClick={() => onChange([...rows, { key: "", value: "", effect: "NoSchedule" }])}
        onRemoveButtonClick={(event) => onChange(rows.filter((_, index) => index !== event.detail.itemIndex))}
        definition={[
          {
            label: "Key",
            control: (row, index) => (
              <Input
                ariaLabel={`Key of taint ${index + 1}`}
                value={row.key}
                placeholder="dedicated"
                onChange={(event) => onChange(replaced(rows, index, { key: event.detail.value }))}
              />
            ),
            errorText: (_, index) => problem?.field(`${pointer}/${index}/key`) ?? problem?.exactly(`${pointer}/${index}`),
          },
          {
            label: "Value",
            control: (row, index) => (
              <Input
                ariaLabel={`Value of taint ${index + 1}`}
                value={row.value ?? ""}
                placeholder="training"
                onChange={(event) => onChange(replaced(rows, index, { value: event.detail.value }))}
              />
            ),
            errorText: (_, index) => problem?.field(`${pointer}/${index}/value`),
          },
          {
            label: "Effect",
            control: (row, index) => (
              <Choice
                label={`Effect of taint ${index + 1}`}
                value={row.effect}
                options={kEffects}
                onChange={(effect) => onChange(replaced(rows, index, { effect }))}
              />
            ),
            errorText: (_, index) => problem?.field(`${pointer}/${index}/effect`),
          },
        ]}
      />
    </FormField>
  );
}
