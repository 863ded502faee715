/** The preparation that runs inside a sandbox before any command. */
import { expect, test } from 'vitest'
import { request, type Subject } from './subject.ts'

export function describePreparation(subject: Subject): void {
  test.runIf(subject.hasShell)('prepare runs inside as root before any command', async () => {
    const prepare = { script: 'echo "$WANTED $EUID" >/run/prepared; return 0', env: { WANTED: 'this' } }
    const prepared = await subject.driver.start({ ...(await subject.makeSpec()), prepare })
    const { stdout } = await subject.driver.exec(
      prepared,
      request('cat /run/prepared; printenv WANTED || echo gone'),
    )
    await subject.driver.destroy(prepared)
    expect(stdout.toString()).toBe('this 0\ngone\n')
  })

  test.runIf(subject.hasShell)(
    'prepare reads its input, and files in the inMemory folder belong to its group',
    async () => {
      const inMemory = { path: '/run/memory', gid: 1000 }
      const script =
        'umask 027; /bin/cat >/run/memory/file; /usr/bin/readlink /proc/$$/fd/0 >/run/memory/input'
      const input = Buffer.from(`${'é'.repeat(100_000)}\nend`)
      const prepare = { script, env: {}, input }
      const prepared = await subject.driver.start({
        ...(await subject.makeSpec()),
        inMemory,
        prepare,
      })
      const look =
        'stat -c %a:%u:%g /run/memory/file; df --output=fstype /run/memory | tail -1; cat /run/memory/file'
      const { stdout } = await subject.driver.exec(prepared, request(look))
      const compare = '[ "$(readlink /proc/1/fd/0)" = "$(cat /run/memory/input)" ] || echo left'
      const { stdout: hasLeft } = await subject.driver.exec(prepared, request(compare))
      await subject.driver.destroy(prepared)
      expect(stdout.toString()).toBe(`640:0:1000\ntmpfs\n${input}`)
      expect(hasLeft.toString()).toBe('left\n')
    },
  )

  test.runIf(subject.hasShell)(
    'a failed preparation fails the start with its reason and leaves nothing behind',
    async () => {
      const prepare = { script: 'echo because >&2; return 12', env: {} }
      const spec = await subject.makeSpec()
      await expect(subject.driver.start({ ...spec, prepare })).rejects.toThrow(/12.*because/)
      const { dockId, generation } = spec
      expect(await subject.driver.list()).not.toContainEqual(expect.objectContaining({ dockId, generation }))
    },
  )
}
