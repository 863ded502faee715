/** When a Dock runs out of memory, its largest process is killed, and the Dock keeps running. */
import { expect, it } from 'vitest'
import { createDock, exec, run } from './support/dock.ts'
import { useServer } from './support/use-server.ts'

const server = useServer()

const alertsOf = async (id: string): Promise<string[]> => {
  const { notifications } = await server.client.call('listNotifications', { query: {} })
  return notifications.filter(({ dockId }) => dockId === id).map(({ type }) => type)
}

/** Between two MiB. A program that takes memory as fast as it can races the guard: script/prove memory counts that race. */
const pause = 'select undef, undef, undef, 0.005'

it.each([
  {
    hog: 'a process',
    program: `while (length $hog < 1 << 30) { $hog .= "x" x (1 << 20); ${pause} }`,
  },
  {
    // A memfd belongs to the sandbox instead of a process.
    hog: 'a file in memory',
    program: `$name = "hog"; $file = syscall(319, $name, 0); $part = "x" x (1 << 20);
      open(HOG, ">&=", $file); for (1 .. 1024) { syswrite(HOG, $part) or die $!; ${pause} }`,
  },
])(
  'a Dock keeps running when $hog takes all memory, and the command and its owner learn why',
  async ({ program }) => {
    const dock = await createDock(server, { memoryMiB: 512 })
    await run(server, dock.id, 'echo what is kept >/dev/shm/kept')
    const ended = await exec(server, dock.id, `perl -e '${program} print "all of it"'`)
    expect(ended).toMatchObject({ exitCode: 137, stdout: '' })
    expect(ended.stderr).toMatch(
      /(^|\n)dock: \S+ was ended because the Dock ran out of memory \(512 MiB\)\n$/,
    )
    // The file is in memory, so the sandbox was not restarted.
    expect(await run(server, dock.id, 'cat /dev/shm/kept')).toBe('what is kept\n')
    expect(await alertsOf(dock.id)).toEqual([])
  },
)
