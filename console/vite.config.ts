import react from "@vitejs/plugin-react";
import { defineConfig } from "vite";

// The console is built into build/console, from where the binary takes it; `npx vite` serves it against a running `make run`.
export default defineConfig({
  plugins: [react()],
  build: { outDir: "../build/console", emptyOutDir: true, chunkSizeWarningLimit: 2500 },
  server: { proxy: { "/api": { target: "http://127.0.0.1:3099", ws: true } } },
});
