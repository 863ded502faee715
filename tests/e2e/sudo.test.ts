/** `sudo` in a Dock, on every runtime: whom it runs as, and signals to what it runs. */
import { beforeAll, expect, it } from 'vitest'
import { createDock, run } from './support/dock.ts'
import { openScreen } from './support/terminal.ts'
import { useServer } from './support/use-server.ts'

const server = useServer()
let dock: Awaited<ReturnType<typeof createDock>>
const inDock = (command: string) => run(server, dock.id, command)

/** Emulated machines take seconds to start a program. */
const untilRuns = (seconds: number): string =>
  `until pgrep -x -f "sleep ${seconds}" >/dev/null; do sleep 0.1; done`
const untilState = (letter: string, seconds: number): string =>
  `for try in {1..100}; do state=$(ps -o stat= -p $(pgrep -x -f "sleep ${seconds}") | cut -c1); [[ $state = ${letter} ]] && break; sleep 0.1; done; echo $state`

beforeAll(async () => {
  dock = await createDock(server)
})

it('runs as root and others, and keeps of the environment what it should', async () => {
  expect(await inDock('sudo -n id -u; /usr/bin/sudo id -u; sudo -u nobody id -un')).toBe('0\n0\nnobody\n')
  const told = `sudo sh -c 'echo "$HOME $USER $LOGNAME $SHELL $SUDO_USER $SUDO_UID [$PROOF] $https_proxy $DEBIAN_FRONTEND"; pwd'`
  expect(await inDock(`export PROOF=1 https_proxy=there DEBIAN_FRONTEND=teletype; cd /srv; ${told}`)).toBe(
    '/root root root /bin/bash user 1000 [] there teletype\n/srv\n',
  )
  expect(await inDock(`PROOF=kept sudo -E printenv PROOF; sudo PROOF=set printenv PROOF; sudo -i pwd`)).toBe(
    'kept\nset\n/root\n',
  )
  expect(await inDock('sudo printenv LC_CTYPE PATH')).toBe(
    'C.UTF-8\n/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin\n',
  )
})

it('passes signals on through sudo', async () => {
  const left = 'sleep 0.3; ps -eo args | grep -c "^sleep 500[0-9]" || true'
  expect(await inDock(`timeout 1 sudo sleep 5005; echo $?; ${left}`)).toBe('124\n0\n')
  expect(await inDock(`sudo sleep 5006 & ${untilRuns(5006)}; kill $!; wait $!; echo $?; ${left}`)).toBe(
    '143\n0\n',
  )
  const handled = `sudo bash -c 'trap "echo got; exit 5" USR1; : >/tmp/ready; while :; do sleep 0.1; done' &`
  const untilReady = 'until [[ -e /tmp/ready ]]; do sleep 0.1; done'
  expect(await inDock(`${handled} ${untilReady}; kill -USR1 $!; wait $!; echo $?`)).toBe('got\n5\n')
  expect(
    await inDock('sudo sh -c "exit 7"; echo $?; sudo sh -c \'kill -KILL $$\'; echo $?; echo in | sudo cat'),
  ).toBe('7\n137\nin\n')
})

it('passes on a signal through sudo that another one follows at once', async () => {
  // A lost signal shows as 137 after 20 s. Passing one on takes seven programs, which took over 3 s on a loaded machine.
  const each = 'timeout -k 20 1 sudo sleep 5004; echo $?'
  const left = 'sleep 0.3; ps -eo args | grep -c "^sleep 5004" || true'
  expect(await inDock(`for i in 1 2 3 4 5 6 7 8; do ${each}; done; ${left}`)).toBe(`${'124\n'.repeat(8)}0\n`)
})

// Without a terminal, a kernel of its own stops no process by TSTP: nobody could continue it.
it.skipIf(process.env.DOCK_RUNTIME === 'microvm')(
  'passes on to what sudo runs that it is to stop',
  async () => {
    // It stops what it runs before itself, and a CONT between the two would be lost.
    const untilStopped = 'until [[ $(ps -o stat= -p $!) = T* ]]; do sleep 0.1; done'
    const steps = [untilRuns(5003), 'kill -TSTP $!', untilState('T', 5003), untilStopped]
    const all = [...steps, 'kill -CONT $!', untilState('S', 5003), 'kill $!', 'wait $!', 'echo $?']
    expect(await inDock(`sudo sleep 5003 & ${all.join('; ')}`)).toBe('T\nS\n143\n')
  },
)

it('waits for what sudo runs while it is stopped', async () => {
  const stopped = `sudo bash -c 'kill -STOP $$; echo went on' &`
  const untilStopped = `until ps -eo stat,args | grep -q '^T.*bash -c kill -STO[P]'; do sleep 0.1; done`
  expect(await inDock(`${stopped} ${untilStopped}; sudo pkill -CONT -f 'went on'; wait $!; echo $?`)).toBe(
    'went on\n0\n',
  )
})

it('ends what sudo runs at Ctrl-C', async () => {
  const screen = await openScreen(server, dock.id)
  screen.type('sudo sleep 5007\r')
  const count = 'ps -eo args | grep -c "^sleep 5007" || true'
  await expect.poll(() => inDock(count), { timeout: 20_000 }).toBe('1\n')
  screen.type('\u0003')
  await expect.poll(() => inDock(count), { timeout: 20_000 }).toBe('0\n')
  screen.type('echo "co"de $?\r')
  await screen.until((lines) => lines.some((line) => line.includes('code 130')), 'code 130')
  screen.close()
})
