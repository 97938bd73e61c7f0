// The picture of what a feature consists of: each part with its state, and lines from what it needs. Its boxes are text, so it
// reads without the lines, too.
import Box from "@cloudscape-design/components/box";
import { useRef } from "react";

import { type Colour, kColours, kGround, kLine } from "../../shared/colours";
import { sentence, Status } from "../../shared/format";
import type { FeaturePart } from "../../shared/types";
import { useWidth } from "../../shared/use_width";
import { kBox, layOut, type Placed } from "./layout";

const kStates: Record<string, Colour> = {
  ready: "good",
  on: "good",
  failed: "bad",
  missing: "bad",
  drifted: "waiting",
  starting: "moving",
  waiting: "waiting",
  waiting_for_nodes: "waiting",
};

const titleOf = (part: FeaturePart) => sentence(part.title ?? part.id.replaceAll("_", " "));

function PartBox({ placed, titles }: { placed: Placed; titles: Map<string, string> }) {
  const { part, x, y } = placed;
  const needs = (part.needs ?? []).map((id) => titles.get(id) ?? id).join(", ");
  const hint = [titleOf(part), part.detail, needs && `needs ${needs}`, part.shared && "others use it, too"]
    .filter(Boolean)
    .join("\n");
  const state = part.state ?? "off";
  return (
    <li
      title={hint}
      style={{
        position: "absolute",
        left: x,
        top: y,
        width: kBox.width,
        height: kBox.height,
        boxSizing: "border-box",
        padding: "8px 10px",
        listStyle: "none",
        overflow: "hidden",
        background: kGround,
        border: `1px solid ${kLine}`,
        borderInlineStart: `4px solid ${kColours[kStates[state] ?? "idle"]}`,
        borderRadius: 8,
      }}
    >
      <div
        style={{
          overflow: "hidden",
          display: "-webkit-box",
          WebkitBoxOrient: "vertical",
          WebkitLineClamp: 2,
          overflowWrap: "anywhere",
          lineHeight: "18px",
          fontSize: 13,
        }}
      >
        {titleOf(part)}
      </div>
      <Box fontSize="body-s">
        <Status value={state} />
        {part.shared && (
          <Box variant="small" color="text-body-secondary" display="inline">
            {" "}
            · shared
          </Box>
        )}
      </Box>
    </li>
  );
}

export function PartTree({ parts, label }: { parts: FeaturePart[]; label: string }) {
  const frame = useRef<HTMLDivElement>(null);
  const width = useWidth(frame);
  const picture = layOut(parts, width);
  const titles = new Map(parts.map((part) => [part.id, titleOf(part)]));
  return (
    <div ref={frame} style={{ overflowX: "auto", paddingBlock: 4 }} role="group" aria-label={label}>
      <div style={{ position: "relative", width: picture.width, height: picture.height }}>
        <svg width={picture.width} height={picture.height} style={{ position: "absolute", inset: 0 }} aria-hidden="true">
          {picture.lines.map((line) => (
            <path
              key={line.id}
              d={line.path}
              fill="none"
              stroke="currentColor"
              strokeOpacity={0.4}
              strokeWidth={1.5}
              strokeLinejoin="round"
            />
          ))}
        </svg>
        <ul style={{ margin: 0, padding: 0 }}>
          {picture.boxes.map((placed) => (
            <PartBox key={placed.part.id} placed={placed} titles={titles} />
          ))}
        </ul>
      </div>
    </div>
  );
}
