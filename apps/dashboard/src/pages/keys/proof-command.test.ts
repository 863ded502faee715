import { execFileSync } from 'node:child_process'
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { proofCommand } from './proof-command.ts'

it('signs the challenge, whatever is in it, and leaves no file behind', () => {
  const folder = mkdtempSync(join(tmpdir(), 'dock-proof-command-'))
  try {
    const challenge = "dock-ssh-key v1 account=o'neil%s@example.test $(touch hacked) nonce=x"
    execFileSync('ssh-keygen', ['-q', '-t', 'ed25519', '-N', '', '-f', join(folder, 'key')])
    const command = proofCommand({ challenge, namespace: 'dock-ssh-key@v1' }).replace(
      '~/.ssh/id_ed25519',
      join(folder, 'key'),
    )
    const signature = execFileSync('sh', ['-c', command], {
      cwd: folder,
      stdio: ['ignore', 'pipe', 'ignore'],
    })
    expect(readdirSync(folder).sort()).toEqual(['key', 'key.pub'])
    const allowed = join(folder, 'allowed')
    const [type, key] = readFileSync(join(folder, 'key.pub'), 'utf8').split(' ')
    execFileSync('sh', ['-c', `echo "me ${type} ${key}" >allowed; cat >sig`], {
      cwd: folder,
      input: signature,
    })
    const check = [
      '-Y',
      'verify',
      '-f',
      allowed,
      '-I',
      'me',
      '-n',
      'dock-ssh-key@v1',
      '-s',
      join(folder, 'sig'),
    ]
    expect(execFileSync('ssh-keygen', check, { input: challenge }).toString()).toContain('Good')
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
})
