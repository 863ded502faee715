/** Reads the repository itself and its branches, and compares commits. */
import * as z from 'zod'
import type { LinkedRepository } from '../linked-repository.ts'
import type { CallsOf } from './repository-calls.ts'

const reference = z.object({ object: z.object({ sha: z.string() }) })
const comparison = z.object({
  ahead_by: z.int(),
  files: z.array(z.object({ filename: z.string() })).nullish(),
})

const repositoryAnswer = z.object({ full_name: z.string().max(300), default_branch: z.string().max(256) })

/** Each part is escaped, because a branch may contain `#` or `?`. */
const escapeBranch = (branch: string): string => branch.split('/').map(encodeURIComponent).join('/')

export function branchOperations(callsOf: CallsOf) {
  return {
    /** Returns the name and the default branch of today, or null if the App no longer has the repository. */
    readRepository: async (
      repository: LinkedRepository,
    ): Promise<Pick<LinkedRepository, 'fullName' | 'defaultBranch'> | null> => {
      const found = await callsOf(repository).find({ path: '' }, repositoryAnswer)
      return found && { fullName: found.full_name, defaultBranch: found.default_branch }
    },
    readBranch: async (repository: LinkedRepository, branch: string): Promise<{ sha: string } | null> => {
      const found = await callsOf(repository).find(
        { path: `/git/ref/heads/${escapeBranch(branch)}` },
        reference,
      )
      return found && { sha: found.object.sha }
    },
    /** Returns how many commits `head` has that `base` lacks, and the first files that they change. */
    compare: async (
      repository: LinkedRepository,
      base: string,
      head: string,
    ): Promise<{ aheadBy: number; files: string[] }> => {
      const path = `/compare/${escapeBranch(base)}...${escapeBranch(head)}`
      const found = await callsOf(repository).read({ path, query: { per_page: 1 } }, comparison)
      return { aheadBy: found.ahead_by, files: (found.files ?? []).map(({ filename }) => filename) }
    },
  }
}
