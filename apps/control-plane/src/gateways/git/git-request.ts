/** What git asks of a door: one of the three paths of its smart HTTP protocol, for one repository. All else is refused. */
import type { IncomingMessage } from 'node:http'
import type { NamedRepository } from '../../modules/connectors/index.ts'
import { DoorRefusal } from './door-refusal.ts'

export type GitService = 'git-upload-pack' | 'git-receive-pack'

export type GitRequest = {
  repository: NamedRepository
  service: GitService
  /** Whether it only asks which refs there are: the first request of every fetch and push. */
  isDiscovery: boolean
}

const providers = new Set<string>(['github', 'gitlab'])
// Owner and name are followed by a path of git's.
const shape =
  /^\/([a-z]+)\/([A-Za-z0-9_.-]+(?:\/[A-Za-z0-9_.-]+)+?)\/(info\/refs|git-upload-pack|git-receive-pack|info\/lfs(?:\/.*)?)$/

/** Throws {@link DoorRefusal} for what is none. */
export function readGitRequest({ method, url = '', headers }: IncomingMessage): GitRequest {
  const [path = '', query = '', ...more] = url.split('?')
  const [, provider = '', name = '', tail = ''] = shape.exec(path) ?? []
  const fullName = name.replace(/\.git$/i, '')
  if (!providers.has(provider) || more.length > 0 || /(^|\/)\.+(\/|$)/.test(fullName))
    throw new DoorRefusal(404, 'There is nothing at this address: the door serves git over HTTP alone.')
  const repository = { provider, fullName } as NamedRepository
  if (tail.startsWith('info/lfs'))
    throw new DoorRefusal(501, 'Git LFS does not work in a Dock for its selected repositories.')
  if (tail === 'info/refs') {
    const service = /^service=(git-upload-pack|git-receive-pack)$/.exec(query)?.[1]
    if (method !== 'GET' || !service)
      throw new DoorRefusal(403, 'This git is too old: the door serves the smart HTTP protocol alone.')
    return { repository, service: service as GitService, isDiscovery: true }
  }
  const service = tail as GitService
  if (method !== 'POST' || query !== '' || headers['content-type'] !== `application/x-${service}-request`)
    throw new DoorRefusal(400, 'This is no request of git.')
  return { repository, service, isDiscovery: false }
}
