/** Parses a git request: one of the three paths of the smart HTTP protocol, for one repository. Others are refused. */
import type { IncomingMessage } from 'node:http'
import type { NamedRepository } from '../../modules/connectors/index.ts'
import { DoorRefusal } from './door-refusal.ts'

export type GitService = 'git-upload-pack' | 'git-receive-pack'

export type GitRequest = {
  repository: NamedRepository
  service: GitService
  /** True for the request that lists the refs. Every fetch and push starts with it. */
  isDiscovery: boolean
}

const providers = new Set<string>(['github', 'gitlab'])
// Provider, owner and name, then a path of git's protocol.
const shape =
  /^\/([a-z]+)\/([A-Za-z0-9_.-]+(?:\/[A-Za-z0-9_.-]+)+?)\/(info\/refs|git-upload-pack|git-receive-pack|info\/lfs(?:\/.*)?)$/

/** Throws {@link DoorRefusal} if git never sends such a request. */
export function readGitRequest({ method, url = '', headers }: IncomingMessage): GitRequest {
  const [path = '', query = '', ...more] = url.split('?')
  const [, provider = '', name = '', tail = ''] = shape.exec(path) ?? []
  const fullName = name.replace(/\.git$/i, '')
  if (!providers.has(provider) || more.length > 0 || /(^|\/)\.+(\/|$)/.test(fullName))
    throw new DoorRefusal(404, 'Not found. Only git over HTTP is served here.')
  const repository = { provider, fullName } as NamedRepository
  if (tail.startsWith('info/lfs'))
    throw new DoorRefusal(501, 'Git LFS is not supported for the selected repositories of a Dock.')
  if (tail === 'info/refs') {
    const service = /^service=(git-upload-pack|git-receive-pack)$/.exec(query)?.[1]
    if (method !== 'GET' || !service)
      throw new DoorRefusal(403, 'This git is too old. Only the smart HTTP protocol is supported.')
    return { repository, service: service as GitService, isDiscovery: true }
  }
  const service = tail as GitService
  if (method !== 'POST' || query !== '' || headers['content-type'] !== `application/x-${service}-request`)
    throw new DoorRefusal(400, 'This is not a valid git request.')
  return { repository, service, isDiscovery: false }
}
