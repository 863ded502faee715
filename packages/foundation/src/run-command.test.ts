import { runWithFewDescriptors } from '@dock/testkit/src/run-with-few-descriptors.ts'
import { describe, expect, it } from 'vitest'
import { runCommand, tryCommand } from './run-command.ts'

describe('a host program', () => {
  it('gets its arguments unchanged, without a shell', async () => {
    expect(await runCommand('printf', ['%s', '$(id) ; `id` "x"'])).toBe('$(id) ; `id` "x"')
  })

  it('reads its input, and returns exit code and output', async () => {
    expect(await tryCommand('sh', ['-c', 'cat; echo bad >&2; exit 3'], { input: 'in' })).toEqual({
      code: 3,
      stdout: 'in',
      stderr: 'bad\n',
    })
  })

  it('throws with its standard error when it fails', async () => {
    await expect(runCommand('sh', ['-c', 'echo why >&2; exit 1'])).rejects.toThrow(/exit 1: why/)
  })

  it('is killed when its output exceeds the limit', async () => {
    const { code, stdout, stderr } = await tryCommand('yes', [], { outputBytesMax: 1_000_000 })
    expect(code).toBe(128)
    expect(stdout.length).toBeLessThanOrEqual(1_000_000)
    expect(stderr).toContain('SIGKILL')
  })

  it('rejects when the program does not exist', async () => {
    await expect(runCommand('/no/such/program', [])).rejects.toThrow(/ENOENT/)
  })

  it('rejects when no descriptor is left, and ends no process', async () => {
    const outcome = await runWithFewDescriptors(`
      const { tryCommand } = await import('${new URL('./run-command.ts', import.meta.url)}')
      await tryCommand('true', [])
      openAll()
      await tryCommand('true', []).catch(() => console.log('rejected'))
      setTimeout(() => console.log('alive'), 100)`)
    expect(outcome).toEqual({ code: 0, printed: 'rejected\nalive\n' })
  })
})
