// A link inside the console: real href for the keyboard and the middle button, router navigation for a plain click.
import CloudscapeLink from "@cloudscape-design/components/link";
import type { ReactNode } from "react";
import { useNavigate } from "react-router-dom";

// `inverted` on a coloured ground, such as a note's.
export function Link({ to, children, inverted = false }: { to: string; children: ReactNode; inverted?: boolean }) {
  const navigate = useNavigate();
  return (
    <CloudscapeLink
      href={to}
      color={inverted ? "inverted" : "normal"}
      onFollow={(event) => {
        event.preventDefault();
        navigate(to);
      }}
    >
      {children}
    </CloudscapeLink>
  );
}
