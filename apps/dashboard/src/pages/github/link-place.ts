/**
 * Remembers in this tab which workspace the person is linking repositories to while GitHub asks them. GitHub sends the
 * browser back to one address for all workspaces.
 */
const key = 'dock-github-link'

export function rememberLink(state: string, workspaceId: string): void {
  sessionStorage.setItem(key, JSON.stringify({ state, workspaceId }))
}

/** Returns the workspace of the link that was begun with this state in this tab. */
export function workspaceOfLink(state: string): string | undefined {
  try {
    const kept = JSON.parse(sessionStorage.getItem(key) ?? '{}') as { state?: unknown; workspaceId?: unknown }
    return kept.state === state && typeof kept.workspaceId === 'string' ? kept.workspaceId : undefined
  } catch {
    return undefined
  }
}
