/** The repositories of the stand-in on disk, served by git's http-backend to holders of a token. */
import { execFile } from 'node:child_process'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { serveGit } from './git-http-backend.ts'
import type { GithubRepository, GithubToken } from './github-world.ts'

const exec = promisify(execFile)

export class GithubGit {
  readonly folder: string

  constructor(folder: string) {
    this.folder = folder
  }

  /** Creates a bare repository with one commit that has these files. */
  async create(repository: GithubRepository, files: Readonly<Record<string, string>>): Promise<void> {
    const tree = await mkdtemp(join(tmpdir(), 'dock-github-tree-'))
    const git = (...args: string[]) =>
      exec('git', ['-c', 'user.name=Ada', '-c', 'user.email=ada@example.test', '-C', tree, ...args])
    await git('init', '--quiet', `--initial-branch=${repository.defaultBranch}`)
    for (const [path, text] of Object.entries(files)) {
      await mkdir(dirname(join(tree, path)), { recursive: true })
      await writeFile(join(tree, path), text)
    }
    await git('add', '.')
    await git('commit', '--quiet', '--allow-empty', '-m', 'first')
    await mkdir(dirname(this.#pathOf(repository)), { recursive: true })
    await exec('git', ['clone', '--quiet', '--bare', tree, this.#pathOf(repository)])
    // A push over HTTP is allowed to a client that has passed the check of the token.
    await this.run(repository, 'config', 'http.receivepack', 'true')
    await rm(tree, { recursive: true })
  }

  /** Runs git in a repository. Rejects if git fails. */
  async run(repository: GithubRepository, ...args: string[]): Promise<string> {
    return (await exec('git', ['-C', this.#pathOf(repository), ...args])).stdout.trim()
  }

  /** Returns what a name points to, or null. */
  async find(repository: GithubRepository, name: string): Promise<string | null> {
    return this.run(repository, 'rev-parse', '--verify', '--quiet', `${name}^{commit}`).catch(() => null)
  }

  /** Serves a request of git. `path` is `/owner/name(.git)/…`. */
  serve(
    request: IncomingMessage,
    response: ServerResponse,
    repository: GithubRepository | undefined,
    token: GithubToken | undefined,
  ): void {
    const url = new URL(request.url ?? '', 'http://github.test')
    const isPush = url.pathname.endsWith('/git-receive-pack') || url.search.includes('git-receive-pack')
    if (!token) {
      response.writeHead(401, { 'www-authenticate': 'Basic realm="GitHub"' }).end()
      return
    }
    if (!repository || !mayUse(token, repository, isPush ? 'write' : 'read')) {
      response.writeHead(repository && mayUse(token, repository, 'read') ? 403 : 404).end()
      return
    }
    const rest = url.pathname.split('/').slice(3).join('/')
    const path = `/repositories/${repository.id}.git/${rest}`
    serveGit(request, response, { folder: this.folder, path, user: 'x-access-token' })
  }

  /** By number, so that a rename moves nothing. */
  #pathOf({ id }: GithubRepository): string {
    return join(this.folder, 'repositories', `${id}.git`)
  }
}

const mayUse = (token: GithubToken, repository: GithubRepository, access: 'read' | 'write'): boolean => {
  if (token.kind === 'person') {
    const role = repository.roles.get(token.login)
    return access === 'read' ? role !== undefined : ['write', 'maintain', 'admin'].includes(role ?? '')
  }
  if (token.repositoryIds && !token.repositoryIds.has(repository.id)) return false
  return (
    token.permissions.contents === 'write' || (access === 'read' && token.permissions.contents === 'read')
  )
}

/** Returns the user's password of a basic authorization, or the token of a bearer one. */
export function tokenOf(authorization: string | undefined): string | undefined {
  const [scheme = '', value = ''] = (authorization ?? '').split(' ')
  if (/^(bearer|token)$/i.test(scheme)) return value
  return /^basic$/i.test(scheme) ? Buffer.from(value, 'base64').toString().split(':')[1] : undefined
}
