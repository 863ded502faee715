/** What the stand-in of GitHub knows: people, repositories, issues, installations. Tests change it as people would. */
import { generateKeyPairSync, randomBytes } from 'node:crypto'

/** The role names of GitHub, lowest first. */
export type GithubRole = 'read' | 'triage' | 'write' | 'maintain' | 'admin'
export type GithubAccount = { id: number; login: string; type: 'User' | 'Bot' | 'Organization' }

export type GithubComment = {
  id: number
  issueNumber: number
  user: GithubAccount
  body: string
  createdAt: string
  updatedAt: string
  viaAppId: number | null
}
export type GithubIssue = {
  id: number
  number: number
  user: GithubAccount
  title: string
  body: string
  state: 'open' | 'closed'
  labels: { id: number; name: string }[]
  createdAt: string
  updatedAt: string
  pull: GithubPull | null
}
export type GithubPull = {
  id: number
  head: string
  base: string
  isDraft: boolean
  mergedAt: string | null
  headRepositoryId: number
}
export type GithubReview = {
  id: number
  number: number
  user: GithubAccount
  body: string
  state: 'commented' | 'changes_requested' | 'approved'
  submittedAt: string
  remarks: { path: string; line: number; body: string }[]
}
export type GithubCheck = Record<string, unknown> & { id: number; head_sha: string; name: string }

export type GithubRepository = {
  id: number
  owner: GithubAccount
  name: string
  isPrivate: boolean
  defaultBranch: string
  roles: Map<string, GithubRole>
  issues: GithubIssue[]
  comments: GithubComment[]
  reviews: GithubReview[]
  checks: GithubCheck[]
}
export type GithubInstallation = { id: number; account: GithubAccount; repositoryIds: Set<number> }

export type AppOfGithub = {
  id: number
  slug: string
  clientId: string
  clientSecret: string
  webhookSecret: string
  privateKey: string
  publicKey: string
  hookUrl: string | null
}

/** A token of an installation, or of a person. */
export type GithubToken =
  | {
      kind: 'installation'
      installationId: number
      repositoryIds: Set<number> | null
      permissions: Record<string, string>
    }
  | { kind: 'person'; login: string }

export class GithubWorld {
  readonly people = new Map<string, GithubAccount>()
  readonly repositories: GithubRepository[] = []
  readonly installations: GithubInstallation[] = []
  readonly tokens = new Map<string, GithubToken>()
  /** Codes that GitHub has sent browsers back with. */
  readonly codes = new Map<string, { kind: 'manifest' } | { kind: 'person'; login: string }>()
  readonly app: AppOfGithub
  readonly #now: () => Date
  #lastId = 1000

  constructor(now: () => Date) {
    this.#now = now
    const { privateKey, publicKey } = generateKeyPairSync('rsa', { modulusLength: 2048 })
    this.app = {
      ...{ id: 4242, slug: 'dock-test', clientId: 'Iv1.dock', clientSecret: 'secret-of-dock-test' },
      ...{ webhookSecret: 'webhook-secret-of-dock-test', hookUrl: null },
      privateKey: privateKey.export({ type: 'pkcs1', format: 'pem' }) as string,
      publicKey: publicKey.export({ type: 'spki', format: 'pem' }) as string,
    }
    this.addPerson(`${this.app.slug}[bot]`, 'Bot')
  }

  nextId(): number {
    this.#lastId += 1
    return this.#lastId
  }

  /** GitHub's times have no fractions of a second. */
  time(): string {
    return `${this.#now().toISOString().slice(0, 19)}Z`
  }

  addPerson(login: string, type: GithubAccount['type'] = 'User'): GithubAccount {
    const known = this.people.get(login)
    if (known) return known
    const person = { id: this.nextId(), login, type }
    this.people.set(login, person)
    return person
  }

  addRepository(fullName: string, roles: Readonly<Record<string, GithubRole>> = {}): GithubRepository {
    const [owner = '', name = ''] = fullName.split('/')
    const repository: GithubRepository = {
      ...{ id: this.nextId(), owner: this.addPerson(owner, 'Organization'), name, isPrivate: true },
      ...{ defaultBranch: 'main', roles: new Map(), issues: [], comments: [], reviews: [], checks: [] },
    }
    for (const [login, role] of Object.entries(roles)) {
      this.addPerson(login)
      repository.roles.set(login, role)
    }
    this.repositories.push(repository)
    return repository
  }

  /** Installs the App on an account, for these repositories. */
  install(...repositories: GithubRepository[]): GithubInstallation {
    const installation = {
      id: this.nextId(),
      account: repositories[0]!.owner,
      repositoryIds: new Set(repositories.map(({ id }) => id)),
    }
    this.installations.push(installation)
    return installation
  }

  installationOf(repositoryId: number): GithubInstallation | undefined {
    return this.installations.find(({ repositoryIds }) => repositoryIds.has(repositoryId))
  }

  findRepository(fullName: string): GithubRepository | undefined {
    return this.repositories.find((each) => fullNameOf(each).toLowerCase() === fullName.toLowerCase())
  }

  addIssue(repository: GithubRepository, login: string, title: string, body: string): GithubIssue {
    const at = this.time()
    const issue: GithubIssue = {
      ...{
        id: this.nextId(),
        number: repository.issues.length + 1,
        user: this.addPerson(login),
        title,
        body,
      },
      ...{ state: 'open', labels: [], createdAt: at, updatedAt: at, pull: null },
    }
    repository.issues.push(issue)
    return issue
  }

  addComment(
    repository: GithubRepository,
    issueNumber: number,
    { login, body, viaAppId = null }: { login: string; body: string; viaAppId?: number | null },
  ): GithubComment {
    const at = this.time()
    const comment: GithubComment = {
      ...{ id: this.nextId(), issueNumber, user: this.addPerson(login), body, viaAppId },
      ...{ createdAt: at, updatedAt: at },
    }
    repository.comments.push(comment)
    return comment
  }

  /** Makes a token as the token endpoint does. */
  addToken(token: GithubToken): string {
    const text = `${token.kind === 'person' ? 'ghu' : 'ghs'}_${randomBytes(18).toString('hex')}`
    this.tokens.set(text, token)
    return text
  }
}

export function fullNameOf({ owner, name }: GithubRepository): string {
  return `${owner.login}/${name}`
}
