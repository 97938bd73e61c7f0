// Opens MLflow by a link that AWS signs for this moment; it is kept nowhere.
import Button from "@cloudscape-design/components/button";
import { useMutation } from "@tanstack/react-query";

import { client, take } from "../../shared/api";
import { ProblemAlert } from "../../shared/problem_alert";

export function OpenMlflow({ cluster }: { cluster: string }) {
  const open = useMutation({
    mutationFn: async () => {
      // Opened by the press itself, before the answer, or the browser takes it for a pop-up.
      const tab = window.open("about:blank", "_blank");
      try {
        const answer = await take<{ mlflow: { url?: string } }>(
          client.POST("/clusters/{cluster}/mlflow/open", { params: { path: { cluster } }, body: {} }),
        );
        if (!tab || !answer.mlflow.url) throw new Error("The browser did not open a tab.");
        tab.opener = null;
        tab.location.replace(answer.mlflow.url);
      } catch (error) {
        tab?.close();
        throw error;
      }
    },
  });
  return (
    <div>
      <Button iconName="external" iconAlign="right" loading={open.isPending} onClick={() => open.mutate()}>
        Open MLflow
      </Button>
      <ProblemAlert error={open.error} />
    </div>
  );
}
