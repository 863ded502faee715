/** What the agent gets as its standard input: JSON, so that text of the issue is data and nothing else. */
import type { RunRow } from '../run-store.ts'
import type { TurnRow } from '../turn-store.ts'

export const promptVersion = '2'

/** The pull request quotes the report. Without changes it is the answer. */
const reportTask =
  'Before you end, say in a few sentences what you did, or your answer if nothing has to be changed: pass this text to the standard input of `curl -sS --data-binary @- "$RUN_DOOR/report"`.'

/** Text of outsiders is left out of later turns: the machine may hold what the Environment passes. */
export function writePrompt(run: RunRow, turn: TurnRow): Buffer {
  const { title, body, comments } = turn.text
  const isFirst = turn.number === 1
  const shown = comments.filter(({ isOutsider }) => isFirst || !isOutsider)
  return Buffer.from(
    JSON.stringify({
      promptVersion,
      task: isFirst
        ? 'Work on the issue as the instruction says. Commit your work to the branch. The platform pushes it and opens a draft pull request.'
        : 'A reviewer of your pull request asks for changes. Follow the instruction, and commit your work to the same branch.',
      rules: 'If the repository has a file AGENTS.md or CLAUDE.md, read it before you begin.',
      report: reportTask,
      repository: run.repo,
      branch: run.branch,
      baseBranch: run.baseBranch,
      baseCommit: run.baseCommit,
      instruction: turn.instruction,
      ...(run.testCommand === null ? {} : { testCommand: run.testCommand }),
      ...(run.prNumber === null ? {} : { pullRequest: run.prNumber }),
      issue: {
        number: run.issueNumber,
        title,
        ...(isFirst || !body.isOutsider ? { author: body.author, body: body.body } : {}),
      },
      comments: shown.map(({ author, createdAt, body: text }) => ({ author, createdAt, body: text })),
    }),
  )
}
