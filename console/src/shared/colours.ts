// Colours of pictures, where the components' own do not reach: told apart on a light and on a dark ground (3:1 and more on both).
export const kColours = { good: "#1f9254", moving: "#2a7de1", waiting: "#b7741a", bad: "#e0393e", idle: "#84848c" };
export type Colour = keyof typeof kColours;

// A thin line on either ground.
export const kLine = "color-mix(in srgb, currentColor 30%, transparent)";

// What a container stands on; mode.ts sets it.
export const kGroundName = "--instantstart-ground";
export const kGround = `var(${kGroundName})`;
export const kGrounds = { light: "#ffffff", dark: "#161d26" };
