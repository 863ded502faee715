import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { parseConfiguration, readSettings } from './settings.ts'

let dataDir: string
beforeEach(async () => {
  dataDir = await mkdtemp(join(tmpdir(), 'dock-settings-'))
})
afterEach(() => rm(dataDir, { recursive: true }))

describe('settings', () => {
  it('come from config.env, and environment variables override it', async () => {
    await writeFile(
      join(dataDir, 'config.env'),
      '# chosen by script/server\nDEFAULT_IMAGE=debian-13\nPORT=9000\n',
    )
    const settings = await readSettings({ DOCK_DATA_DIR: dataDir, PORT: '9100' }, '/checkout')
    expect(settings).toMatchObject({
      port: 9100,
      bind: '127.0.0.1',
      embeddedHost: true,
      controlDir: `${dataDir}/control`,
    })
    expect(settings.environment['DEFAULT_IMAGE']).toBe('debian-13')
  })

  it('keep socket paths short whatever the length of the data folder', async () => {
    const settings = await readSettings({ DOCK_DATA_DIR: `/root/${'long/'.repeat(60)}` }, '/checkout')
    expect(settings.viewDir.length).toBeLessThan(30)
  })

  it('refuse an invalid port', async () => {
    await expect(readSettings({ DOCK_DATA_DIR: dataDir, PORT: 'http' }, '/checkout')).rejects.toThrow(
      /PORT must be/,
    )
  })

  it('have an SSH port, which the operator may choose or turn off', async () => {
    const sshOf = async (port?: string) =>
      (await readSettings({ DOCK_DATA_DIR: dataDir, ...(port ? { DOCK_SSH_PORT: port } : {}) }, '/checkout'))
        .ssh
    expect(await sshOf()).toEqual({ port: 2222, isChosen: false })
    expect(await sshOf('2222')).toEqual({ port: 2222, isChosen: true })
    expect(await sshOf('off')).toBeNull()
    await expect(sshOf('ssh')).rejects.toThrow(
      "DOCK_SSH_PORT must be a number from 1 to 65535, or off, not 'ssh'.",
    )
  })

  it('pass on the text of plans.json, or of the file that is named instead', async () => {
    expect((await readSettings({ DOCK_DATA_DIR: dataDir }, '/checkout')).plans).toBeUndefined()
    await writeFile(join(dataDir, 'plans.json'), 'plans')
    expect((await readSettings({ DOCK_DATA_DIR: dataDir }, '/checkout')).plans).toBe('plans')
    const named = { DOCK_DATA_DIR: dataDir, DOCK_PLANS_FILE: join(dataDir, 'other.json') }
    await expect(readSettings(named, '/checkout')).rejects.toThrow(
      /DOCK_PLANS_FILE: cannot read .*other\.json/,
    )
    await writeFile(named.DOCK_PLANS_FILE, 'x'.repeat(100_001))
    await expect(readSettings(named, '/checkout')).rejects.toThrow(/larger than 100000 bytes/)
  })

  it('take a value literally, including = signs', () => {
    expect(parseConfiguration('SMTP_URL=smtp://a?b=c \n#X=1\n')).toEqual({ SMTP_URL: 'smtp://a?b=c' })
  })
})
