// Sign-in with a token; the browser then holds an HttpOnly cookie and the token is forgotten.
import Alert from "@cloudscape-design/components/alert";
import Box from "@cloudscape-design/components/box";
import Button from "@cloudscape-design/components/button";
import Container from "@cloudscape-design/components/container";
import Form from "@cloudscape-design/components/form";
import FormField from "@cloudscape-design/components/form-field";
import Header from "@cloudscape-design/components/header";
import Input from "@cloudscape-design/components/input";
import { useState } from "react";

import { Problem, request } from "../../shared/api";

export function LoginPage({ onDone }: { onDone: () => void }) {
  const [token, setToken] = useState("");
  const [error, setError] = useState("");
  const [busy, setBusy] = useState(false);

  const signIn = async () => {
    setBusy(true);
    setError("");
    try {
      await request("POST", "/session", { token });
      setToken("");
      onDone();
    } catch (problem) {
      setError(problem instanceof Problem ? problem.detail || problem.title : String(problem));
    } finally {
      setBusy(false);
    }
  };

  return (
    <main style={{ maxWidth: 520, margin: "12vh auto", padding: 16 }}>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          void signIn();
        }}
      >
        <Form
          actions={
            <Button variant="primary" loading={busy} disabled={!token}>
              Sign in
            </Button>
          }
        >
          <Container
            header={
              <Header variant="h1" description="The control plane for HyperPod on EKS">
                InstantStart
              </Header>
            }
          >
            {error && <Alert type="error">{error}</Alert>}
            <FormField
              label="Token"
              description="Open the login address that the server printed when it started, or give a token."
            >
              <Input
                type="password"
                value={token}
                onChange={(event) => setToken(event.detail.value)}
                autoFocus
                autoComplete="off"
              />
            </FormField>
            <Box variant="small" color="text-body-secondary" padding={{ top: "s" }}>
              The server's own token is in the file <code>token</code> of its data folder.
            </Box>
          </Container>
        </Form>
      </form>
    </main>
  );
}
