/** The parts of a Dock's page, by their name in the address. */
export const dockTabs = [
  'terminal',
  'files',
  'processes',
  'overview',
  'timeline',
  'snapshots',
  'ports',
  'connect',
  'settings',
] as const
export type DockTab = (typeof dockTabs)[number]
