/** What git in the Dock of a Run may do while the Run's door is open: its repository, and pushes to its branch. */
import { sql } from 'kysely'
import type { Db } from '../../../database/database.ts'
import { type GitGrant, type GrantFor, ProviderUnavailable } from '../../connectors/index.ts'
import { GithubRefused, GithubUnavailable } from '../../github/index.ts'
import { repositoryOf } from '../linked-repository.ts'
import { type RunRow, runColumns } from '../run-store.ts'
import type { RunGithub } from '../saga/turn-context.ts'

/** GitHub takes any user name with a token of an App. */
const tokenUser = 'x-access-token'

/** Returns null for a Dock that no Run drives now. Then the Dock has what its Environment gives it. */
export function createRunGrants({
  db,
  github,
}: {
  db: Db
  github: Pick<RunGithub, 'repositoryToken' | 'forgetToken'>
}): GrantFor {
  return async ({ dockId, hostId, generation }) => {
    const { rows } = await sql<
      RunRow & { nowNamed: string | null }
    >`select ${runColumns}, (select g.full_name from github_repositories g
        where g.repository_id = r.repository_id and g.installation_id = r.installation_id) as "nowNamed"
      from machines d join runs r on r.dock_id = d.id or r.id = d.run_id
      where d.id = ${dockId} and r.door_open and r.state in ('provisioning', 'working')
        and d.host_id = ${hostId} and d.generation = ${generation}`.execute(db)
    const run = rows[0]
    if (!run) return null
    const rule = {
      provider: 'github' as const,
      fullName: run.repo,
      access: 'write' as const,
      branches: [run.branch],
      ...(run.nowNamed === null || run.nowNamed === run.repo ? {} : { nowNamed: run.nowNamed }),
    }
    const access = run.settings.allowWorkflowFiles ? 'workflows' : 'write'
    const grant: GitGrant = {
      policy: [rule],
      credentialFor: async () => {
        try {
          const { token } = await github.repositoryToken(repositoryOf(run), access)
          return { username: tokenUser, password: token }
        } catch (error) {
          if (error instanceof GithubRefused) return null
          if (error instanceof GithubUnavailable)
            throw new ProviderUnavailable('GitHub issued no token', { cause: error })
          throw error
        }
      },
      forget: ({ password }) => github.forgetToken(password),
    }
    return grant
  }
}
