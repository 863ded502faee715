/** The words of script/admin. What each verb does is tested where its module is. */
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { tryCommand } from '@dock/foundation'
import { expect, it } from 'vitest'
import { verbs } from './verbs.ts'

const root = join(import.meta.dirname, '../../../..')
/** No database listens there. */
const env = { PATH: process.env['PATH'], DATABASE_URL: 'postgresql://dock@127.0.0.1:1/none' }
const admin = (...words: string[]) => tryCommand(join(root, 'script/admin'), words, { env })

it('lists the verbs, and shows the usage of one', async () => {
  const [list, help] = await Promise.all([admin(), admin('plan', '--help')])
  expect(list.code).toBe(0)
  expect([...list.stdout.matchAll(/^ {2}([a-z-]+) /gm)].map(([, name]) => name)).toEqual([...verbs.keys()])
  expect(help).toMatchObject({
    code: 0,
    stdout: expect.stringMatching(/^usage: script\/admin plan ORGANIZATION \[PLAN\|none\]\n/),
  })
})

it('refuses a verb that does not exist and words that do not fit, with exit code 2', async () => {
  const [unknown, misfit] = await Promise.all([admin('nonsense'), admin('limits')])
  expect(unknown).toMatchObject({ code: 2, stdout: '', stderr: expect.stringContaining('no verb nonsense') })
  expect(misfit).toMatchObject({ code: 2, stdout: '', stderr: expect.stringContaining('usage: ') })
})

it('says what to do if the database does not run', async () => {
  expect(await admin('builders')).toMatchObject({
    code: 1,
    stdout: '',
    stderr: 'builders: Cannot reach the database. Start Dock on this data folder, then try again.\n',
  })
})

const id = '5f0d2b0e-6f0c-4c59-9a49-0a8a1d1f4a11'

it.each([
  ['builders', [[], ['list'], ['add', id], ['remove', id]], [['add'], ['list', id], ['add', id, id], ['x']]],
  ['declare-lost', [[id]], [[], ['here'], [id, id]]],
  ['host-token', [[], ['--builder']], [['now'], ['--builder', 'now']]],
  ['limits', [['acme'], ['acme', 'docks=1', 'cpus=default']], [[]]],
  ['plan', [['acme'], ['acme', 'team']], [[], ['acme', 'team', 'now']]],
  [
    'quarantine',
    [['list'], ['list', '--all'], ['adopt', id], ['adopt', id, '--organization', id], ['delete', id]],
    [[], ['list', id], ['adopt'], ['adopt', 'all'], ['delete', id, id], ['list', '--unheard-of']],
  ],
  ['rotate-keys', [[]], [['all']]],
  ['rotate-ssh-host-keys', [[]], [['all']]],
  ['await-image', [['own'], ['own', 'built:1']], [[], ['own', 'built:1', 'now']]],
  ['remove-image', [['own']], [[], ['own', 'now']]],
] as [string, string[][], string[][]][])('%s takes only the words of its usage', (name, fitting, misfits) => {
  const verb = verbs.get(name)!
  for (const words of fitting) expect(verb.read(words), words.join(' ')).toBeTypeOf('function')
  for (const words of misfits) expect(verb.read(words), words.join(' ')).toBeUndefined()
})

it('loads no other folder before a verb runs', () => {
  for (const file of globSync('*.ts', { cwd: import.meta.dirname })) {
    if (file.endsWith('.test.ts') || file === 'open-sealer.ts') continue
    const source = readFileSync(join(import.meta.dirname, file), 'utf8')
    expect(source, file).not.toMatch(/^import (?!type)[^'"]*'\.\.\//m)
  }
})

it('has its former names for one more release, which say so', async () => {
  const former = globSync('script/*', { cwd: root })
    .map((path) => path.replace('script/', ''))
    .filter((name) => verbs.has(name))
  expect(former.sort()).toEqual([...verbs.keys()].filter((name) => !name.endsWith('-image')).sort())
  const { code, stdout, stderr } = await tryCommand(join(root, 'script/plan'), ['--help'], { env })
  expect([code, stdout, stderr]).toEqual([
    0,
    expect.stringContaining('usage: script/admin plan'),
    expect.stringContaining('script/plan is now script/admin plan.'),
  ])
})
