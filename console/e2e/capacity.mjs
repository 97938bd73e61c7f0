// Capacity and features through the console, in real Chromium against the real server and its twin: add a Spot group, scale it,
// edit it, reboot a node, see a broken one, switch tiered checkpointing on and off, update software, delete.
import { execFileSync } from "node:child_process";

import { check } from "../../tests/support/product.mjs";
import { walk } from "./support/walk.mjs";

const kLong = 300_000;

async function settled(product, started) {
  const id = started.body.operation?.id;
  if (!id) throw new Error(`not started: ${JSON.stringify(started.body)}`);
  for (;;) {
    const { operation } = (await product.api("GET", `/operations/${id}?wait_seconds=20`)).body;
    if (["succeeded", "failed", "cancelled"].includes(operation.state)) return operation;
  }
}

async function twin(product, method, path, body) {
  const answer = await fetch(product.ready.twin_aws + path, {
    method,
    ...(body ? { body: JSON.stringify(body), headers: { "Content-Type": "application/json" } } : {}),
  });
  return answer.json();
}

// What AWS's own command line says of the account.
function aws(product, ...command) {
  const env = {
    PATH: process.env.PATH,
    AWS_ACCESS_KEY_ID: "AKIATWIN000000000000",
    AWS_SECRET_ACCESS_KEY: "twin",
    AWS_REGION: "us-west-2",
    AWS_DEFAULT_REGION: "us-west-2",
    AWS_EC2_METADATA_DISABLED: "true",
    AWS_ENDPOINT_URL: product.ready.twin_aws,
  };
  return JSON.parse(execFileSync("aws", [...command, "--output", "json"], { env, encoding: "utf8", timeout: 60_000 }));
}

