import { api } from '../../api/client.ts'
import { webAddress } from '../../lib/web-address.ts'
import { rememberLink } from './link-place.ts'

/** Leads the browser to GitHub, which asks the person and leads back to /github/linked. */
export async function startLink(workspaceId: string): Promise<void> {
  const { url } = await api.call('startGithubLink', { body: { workspaceId } })
  const address = webAddress(url)
  const state = address && new URL(address).searchParams.get('state')
  if (!address || !state) throw new Error('The service returned no address of GitHub.')
  rememberLink(state, workspaceId)
  location.assign(address)
}
