// A link inside the console: real href for the keyboard and the middle button, router navigation for a plain click.
import CloudscapeLink from "@cloudscape-design/components/link";
import type { ReactNode } from "react";
import { useNavigate } from "react-router-dom";

export function Link({ to, children }: { to: string; children: ReactNode }) {
  const navigate = useNavigate();
  return (
    <CloudscapeLink
      href={to}
      onFollow={(event) => {
        event.preventDefault();
        navigate(to);
      }}
    >
      {children}
    </CloudscapeLink>
  );
}
