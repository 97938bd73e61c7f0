// Layout, navigation and routes. The band above everything says that the account is simulated, where it is.
import AppLayout from "@cloudscape-design/components/app-layout";
import Box from "@cloudscape-design/components/box";
import Button from "@cloudscape-design/components/button";
import SideNavigation from "@cloudscape-design/components/side-navigation";
import Spinner from "@cloudscape-design/components/spinner";
import TopNavigation from "@cloudscape-design/components/top-navigation";
import { useQueryClient } from "@tanstack/react-query";
import { useEffect, useState } from "react";
import { Navigate, Route, Routes, useLocation, useNavigate } from "react-router-dom";

import { AuditPage } from "./pages/audit/audit_page";
import { InstanceTypesPage } from "./pages/capacity/instance_types_page";
import { QuotasPage } from "./pages/capacity/quotas_page";
import { TrainingPlansPage } from "./pages/capacity/training_plans_page";
import { ClusterPage } from "./pages/clusters/cluster_page";
import { ClustersPage } from "./pages/clusters/clusters_page";
import { LaunchPage } from "./pages/clusters/launch_page";
import { AddGroupPage } from "./pages/instance_groups/add_group_page";
import { LoginPage } from "./pages/login/login_page";
import { AddNodeGroupPage } from "./pages/node_groups/add_node_group_page";
import { NodePage } from "./pages/nodes/node_page";
import { OperationPage } from "./pages/operations/operation_page";
import { OperationsPage } from "./pages/operations/operations_page";
import { OverviewPage } from "./pages/overview/overview_page";
import { Problem, request } from "./shared/api";
import { useMode } from "./shared/mode";
import { Notifications, NotifyProvider } from "./shared/notify";
import { ProblemAlert } from "./shared/problem_alert";
import { useEnvironment } from "./shared/queries";
import { useStream } from "./shared/stream";

const kItems = [
  { type: "link" as const, text: "Overview", href: "/" },
  { type: "link" as const, text: "Clusters", href: "/clusters" },
  { type: "link" as const, text: "Launch a cluster", href: "/clusters/launch" },
  { type: "divider" as const },
  { type: "link" as const, text: "Instance types", href: "/instance-types" },
  { type: "link" as const, text: "Quotas", href: "/quotas" },
  { type: "link" as const, text: "Training plans", href: "/training-plans" },
  { type: "divider" as const },
  { type: "link" as const, text: "Operations", href: "/operations" },
  { type: "link" as const, text: "Audit", href: "/audit" },
  { type: "divider" as const },
  {
    type: "link" as const,
    text: "OpenAPI document",
    href: "/api/v1/openapi.json",
    external: true,
    externalIconAriaLabel: "Opens in a new tab",
  },
];

function TwinBand({ account }: { account?: string }) {
  return (
    <div role="note" style={{ background: "#7a2e00", color: "#ffffff", padding: "6px 20px", fontSize: 14 }}>
      <strong>Simulated account {account}.</strong> Everything here runs on the built-in twin; nothing exists in AWS and nothing
      is billed.
    </div>
  );
}

export function App() {
  const environment = useEnvironment();
  const queries = useQueryClient();
  const navigate = useNavigate();
  const location = useLocation();
  const [open, setOpen] = useState(window.innerWidth > 900);
  const signedOut = environment.error instanceof Problem && environment.error.status === 401;
  const stream = useStream(environment.isSuccess);
  const mode = useMode();

  useEffect(() => {
    window.scrollTo(0, 0);
  }, [location.pathname]);

  if (signedOut) return <LoginPage onDone={() => void queries.invalidateQueries()} />;
  if (environment.isPending) {
    return (
      <Box textAlign="center" padding="xxxl">
        <Spinner size="large" /> Connecting to the control plane
      </Box>
    );
  }
  if (environment.error) {
    return (
      <Box padding="xxl">
        <ProblemAlert error={environment.error} />
        <Button onClick={() => void environment.refetch()}>Try again</Button>
      </Box>
    );
  }

  const env = environment.data.environment;
  const signOut = async () => {
    await request("DELETE", "/session").catch(() => undefined);
    queries.clear();
    navigate("/");
    void queries.invalidateQueries();
  };
  const active = [...kItems]
    .reverse()
    .find((item) => "href" in item && item.href !== "/" && location.pathname.startsWith(item.href!));

  return (
    <NotifyProvider>
      <div id="top">
        {env.backend === "twin" && <TwinBand account={env.account} />}
        <TopNavigation
          identity={{ href: "/", title: "InstantStart", onFollow: (event) => (event.preventDefault(), navigate("/")) }}
          utilities={[
            {
              type: "button",
              text: stream === "live" ? "Live" : stream === "broken" ? "Reconnecting" : "Connecting",
              iconName: stream === "live" ? "status-positive" : "status-pending",
              disableUtilityCollapse: true,
            },
            { type: "button", text: `${env.account ?? "no account"} · ${env.region ?? ""}` },
            {
              type: "button",
              text: mode.dark ? "Light" : "Dark",
              ariaLabel: mode.dark ? "Change to light mode" : "Change to dark mode",
              onClick: mode.toggle,
            },
            { type: "button", text: "Sign out", onClick: () => void signOut() },
          ]}
          i18nStrings={{ overflowMenuTriggerText: "More", overflowMenuTitleText: "All" }}
        />
      </div>
      <AppLayout
        headerSelector="#top"
        toolsHide
        notifications={<Notifications />}
        stickyNotifications
        navigationOpen={open}
        onNavigationChange={(event) => setOpen(event.detail.open)}
        ariaLabels={{ navigation: "Main", navigationClose: "Close navigation", navigationToggle: "Open navigation" }}
        navigation={
          <SideNavigation
            header={{ text: env.active_cluster ? `Active: ${env.active_cluster}` : "InstantStart", href: "/" }}
            activeHref={active && "href" in active ? active.href : "/"}
            items={kItems}
            onFollow={(event) => {
              if (event.detail.external) return;
              event.preventDefault();
              navigate(event.detail.href);
            }}
          />
        }
        content={
          <Routes>
            <Route path="/" element={<OverviewPage environment={env} />} />
            <Route path="/clusters" element={<ClustersPage environment={env} />} />
            <Route path="/clusters/launch" element={<LaunchPage />} />
            <Route path="/clusters/:name" element={<ClusterPage environment={env} />} />
            <Route path="/clusters/:name/add-group" element={<AddGroupPage />} />
            <Route path="/clusters/:name/add-node-group" element={<AddNodeGroupPage />} />
            <Route path="/clusters/:name/nodes/:node" element={<NodePage />} />
            <Route path="/instance-types" element={<InstanceTypesPage />} />
            <Route path="/quotas" element={<QuotasPage />} />
            <Route path="/training-plans" element={<TrainingPlansPage />} />
            <Route path="/operations" element={<OperationsPage />} />
            <Route path="/operations/:id" element={<OperationPage />} />
            <Route path="/audit" element={<AuditPage />} />
            <Route path="*" element={<Navigate to="/" replace />} />
          </Routes>
        }
      />
    </NotifyProvider>
  );
}
