import { execFile } from 'node:child_process'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect, it } from 'vitest'
import { curlLines, greeting, loginLine } from './greeting.ts'

it('prints lines that a shell can run, with the key read from admin.json', async () => {
  const folder = await mkdtemp(join(tmpdir(), "dock it's "))
  const path = join(folder, 'admin.json')
  const admin = {
    baseUrl: 'http://127.0.0.1:8080',
    email: 'admin@dock.localhost',
    password: 'not shown',
    apiKey: 'dock_abc',
    organizationId: 'o',
    workspaceId: 'w',
    image: 'debian-13',
  }
  await writeFile(path, JSON.stringify(admin, null, 2))
  const lines = curlLines(admin.baseUrl, admin, path)
  expect(lines).toHaveLength(3)
  expect(lines.join('\n')).not.toContain(admin.apiKey)
  const script = `curl() { printf '%s\\n' "$@"; }; ${lines[0]}`
  const { stdout } = await promisify(execFile)('bash', ['-c', script])
  expect(stdout).toContain('authorization: Bearer dock_abc\n')
  expect(stdout).toContain('{"workspaceId":"w"}\n')
  const login = loginLine(admin.baseUrl, path)
  expect(login).not.toContain(admin.apiKey)
  const signIn = `dock() { echo "$*"; cat; }; ${login.replace('script/dock', 'dock')}`
  const signedIn = await promisify(execFile)('bash', ['-c', signIn])
  expect(signedIn.stdout).toBe('login http://127.0.0.1:8080 --key\ndock_abc\n')
  await rm(folder, { recursive: true })
})

it('says what will not work', () => {
  const parts = {
    baseUrl: 'https://x',
    admin: undefined,
    adminPath: '/a',
    firstDock: undefined,
    startedInMs: 1,
    sshAddress: null,
  }
  expect(greeting({ ...parts, notices: ['No mail is sent.'] })).toContain(
    '\nNote: No mail is sent.\n\nDock is ready',
  )
  expect(greeting({ ...parts, notices: [] })).not.toContain('Note')
})

it('says how to reach the SSH gateway, if it is on', () => {
  const parts = {
    ...{ baseUrl: 'https://x', admin: undefined, adminPath: '/a', firstDock: undefined },
    ...{ startedInMs: 1, notices: [] },
  }
  const sshAddress = 'ssh -p 2222 NAME@x'
  expect(greeting({ ...parts, sshAddress })).toContain('(script/dock ssh-key add): ssh -p 2222 NAME@x\n')
  expect(greeting({ ...parts, sshAddress: null })).not.toContain('ssh')
})