await walk(
  async ({ product, url, page, look, choose, signIn }) => {
    const dialog = page.getByRole("dialog");
    const row = (table, name) =>
      page
        .getByRole("table", { name: table })
        .getByRole("row")
        .filter({ has: page.getByText(name, { exact: true }) });
    const groups = () => page.goto(`${url}/clusters/cap?tab=groups`);
    const groupRow = () => row("Instance groups", "spot");
    const group = async () =>
      (await product.api("GET", "/clusters/cap/instance-groups")).body.instance_groups.find((each) => each.name === "spot");
    const act = async (on, verb) => {
      await page.getByRole("button", { name: `Actions for ${on}` }).click();
      await page.getByRole("menuitem", { name: verb, exact: true }).click();
      await dialog.waitFor();
    };
    // The dialog's button, once its plan is there, with what must be typed.
    const confirm = async (action, typed) => {
      if (typed) await dialog.getByLabel(`Type ${typed} to confirm`).fill(typed, { timeout: 30_000 });
      await dialog.getByRole("button", { name: action, exact: true }).click();
      await dialog.waitFor({ state: "detached" });
    };
    const noted = (operation, end) =>
      page
        .getByText(new RegExp(`${operation.replace(".", "\\.")} on .*: ${end}`))
        .first()
        .waitFor({ timeout: kLong });

    const launched = await settled(
      product,
      await product.api("POST", "/clusters/launch", {
        name: "cap",
        instance_groups: [{ name: "workers", instance_type: "ml.g5.12xlarge", count: 2, zone: "us-west-2a" }],
      }),
    );
    check("a cluster is there to work on", launched.state === "succeeded", launched.error);
    await signIn(url);

    // A Spot group, first with a fault in a closed section.
    await page.goto(`${url}/clusters/cap/add-group`);
    await page.getByRole("radio", { name: "Spot" }).check();
    await choose("Instance type", "ml.g5.12xlarge");
    await choose("Zone", "us-west-2a");
    await page.getByLabel("Group name").fill("spot");
    await page.getByLabel("Instances").fill("2");
    check("the quota of the type is shown", await page.getByText(/\d+ free of 64/).isVisible());
    check(
      "the price class is shown",
      await page
        .getByText(/two minutes' notice/)
        .nth(1)
        .isVisible(),
    );
    await page.getByText("More settings").click();
    await page.getByLabel("Minimum").fill("5");
    await page.getByText("More settings").click();
    await page.getByRole("button", { name: "Show the plan" }).click();
    await page
      .getByText(/\/min_count/)
      .first()
      .waitFor();
    check(
      "a fault in a closed section opens it, beside its field",
      await page
        .getByLabel("Minimum")
        .evaluate((input) => input.getAttribute("aria-invalid") === "true" && input.checkVisibility()),
    );
    await look("capacity-add-refused");
    await page.getByLabel("Minimum").fill("");
    await page.getByRole("button", { name: "Show the plan" }).click();
    await page.getByRole("heading", { name: "Plan", exact: true }).waitFor();
    const addresses = page.getByRole("table", { name: "Addresses" });
    check("the plan shows the addresses of the subnet", await addresses.getByText(/a node of spot/).isVisible());
    check(
      "the plan names the group",
      await page
        .getByText(/instance group spot/i)
        .first()
        .isVisible(),
    );
    await look("capacity-add-plan");
    await page.getByRole("button", { name: "Add", exact: true }).click();
    await page.getByRole("heading", { name: "instance_group.add" }).waitFor();
    await page.getByText(/^Done in /).waitFor({ timeout: kLong });

    await groups();
    await groupRow().getByText("2 of 2").waitFor({ timeout: kLong });
    check("the group is Spot", await groupRow().getByText("spot", { exact: true }).nth(1).isVisible());
    await look("capacity-groups");

    // Scale up and see the counts move without a reload; down asks for the name.
    await act("spot", "Scale");
    await dialog.getByLabel("Instances").fill("3");
    await dialog.getByText(/step/).first().waitFor({ timeout: 30_000 });
    await look("capacity-scale");
    await confirm("Scale");
    await groupRow().getByText("3 of 3").waitFor({ timeout: kLong });
    check("counts move under the reader's eyes", (await group()).current_count === 3, await group());
    await noted("instance_group.update", "done");
    await act("spot", "Scale");
    await dialog.getByLabel("Instances").fill("2");
    await dialog.getByLabel(/to confirm/).waitFor({ timeout: 30_000 });
    check("scaling down waits for the name", await dialog.getByRole("button", { name: "Scale", exact: true }).isDisabled());
    await look("capacity-scale-down");
    await confirm("Scale", "spot");
    await groupRow().getByText("2 of 2").waitFor({ timeout: kLong });

    await act("spot", "Edit labels, taints and checks");
    await dialog.getByRole("button", { name: "Add a label" }).click();
    await dialog.getByLabel("Key of label 1").fill("team");
    await dialog.getByLabel("Value of label 1").fill("research");
    await look("capacity-edit");
    await confirm("Save");
    await noted("instance_group.update", "done");
    check("the label is the group's", (await group()).labels?.team === "research", await group());

    // A group that is marked for managed autoscaling, which is off: it is scaled and edited as any other.
    const idle = {
      name: "idle",
      instance_type: "ml.g5.xlarge",
      count: 0,
      zone: "us-west-2a",
      autoscaled: true,
      labels: { team: "a" },
    };
    const added = await settled(product, await product.api("POST", "/clusters/cap/instance-groups", idle));
    check("a marked group is there", added.state === "succeeded", added.error);
    await groups();
    await act("idle", "Scale");
    await dialog.getByLabel("Instances").fill("1");
    await dialog.getByText(/managed autoscaling does not take it any more/).waitFor({ timeout: 30_000 });
    check("scaling a marked group says that the mark goes", true);
    await look("capacity-scale-marked");
    await dialog.getByRole("button", { name: "Cancel" }).click();
    await act("idle", "Edit labels, taints and checks");
    const mark = dialog.getByRole("checkbox", { name: "Managed autoscaling sets the count" });
    check("the dialog shows the mark", await mark.isChecked());
    await mark.uncheck();
    await look("capacity-edit-marked");
    await confirm("Save");
    const marked = async () =>
      (await product.api("GET", "/clusters/cap/instance-groups")).body.instance_groups.find((each) => each.name === "idle");
    for (let left = 100; left > 0 && (await marked()).autoscaled; --left) await page.waitForTimeout(200);
    check("the mark goes, the labels stay", !(await marked()).autoscaled && (await marked()).labels.team === "a", await marked());

    // Nodes: filter, reboot, a broken one.
    await page.goto(`${url}/clusters/cap?tab=nodes`);
    await page.getByRole("button", { name: "Group of nodes" }).click();
    await page.getByRole("option", { name: "spot" }).click();
    await page.getByText("1–2 of 2").waitFor();
    await page.getByRole("table", { name: "Nodes" }).getByRole("link").first().click();
    await page.getByRole("heading", { name: "Recovery history" }).waitFor();
    const node = await page.getByRole("heading", { level: 1 }).textContent();
    await act(node, "Reboot");
    await dialog.getByText(/step/).first().waitFor({ timeout: 30_000 });
    await look("capacity-reboot");
    await confirm("Reboot");
    await noted("node.reboot", "done");
    check("a reboot ends well", true);
    await look("capacity-node");
    const id = (await product.api("GET", `/clusters/cap/nodes/${node}`)).body.node.instance_id;
    await twin(product, "POST", "/_twin/clock", { speed: 10 }); // HyperPod replaces it a minute after it was seen
    await twin(product, "POST", `/_twin/nodes/${id}/fail`, { fault: "gpu_xid", code: 79 });
    await page.getByRole("table", { name: "Faults" }).getByText(/xid/i).first().waitFor({ timeout: kLong });
    check("a fault of the hardware is seen", true);
    await look("capacity-node-broken");
    await page.goto(`${url}/clusters/cap?tab=nodes`);
    await page.getByRole("button", { name: "Health of nodes" }).click();
    await page.getByRole("option", { name: "Unhealthy" }).click();
    await page.getByText("1–1 of 1").waitFor({ timeout: 60_000 });
    check("the unhealthy node is found", await page.getByRole("link", { name: node }).isVisible());
    await twin(product, "POST", "/_twin/clock", { speed: 600 });

    // Features.
    await page.goto(`${url}/clusters/cap?tab=features`);
    const toggle = page
      .getByRole("switch", { name: /tiered checkpointing/i })
      .or(page.getByRole("checkbox", { name: /tiered checkpointing/i }));
    await toggle.waitFor({ timeout: 60_000 });
    await look("capacity-features");
    await toggle.click();
    await dialog.getByLabel("Share of memory in percent").fill("30");
    await dialog.getByText(/step/).first().waitFor({ timeout: 30_000 });
    await look("capacity-feature-on");
    await confirm("Switch on");
    await noted("feature.update", "done");
    const tiered = async () =>
      (await product.api("GET", "/clusters/cap/features")).body.features.find((each) => each.name === "tiered_checkpointing");
    const on = await tiered();
    check("tiered checkpointing is on at 30 %", on.enabled === true && on.settings.memory_percent === 30, on);
    await page.getByText(/memory percent: 30/).waitFor({ timeout: 30_000 });
    const tier = () => aws(product, "sagemaker", "describe-cluster", "--cluster-name", "cap").TieredStorageConfig;
    const described = tier();
    check(
      "describe-cluster says the same",
      described?.Mode === "Enable" && described.InstanceMemoryAllocationPercentage === 30,
      described,
    );
    await look("capacity-features-on");
    await toggle.click();
    await dialog.getByLabel(/to confirm/).waitFor({ timeout: 30_000 });
    await look("capacity-feature-off");
    await confirm("Switch off", "cap");
    await noted("feature.update", "done");
    const off = await tiered();
    check("and off again, with nothing left", !off.enabled && off.status === "off", off);
    check("describe-cluster says the same of that", tier()?.Mode !== "Enable", tier());

    // Two more: one is an add-on, one lives in Kubernetes alone.
    for (const [title, name] of [
      ["HyperPod training operator", "training_operator"],
      ["KubeRay", "kuberay"],
    ]) {
      const flip = page.getByRole("switch", { name: title }).or(page.getByRole("checkbox", { name: title }));
      await flip.click();
      await dialog.getByText(/step/).first().waitFor({ timeout: 60_000 });
      await confirm("Switch on");
      await page
        .getByRole("switch", { name: title, checked: true })
        .or(page.getByRole("checkbox", { name: title, checked: true }))
        .waitFor({ timeout: kLong });
      const operations = (await product.api("GET", "/operations?limit=1")).body.operations;
      const ended = await settled(product, { body: { operation: operations[0] } });
      const row = (await product.api("GET", "/clusters/cap/features")).body.features.find((each) => each.name === name);
      check(`${title} is on`, ended.state === "succeeded" && row.enabled === true && row.status === "on", [ended.error, row]);
    }
    const { addons } = aws(product, "eks", "list-addons", "--cluster-name", "cap");
    check("list-addons has the training operator", addons.includes("amazon-sagemaker-hyperpod-training-operator"), addons);

    // An EKS node group, software, and the end of the group.
    await page.goto(`${url}/clusters/cap/add-node-group`);
    await choose("Zone", "us-west-2a");
    await page.getByRole("button", { name: "Show the plan" }).click();
    await page.getByRole("heading", { name: "Plan", exact: true }).waitFor();
    const ofNodes = page.getByRole("table", { name: "Addresses" });
    check("the plan of a node group shows its addresses", await ofNodes.getByText(/a node of system/).isVisible());
    await look("capacity-node-group-plan");
    await page.getByRole("button", { name: "Add", exact: true }).click();
    await page.getByText(/^Done in /).waitFor({ timeout: kLong });
    await page.goto(`${url}/clusters/cap?tab=node-groups`);
    await row("EKS node groups", "system").waitFor();
    await look("capacity-node-groups");
    await act("system", "Delete");
    await confirm("Delete", "system");
    await noted("node_group.delete", "done");

    await groups();
    await page.getByRole("button", { name: "Update software" }).first().click();
    await dialog.waitFor();
    await dialog
      .getByText(/step|nothing would be done|Nothing/)
      .first()
      .waitFor({ timeout: 30_000 });
    await look("capacity-software");
    await dialog.getByRole("button", { name: "Cancel" }).click();
    await act("spot", "Delete");
    await dialog.getByLabel("Type spot to confirm").waitFor({ timeout: 30_000 });
    await look("capacity-delete");
    await confirm("Delete", "spot");
    await noted("instance_group.delete", "done");
    check("the group is gone", (await group()) === undefined);
  },
  { speed: 600 },
);
