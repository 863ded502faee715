/** How long a Run's machine keeps running after a turn, by execution target, in milliseconds: feedback finds it warm. */
export const keepRunningMs = { dock: 60 * 60_000, fast: 15 * 60_000 } as const
