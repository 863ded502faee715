/** A Dock that takes more memory than it has: the largest process is ended, and the Dock lives on. */
import { expect, it } from 'vitest'
import { createDock, exec, run } from './support/dock.ts'
import { useServer } from './support/use-server.ts'

const server = useServer()

const alertsOf = async (id: string): Promise<string[]> => {
  const { notifications } = await server.client.call('listNotifications', { query: {} })
  return notifications.filter(({ dockId }) => dockId === id).map(({ type }) => type)
}

it.each([
  { hog: 'a process', program: '$hog = "x" x (1 << 30);' },
  {
    // A file in memory is no process's, but the sandbox's own.
    hog: 'a file in memory',
    program: `$name = "hog"; $file = syscall(319, $name, 0); $part = "x" x (1 << 20);
      open(HOG, ">&=", $file); syswrite(HOG, $part) or die $! for 1 .. 1024;`,
  },
])('lives on when $hog takes all memory, and the command and its owner learn why', async ({ program }) => {
  const dock = await createDock(server, { memoryMiB: 512 })
  await run(server, dock.id, 'echo what is kept >/dev/shm/kept')
  const ended = await exec(server, dock.id, `perl -e '${program} print "all of it"'`)
  expect(ended).toMatchObject({ exitCode: 137, stdout: '' })
  expect(ended.stderr).toMatch(/(^|\n)dock: \S+ was ended because the Dock ran out of memory \(512 MiB\)\n$/)
  // In memory: the sandbox is the same.
  expect(await run(server, dock.id, 'cat /dev/shm/kept')).toBe('what is kept\n')
  expect(await alertsOf(dock.id)).toEqual([])
})
