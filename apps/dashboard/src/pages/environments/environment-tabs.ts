export const environmentTabs = ['contents', 'repositories', 'posture', 'versions', 'settings'] as const
export type EnvironmentTab = (typeof environmentTabs)[number]

export const environmentTabNames: Record<EnvironmentTab, string> = {
  contents: 'Variables and files',
  repositories: 'Repositories',
  posture: 'What Docks get',
  versions: 'Versions and Docks',
  settings: 'Settings',
}
