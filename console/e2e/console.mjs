// The console in real Chromium against the real server and its twin: sign in, launch, watch, look around, delete.
// Screenshots of every page go to build/test-output/console; axe looks at every page.
import { check, kToken } from "../../tests/support/product.mjs";
import { walk } from "./support/walk.mjs";

await walk(
  async ({ product, url, page, look, choose }) => {
    await page.goto(url);
    await page.getByRole("heading", { name: "InstantStart" }).waitFor();
    await look("sign-in");
    await page.getByLabel("Token").fill("wrong-token");
    await page.getByRole("button", { name: "Sign in" }).click();
    await page.locator("[class*=alert]").first().waitFor();
    check("a wrong token does not sign in", await page.getByLabel("Token").isVisible());
    await page.getByLabel("Token").fill(kToken);
    await page.getByRole("button", { name: "Sign in" }).click();
    await page.getByRole("heading", { name: "Overview" }).waitFor();
    check(
      "the token is kept nowhere in the browser",
      !(await page.evaluate(() => JSON.stringify({ ...localStorage, ...sessionStorage }) + document.cookie)).includes(kToken),
    );
    check("a band says that the account is simulated", await page.getByText(/Simulated account 111122223333/).isVisible());
    await look("overview-empty");

    await page.goto(url + "/clusters/launch");
    await page.getByLabel("Name", { exact: true }).fill("Not A Name");
    await choose("Instance type", "ml.g5.12xlarge");
    await choose("Zone", "us-west-2");
    await page.getByLabel("Instances").fill("2");
    await page.getByRole("button", { name: "Show the plan" }).click();
    await page
      .getByText(/\/name/)
      .first()
      .waitFor();
    check(
      "a bad name is refused beside its field",
      await page.getByLabel("Name", { exact: true }).evaluate((input) => input.getAttribute("aria-invalid") === "true"),
    );
    await page.getByLabel("Name", { exact: true }).fill("demo");
    await page.getByRole("button", { name: /^Features/ }).click();
    const feature = (name) => page.getByRole("checkbox", { name, exact: true });
    check("a feature that the groups cannot bear is not offered", await feature("Managed autoscaling").isDisabled());
    await feature("Observability").check();
    await look("launch-features");
    await choose("Instance type", "ml.m5.xlarge");
    await choose("Zone", "us-west-2");
    await page.getByRole("button", { name: "Show the plan" }).click();
    await page
      .getByText(/no instance group with a count above 0 has such/)
      .first()
      .waitFor();
    check(
      "one that was refused says so beside its field",
      await feature("Observability").evaluate((input) => {
        const described = (input.getAttribute("aria-describedby") ?? "").split(" ");
        return described.some((id) => /16 vCPU/.test(document.getElementById(id)?.textContent ?? ""));
      }),
    );
    await feature("Observability").uncheck();
    check("and is then not offered either", await feature("Observability").isDisabled());
    await choose("Instance type", "ml.g5.12xlarge");
    await choose("Zone", "us-west-2");
    await page.getByRole("button", { name: "Show the plan" }).click();
    await page.getByRole("heading", { name: "Plan" }).waitFor();
    check("nothing was made by the plan", (await product.api("GET", "/clusters")).body.clusters.length === 0);
    await look("launch-plan");
    await page.getByRole("button", { name: "Launch", exact: true }).click();
    await page.getByRole("heading", { name: "cluster.launch" }).waitFor();
    await look("operation-running");
    await page.getByText(/^Done in /).waitFor({ timeout: 300_000 });
    check("the launch ends well under the reader's eyes", true);
    await look("operation-done");

    await page.goto(url + "/clusters");
    await page.getByRole("link", { name: "demo" }).waitFor();
    await look("clusters");
    await page.getByRole("link", { name: "demo" }).click();
    await page.getByRole("heading", { name: "demo", level: 1 }).waitFor();
    await page.getByText("2 of 2").first().waitFor({ timeout: 30_000 });
    await look("cluster-groups");
    for (const [tab, text] of [
      ["Nodes", /hyperpod-i-/],
      ["Dependencies", /VPC CNI/],
      ["Storage", /shared/],
      ["Events", /Event/],
      ["Operations", /cluster\.launch/],
    ]) {
      await page.getByRole("tab", { name: tab }).click();
      await page.getByText(text).first().waitFor({ timeout: 30_000 });
      await look(`cluster-${tab.toLowerCase()}`);
    }
    await page.getByRole("button", { name: "Make active" }).click();
    await page.getByRole("button", { name: "Active", exact: true }).waitFor();
    await page.getByRole("button", { name: "Add instance group" }).first().click();
    await page.getByRole("heading", { name: "Add an instance group" }).waitFor();
    await look("add-group");

    await page.goto(url + "/clusters/demo");
    await page.getByRole("button", { name: "Delete" }).click();
    await page.getByRole("dialog").waitFor();
    await look("delete-dialog");
    check("deleting waits for the name", await page.getByRole("dialog").getByRole("button", { name: "Delete" }).isDisabled());
    await page.getByLabel(/Type demo/).fill("demo");
    await page.getByRole("dialog").getByRole("button", { name: "Delete" }).click();
    await page.getByRole("heading", { name: "cluster.delete" }).waitFor();
    await page.getByText(/^Done in /).waitFor({ timeout: 300_000 });
    check("the deletion ends well", true);

    await page.goto(url + "/operations");
    await page.getByRole("link", { name: "cluster.launch" }).waitFor();
    await look("operations");
    await page.goto(url + "/audit");
    await page.getByRole("heading", { name: "Audit" }).waitFor();
    await look("audit");
    await page.getByRole("button", { name: "Sign out" }).click();
    await page.getByLabel("Token").waitFor();
    check("signing out asks for the token again", true);
  },
  { speed: 600 },
);
