import { expect, it } from 'vitest'
import { dockText } from './dock-text.ts'
import { agentError } from './messages.ts'
import { clonedRepositories } from './repository-messages.ts'
import { setupOutcome } from './setup-messages.ts'

const said = (text: string) => dockText(100).parse(text)

it('keeps lines, tabs and all scripts, and replaces what a terminal or the database cannot handle', () => {
  expect(said('año\t日本 👩‍👩‍👧 \r\nעברית')).toBe('año\t日本 👩‍👩‍👧 \r\nעברית')
  expect(said('a\0b')).toBe('a\ufffdb')
  expect(said('\u001b[1;31mred\u001b[0m, \u001b]0;title\u0007')).toBe('red, \ufffd]0;title\ufffd')
  expect(said('\ud800 and \udc00')).toBe('\ufffd and \ufffd')
  expect(said('invoice\u202efdp.exe')).toBe('invoice\ufffdfdp.exe')
})

it('truncates text, replacing a surrogate pair that is cut in half', () => {
  expect(said(`${'x'.repeat(99)}👩`)).toBe(`${'x'.repeat(99)}\ufffd`)
})

it('applies to the output of setup scripts, clone failures and refusals', () => {
  const outcome = { exitCode: 1, timedOut: false, output: 'a\0b' }
  expect(setupOutcome.parse(outcome).output).toBe('a\ufffdb')
  const failed = [{ id: '6ba7b810-9dad-41d1-80b4-00c04fd430c8', reason: 'a\0b' }]
  expect(clonedRepositories.parse({ failed, cloned: [], toSetUp: [] }).failed[0]?.reason).toBe('a\ufffdb')
  expect(agentError.parse({ code: 'failed', message: 'a\0b' }).message).toBe('a\ufffdb')
})
