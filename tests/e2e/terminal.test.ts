import type { Dock } from '@dock/contract'
import { afterEach, beforeAll, describe, expect, it } from 'vitest'
import { createDock, run } from './support/dock.ts'
import { openScreen, type Screen } from './support/terminal.ts'
import { freshName, useServer } from './support/use-server.ts'

const server = useServer()
let dock: Dock
beforeAll(async () => {
  dock = await createDock(server, { name: freshName('terminal') })
  await run(server, dock.id, 'seq 1 1000 >numbers; echo first >note')
})
const screens: Screen[] = []
const open = async (dockId = dock.id): Promise<Screen> => {
  const screen = await openScreen(server, dockId)
  screens.push(screen)
  return screen
}
afterEach(async () => {
  const left = screens.splice(0)
  for (const screen of left) screen.close()
  await Promise.all(left.map(({ closed }) => closed))
})
const shows = (text: string | RegExp) => (lines: string[]) =>
  lines.some((line) => (typeof text === 'string' ? line.includes(text) : text.test(line)))
const prompt = (lines: string[]) => lines.findLast((line) => line !== '')?.endsWith('$') ?? false

describe('a terminal', () => {
  it('is a login shell of the user in the work folder, with the right terminal size', async () => {
    const screen = await open()
    await screen.until(prompt, 'a prompt')
    screen.type('echo "$(id -un) $PWD $TERM $(stty size)"\r')
    await screen.until(shows('user /home/user/work xterm-256color 24 80'), 'user, folder, terminal and size')
    screen.resize(100, 30)
    screen.type(
      'clear; until [ "$(stty size)" = "30 100" ]; do :; done; tty; echo resized-"$LINES"x"$COLUMNS"\r',
    )
    await screen.until(shows('resized-30x100'), 'the new size')
    expect(screen.lines().join('\n')).toMatch(/\/dev\/pts\/\d/)
    screen.type('exit 3\r')
    expect(await screen.closed).toEqual({ exitCode: 3, code: 1000 })
  })

  it('runs less, including a resize', async () => {
    const screen = await open()
    await screen.until(prompt, 'a prompt')
    screen.type('echo before; less numbers\r')
    await screen.until((lines) => lines[0] === '1' && lines[22] === '23', 'the first page')
    screen.type('G')
    await screen.until((lines) => lines[22] === '1000' && lines[0] === '978', 'the last page')
    screen.resize(60, 40)
    await screen.until((lines) => /^(:|\(END\))/.test(lines[39] ?? ''), 'a taller page')
    screen.type('g')
    await screen.until((lines) => lines[0] === '1' && lines[38] === '39', 'its beginning')
    screen.type('q')
    await screen.until(shows('before'), 'what was there before')
  })

  it('runs vim', async () => {
    const screen = await open()
    await screen.until(prompt, 'a prompt')
    screen.type('echo before; vim note\r')
    await screen.until((lines) => lines[0] === 'first' && lines[1] === '~', 'the file')
    screen.type('osecond ünï\x1b')
    await screen.until((lines) => lines[1] === 'second ünï', 'a second line')
    screen.resize(100, 30)
    await screen.until((lines) => lines[27] === '~', 'a taller window')
    screen.type(':wq\r')
    await screen.until(shows('before'), 'what was there before')
    expect(await run(server, dock.id, 'cat note')).toBe('first\nsecond ünï\n')
  })

  it('runs htop', async () => {
    const screen = await open()
    await screen.until(prompt, 'a prompt')
    screen.type('htop\r')
    await screen.until(shows(/PID.*USER/), 'its table')
    await screen.until(shows(/\d user .*htop/), 'itself in the table')
    await screen.until((lines) => /F1Help/.test(lines.at(-1) ?? ''), 'its keys at the bottom')
    screen.resize(100, 30)
    await screen.until((lines) => /F1Help/.test(lines[29] ?? ''), 'a taller screen')
    screen.type('q')
    await screen.until(prompt, 'a prompt')
  })

  it('runs tmux, whose session survives the end of the terminal', async () => {
    const first = await open()
    await first.until(prompt, 'a prompt')
    first.type('tmux new -s work\r')
    await first.until((lines) => /^\[work\]/.test(lines.at(-1) ?? ''), 'the line at the bottom')
    first.type('echo kept-$((40 + 2))\r')
    await first.until(shows('kept-42'), 'output in its window')
    first.type('\x02%')
    await first.until((lines) => lines.slice(0, 20).every((line) => line[40] === '│'), 'two panes')
    first.close()
    await first.closed
    const second = await open()
    await second.until(prompt, 'a prompt')
    second.type('tmux attach -t work\r')
    await second.until(shows('kept-42'), 'the same window')
    await run(server, dock.id, 'tmux kill-server')
    await second.until((lines) => !lines.some((line) => line.includes('│')), 'the shell before it')
  })

  it('passes ^C to the running program, and survives a flood of output', async () => {
    const screen = await open()
    await screen.until(prompt, 'a prompt')
    // The program prints the word itself, so that ^C is typed only when the program has the terminal.
    screen.type('sh -c \'echo wait"ing"; exec sleep 1000\'\r')
    await screen.until((lines) => lines.includes('waiting'), 'a command that waits')
    screen.type('\x03')
    await screen.until(prompt, 'a prompt again')
    screen.type('echo code-$?\r')
    await screen.until(shows('code-130'), 'that it was interrupted')
    screen.type('yes flood\r')
    await screen.until((lines) => lines.slice(0, 20).every((line) => line === 'flood'), 'a flood')
    screen.type('\x03')
    await screen.until(prompt, 'a prompt again')
    screen.type('clear; echo still-$((40 + 2))\r')
    await screen.until(shows('still-42'), 'a shell that responds')
  })

  it('is limited to four per Dock, and is hung up when its Dock stops', async () => {
    const { id } = await createDock(server, { name: freshName('four-terminals') })
    for (let count = 0; count < 4; count += 1) await open(id)
    await expect(open(id)).rejects.toMatchObject({ code: 'rate_limited', status: 429 })
    await screens[0]?.until(prompt, 'a prompt')
    screens[0]?.type("trap 'echo hup >/home/user/hung; exit' HUP; echo set-$((1 + 1))\r")
    await screens[0]?.until(shows('set-2'), 'that the shell waits for a hang-up')
    await server.client.call('stopDock', { params: { id }, body: {} })
    for (const screen of screens) expect(await screen.closed).toEqual({ exitCode: null, code: 4002 })
    await expect(open(id)).rejects.toMatchObject({ code: 'dock_not_running' })
    await server.client.call('resumeDock', { params: { id }, body: {} })
    expect(await run(server, id, 'cat /home/user/hung')).toBe('hup\n')
  })
})
