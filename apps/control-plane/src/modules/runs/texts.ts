/** What people read at GitHub about a Run. Text of agents is quoted, so that it starts no mention and closes no issue. */
import type { RunRow } from './run-store.ts'

const reportLengthMax = 4_000

const stateTexts = {
  pr_opened: 'Dock opened a pull request.',
  done: 'Dock finished, and there is nothing to change.',
  merged: 'The pull request was merged.',
  stopped: 'Dock stopped.',
  failed: 'Dock could not finish its work.',
} as const

const testText = (testsPassed: boolean | null): string | null =>
  testsPassed === null ? null : testsPassed ? 'The tests pass.' : '**The tests fail.**'

/** Returns the text as a block of code, whatever it holds. */
const quoted = (text: string): string => {
  const fence = '`'.repeat(Math.max(3, ...[...text.matchAll(/`+/g)].map(([run]) => run.length + 1)))
  return `${fence}text\n${text.slice(0, reportLengthMax)}\n${fence}`
}

/** Prices are estimates, so nobody needs parts of a cent. */
const amountOf = (microUsd: number): string =>
  microUsd < 10_000 ? 'less than $0.01' : `about $${(microUsd / 1e6).toFixed(2)}`

/** Returns the status comment of a turn that has ended. */
export function statusComment(told: {
  state: keyof typeof stateTexts
  reason: string | null
  pullRequest: number | null
  testsPassed: boolean | null
}): string {
  const { state, reason, pullRequest, testsPassed } = told
  return [
    stateTexts[state],
    ...(pullRequest === null ? [] : [`Pull request: #${pullRequest}.`]),
    ...(state === 'pr_opened' && testsPassed !== null ? [testText(testsPassed)] : []),
    ...(reason === null ? [] : [`\n${quoted(reason)}`]),
  ].join(' ')
}

/** Returns the description of the pull request. */
export function pullRequestBody(
  run: Pick<RunRow, 'issueNumber' | 'agent'>,
  told: { report: string | null; testsPassed: boolean | null; costMicroUsd: number; link: string },
): string {
  const { report, testsPassed, costMicroUsd, link } = told
  return [
    `A draft for #${run.issueNumber}, made by the agent \`${run.agent}\`. Review it like the work of a stranger.`,
    ...(testsPassed === null ? [] : [testText(testsPassed)]),
    ...(costMicroUsd === 0 ? [] : [`Its models cost ${amountOf(costMicroUsd)}.`]),
    ...(report === null ? [] : ['What the agent says about its work:', quoted(report)]),
    `[The Run](${link})`,
  ].join('\n\n')
}
