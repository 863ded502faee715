import { DockApiError } from '@dock/sdk'
import { api } from '../../api/client.ts'
import { friendlyName } from '../../lib/friendly-name.ts'

const attempts = 3

/** Creates a Dock with a friendly name in the workspace. Tries another name if one is taken. */
export async function createDock(workspaceId: string): Promise<{ id: string }> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await api.call('createDock', { body: { workspaceId, name: friendlyName() } })
    } catch (error) {
      const isTaken = error instanceof DockApiError && error.code === 'dock_name_taken'
      if (!isTaken || attempt === attempts) throw error
    }
  }
}
