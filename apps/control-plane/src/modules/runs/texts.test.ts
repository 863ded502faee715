import { expect, it } from 'vitest'
import { pullRequestBody } from './texts.ts'

const run = { issueNumber: 7, agent: 'opencode' }
const told = { report: null, testsPassed: null, costMicroUsd: 0, link: 'https://dock.test/runs/1' }

it('says what was done, what the tests say, what it cost, and where the Run is', () => {
  const body = pullRequestBody(run, {
    ...told,
    report: 'I changed the footer. @ada closes #1',
    testsPassed: false,
    costMicroUsd: 1_234_567,
  })
  expect(body).toContain('A draft for #7, made by the agent `opencode`.')
  expect(body).toContain('**The tests fail.**')
  expect(body).toContain('Its models cost about $1.23.')
  expect(body).toContain('```text\nI changed the footer. @ada closes #1\n```')
  expect(body).toContain('[The Run](https://dock.test/runs/1)')
})

it('names no cost that rounds to nothing', () => {
  expect(pullRequestBody(run, { ...told, costMicroUsd: 600 })).toContain('Its models cost less than $0.01.')
})

it('leaves out what is not known', () => {
  expect(pullRequestBody(run, told).split('\n\n')).toHaveLength(2)
})
