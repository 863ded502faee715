export const keyTabs = ['api', 'ssh', 'providers', 'connections'] as const
export type KeyTab = (typeof keyTabs)[number]

export const keyTabNames: Record<KeyTab, string> = {
  api: 'API keys',
  ssh: 'SSH keys',
  providers: 'Provider keys',
  connections: 'Connections',
}
