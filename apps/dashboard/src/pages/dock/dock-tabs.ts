/** The parts of a Dock's page, by their name in the address. */
export const dockTabs = ['terminal', 'overview', 'timeline', 'snapshots', 'ports', 'connect'] as const
export type DockTab = (typeof dockTabs)[number]
