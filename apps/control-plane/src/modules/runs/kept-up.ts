/** How long the machine of a Run stays up after a turn, by execution target, in milliseconds. Feedback finds it warm. */
export const keptUpMs = { dock: 60 * 60_000, fast: 15 * 60_000 } as const
