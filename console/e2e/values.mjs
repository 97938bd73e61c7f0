// The console's pure parts: what a form sends, and where a picture puts its boxes. No browser.
import { check, finish } from "../../tests/support/product.mjs";
import { kBox, layOut } from "../src/pages/features/layout.ts";
import { changedSettings, draftOf } from "../src/pages/features/settings.ts";
import { emptyGroup, groupRequest, isComplete } from "../src/pages/instance_groups/group_draft.ts";

const same = (what, seen, wanted) => check(what, JSON.stringify(seen) === JSON.stringify(wanted), seen);
const sent = (change) =>
  JSON.parse(JSON.stringify(groupRequest({ ...emptyGroup, instance_type: "ml.g5.12xlarge", zone: "us-west-2a", ...change })));

same("an untouched form sends what is needed only", sent({}), {
  name: "workers",
  instance_type: "ml.g5.12xlarge",
  zone: "us-west-2a",
  count: 1,
});
same(
  "further types make a flexible group, in order",
  sent({ more_types: ["ml.g6.12xlarge", "ml.p4d.24xlarge"] }).instance_types,
  ["ml.g5.12xlarge", "ml.g6.12xlarge", "ml.p4d.24xlarge"],
);
check("a flexible group has no single type", !("instance_type" in sent({ more_types: ["ml.g6.12xlarge"] })));
same("a Spot group says so", sent({ capacity: "spot" }).capacity, { type: "spot" });
same("a plan goes with its ARN", sent({ capacity: "training_plan", training_plan_arn: "arn:x" }).capacity, {
  type: "training_plan",
  training_plan_arn: "arn:x",
});
check("a plan must be chosen", !isComplete({ ...emptyGroup, instance_type: "t", zone: "z", capacity: "training_plan" }));
check("an autoscaled group starts empty", sent({ autoscaled: true, count: "7" }).count === 0);
same(
  "rows without a key are left out",
  sent({
    labels: [
      { key: "", value: "x" },
      { key: "a", value: "" },
    ],
    taints: [{ key: "t", value: "", effect: "NoSchedule" }],
  }),
  {
    name: "workers",
    instance_type: "ml.g5.12xlarge",
    zone: "us-west-2a",
    count: 1,
    labels: { a: "" },
    taints: [{ key: "t", effect: "NoSchedule" }],
  },
);
same("security groups are told apart by commas and blanks", sent({ security_group_ids: "sg-1, sg-2  sg-3" }).security_group_ids, [
  "sg-1",
  "sg-2",
  "sg-3",
]);
check("a number is sent as a number", sent({ min_count: "2" }).min_count === 2);

const now = draftOf("autoscaling", { instance_groups: ["a"], limits: { "nvidia.com/gpu": 8 }, consolidate_after: "60s" });
same("unchanged settings are not sent", changedSettings("autoscaling", now, now), {});
same("changed ones are, as a whole", changedSettings("autoscaling", now, { ...now, instance_groups: ["a", "b"] }), {
  instance_groups: ["a", "b"],
});
same(
  "figures are sent as figures",
  changedSettings("tiered_checkpointing", draftOf("tiered_checkpointing", {}), { memory_percent: "30" }),
  { memory_percent: 30 },
);

const chain = Array.from({ length: 11 }, (_, index) => ({ id: `p${index}`, needs: index ? [`p${index - 1}`] : [] }));
const fan = [
  { id: "a" },
  { id: "b" },
  { id: "c", needs: ["a", "b"] },
  { id: "d", needs: ["a"] },
  { id: "e", needs: ["c", "d", "gone"] },
];
const circle = [
  { id: "x", needs: ["y"] },
  { id: "y", needs: ["x"] },
  { id: "z", needs: ["z"] },
];
for (const [name, parts] of Object.entries({ chain, fan, circle, none: [] })) {
  for (const width of [0, 300, 700, 1100, 4000]) {
    const { boxes, width: wide, height } = layOut(parts, width);
    const at = new Map(boxes.map((box) => [box.part.id, box]));
    const apart = boxes.every((one, index) =>
      boxes
        .slice(index + 1)
        .every((other) => Math.abs(one.x - other.x) >= kBox.width || Math.abs(one.y - other.y) >= kBox.height),
    );
    const after =
      name === "circle" ||
      boxes.every((box) =>
        (box.part.needs ?? []).every(
          (id) => !at.has(id) || at.get(id).band < box.band || (at.get(id).band === box.band && at.get(id).x < box.x),
        ),
      );
    const inside = boxes.every((box) => box.x >= 0 && box.x + kBox.width <= wide && box.y >= 0 && box.y + kBox.height <= height);
    check(
      `${name} in ${width}: each part once, apart, after what it needs, inside`,
      boxes.length === parts.length && apart && after && inside,
      boxes.map(({ part, x, y }) => [part.id, x, y]),
    );
  }
}
finish();
