import { dockStates, isReadyDockState } from '@dock/contract'
import { describe, expect, it } from 'vitest'
import { problemAnswer, problemOfState, problems } from './problem-page.ts'

describe('the page of a Dock', () => {
  it.each(dockStates)('in the state %s says so unless the Dock serves ports', (state) => {
    const problem = problemOfState(state)
    expect(problem === undefined).toBe(isReadyDockState(state))
    if (!problem) return
    const { status, headers, body } = problemAnswer(problem, 'application/json')
    const parsed = JSON.parse(body)
    expect(parsed).toEqual({ ok: false, code: problem.code, message: expect.any(String), state })
    expect([502, 503]).toContain(status)
    expect(headers['content-length']).toBe(String(Buffer.byteLength(body)))
  })

  it('that is starting asks to come back, and one that is stopped says how it does', () => {
    expect(problemAnswer(problemOfState('cloning')!, undefined)).toMatchObject({
      status: 503,
      headers: { 'retry-after': '5' },
    })
    expect(problemAnswer(problemOfState('archived')!, undefined).body).toContain('dock resume')
  })
})

it.each([
  ['application/json', 'application/json'],
  ['application/problem+json', 'application/json'],
  ['application/json, text/plain, */*', 'application/json'],
  ['text/html,application/xhtml+xml,application/json;q=0.9', 'text/html'],
  ['application/jsonx', 'text/plain'],
  ['*/*', 'text/plain'],
  [undefined, 'text/plain'],
])('a client that accepts %s gets %s', (accept, type) => {
  expect(problemAnswer(problems.notListening, accept).headers['content-type']).toBe(`${type}; charset=utf-8`)
})
