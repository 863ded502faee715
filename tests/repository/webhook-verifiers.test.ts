/** Runs the programs that docs/webhooks.md gives to receivers. */
import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { signBody } from '@dock/control-plane/src/modules/webhooks/sign-delivery.ts'
import { afterAll, describe, expect, it } from 'vitest'

const document = readFileSync(new URL('../../docs/webhooks.md', import.meta.url), 'utf8')
const programIn = (language: string): string => {
  const program = new RegExp(`\`\`\`${language}\\n([\\s\\S]*?)\`\`\``).exec(document)?.[1]
  if (!program) throw new Error(`docs/webhooks.md has no program in ${language}`)
  return program
}

const folder = mkdtempSync(join(tmpdir(), 'dock-verifiers-'))
afterAll(() => rmSync(folder, { recursive: true }))
writeFileSync(join(folder, 'verify.mjs'), programIn('js'))
writeFileSync(join(folder, 'verify.py'), programIn('python'))

type Case = { secret: string; header: string | null; body: string; now: number }
const nodeProgram = `import { isFromDock } from './verify.mjs'
for (const { secret, header, body, now } of JSON.parse(process.argv[1]))
  console.log(isFromDock(secret, header, Buffer.from(body), now))`
const pythonProgram = `import json, sys
from verify import is_from_dock
for c in json.loads(sys.argv[1]):
    print(str(is_from_dock(c["secret"], c["header"], c["body"].encode(), c["now"])).lower())`

const verifiers = {
  Node: (cases: Case[]) =>
    execFileSync(process.execPath, ['--input-type=module', '-e', nodeProgram, JSON.stringify(cases)], {
      cwd: folder,
      encoding: 'utf8',
    }),
  Python: (cases: Case[]) =>
    execFileSync('python3', ['-c', pythonProgram, JSON.stringify(cases)], { cwd: folder, encoding: 'utf8' }),
}

const sentAt = new Date('2026-01-01T00:00:00.000Z')
const seconds = sentAt.getTime() / 1000
const body = '{"id":"ü"}'
const genuine: Case & { header: string } = {
  secret: 'whsec_a',
  body,
  header: signBody(body, ['whsec_a'], sentAt),
  now: seconds + 10,
}
const cases: [string, Case, boolean][] = [
  ['a genuine request', genuine, true],
  ['a request of 300 seconds ago', { ...genuine, now: seconds + 300 }, true],
  ['a request during a rotation', { ...genuine, header: signBody(body, ['new', 'whsec_a'], sentAt) }, true],
  ['another body', { ...genuine, body: '{"id":"u"}' }, false],
  ['another secret', { ...genuine, secret: 'whsec_b' }, false],
  ['an old request', { ...genuine, now: seconds + 301 }, false],
  ['a request of the future', { ...genuine, now: seconds - 301 }, false],
  ['another time', { ...genuine, header: genuine.header.replace(`t=${seconds}`, `t=${seconds + 1}`) }, false],
  ['no signature', { ...genuine, header: `t=${seconds}` }, false],
  ['a missing header', { ...genuine, header: null }, false],
  ['a header that is not ASCII', { ...genuine, header: `t=${seconds},v1=ü` }, false],
  ['a time that is not ASCII', { ...genuine, header: 't=²,v1=00' }, false],
  ['an empty signature', { ...genuine, header: `t=${seconds},v1=` }, false],
  ['no time', { ...genuine, header: genuine.header.replace(/^t=\d+,/, '') }, false],
  ['no header', { ...genuine, header: '' }, false],
]

describe.each(Object.entries(verifiers))('the verifier in %s', (_, verify) => {
  it('accepts genuine requests only', () => {
    const verdicts = verify(cases.map(([, each]) => each))
      .trim()
      .split('\n')
    expect(cases.map(([name], index) => [name, verdicts[index]])).toEqual(
      cases.map(([name, , isGenuine]) => [name, String(isGenuine)]),
    )
  })
})
