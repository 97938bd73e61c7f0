// Light or dark: what the system says, until the user chooses; the choice stays in this browser.
import { applyMode, Mode } from "@cloudscape-design/global-styles";
import { useEffect, useState } from "react";

import { kGroundName, kGrounds } from "./colours";

const kKey = "instantstart-mode";
const kDark = "(prefers-color-scheme: dark)";

function chosen(): Mode {
  const kept = localStorage.getItem(kKey);
  if (kept === Mode.Dark || kept === Mode.Light) return kept;
  return window.matchMedia(kDark).matches ? Mode.Dark : Mode.Light;
}

export function useMode(): { dark: boolean; toggle: () => void } {
  const [mode, setMode] = useState(chosen);
  useEffect(() => {
    applyMode(mode);
    document.documentElement.style.setProperty(kGroundName, kGrounds[mode]);
  }, [mode]);
  useEffect(() => {
    const system = window.matchMedia(kDark);
    const follow = () => setMode(chosen());
    system.addEventListener("change", follow);
    return () => system.removeEventListener("change", follow);
  }, []);
  const toggle = () => {
    const next = mode === Mode.Dark ? Mode.Light : Mode.Dark;
    localStorage.setItem(kKey, next);
    setMode(next);
  };
  return { dark: mode === Mode.Dark, toggle };
}
