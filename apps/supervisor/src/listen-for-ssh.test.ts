import { closeSync } from 'node:fs'
import { expect, it } from 'vitest'
import { listenForSsh, sshCommand } from './listen-for-ssh.ts'
import { readSettings } from './settings.ts'

/** A port that this test's process can listen on. */
const port = 20_000 + (process.pid % 10_000)

it('fails if the chosen port is taken, and turns SSH off with a notice if nobody chose it', async () => {
  const bind = '127.0.0.1'
  const first = await listenForSsh({ bind, ssh: { port, isChosen: true } })
  expect(first.notices).toEqual([])
  try {
    await expect(listenForSsh({ bind, ssh: { port, isChosen: true } })).rejects.toThrow(/DOCK_SSH_PORT=2223/)
    expect(await listenForSsh({ bind, ssh: { port, isChosen: false } })).toEqual({
      descriptor: undefined,
      notices: [expect.stringContaining(`port ${port} is taken`)],
    })
  } finally {
    closeSync(first.descriptor!)
  }
  expect(await listenForSsh({ bind, ssh: null })).toEqual({ descriptor: undefined, notices: [] })
})

it('names the host of the public address in the command', async () => {
  const commandOf = async (environment: Record<string, string>): Promise<string> =>
    sshCommand(await readSettings({ DOCK_DATA_DIR: '/nonexistent', ...environment }, '/checkout'))
  expect(await commandOf({})).toBe('ssh -p 2222 NAME@127.0.0.1')
  expect(await commandOf({ DOCK_PUBLIC_URL: 'https://dock.example:8443/', DOCK_SSH_PORT: '22' })).toBe(
    'ssh NAME@dock.example',
  )
})
