/**
 * Shows what the command line promises and a test cannot: completion in bash, zsh and fish, as a person types it in a
 * terminal, also for the name of a Dock that would run a program, and the times of its start. Installs tmux, zsh and fish.
 */
import { execFile } from 'node:child_process'
import { access, mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { createDock } from '../e2e/support/dock.ts'
import { type Cli, createCli } from '../e2e/support/run-cli.ts'
import { freePort, newDataDir, removeDataDir, startServer } from '../e2e/support/server.ts'

const run = promisify(execFile)
const checkout = new URL('../../', import.meta.url).pathname

let failed = 0
const check = (name: string, isGood: boolean, detail: string): void => {
  if (!isGood) failed += 1
  console.log(`${isGood ? 'good' : 'FAILED'}  ${name}: ${detail}`)
}

const shells = {
  bash: { words: ['bash', '--norc'], load: 'eval "$(dock completion bash)"' },
  zsh: { words: ['zsh', '-f'], load: 'eval "$(dock completion zsh)"' },
  fish: { words: ['fish', '--no-config'], load: 'dock completion fish | source' },
}

/** A terminal in which a shell runs. */
const openShell = async (cli: Cli, name: keyof typeof shells) => {
  const socket = join(cli.folder, `tmux-${name}`)
  const tmux = async (...args: string[]): Promise<string> =>
    (await run('tmux', ['-S', socket, '-f', '/dev/null', ...args], { env: { ...cli.env, TERM: 'xterm' } }))
      .stdout
  await tmux(
    'new-session',
    '-d',
    '-x',
    '150',
    '-y',
    '30',
    '-c',
    join(cli.folder, 'work'),
    ...shells[name].words,
  )
  const until = async (wanted: RegExp): Promise<string> => {
    for (let attempt = 0; ; attempt++) {
      const screen = await tmux('capture-pane', '-p', '-J')
      if (wanted.test(screen) || attempt > 150) return screen
      await new Promise((resolve) => setTimeout(resolve, 100))
    }
  }
  const type = (text: string): Promise<string> => tmux('send-keys', '-l', text)
  const key = (each: string): Promise<string> => tmux('send-keys', each)
  await type(
    `${shells[name].load}; echo loaded-$((1 + 1))`.replace(
      '$((1 + 1))',
      name === 'fish' ? '(math 1 + 1)' : '$((1 + 1))',
    ),
  )
  await key('Enter')
  await until(/loaded-2/)
  return { type, key, until, close: () => tmux('kill-server') }
}

const proveCompletion = async (cli: Cli, name: keyof typeof shells, trap: string): Promise<void> => {
  const shell = await openShell(cli, name)
  try {
    for (const [typed, wanted] of [
      ['dock snap', /dock snapshot /],
      ['dock show unmist', /dock show unmistakable/],
      ['dock show --js', /dock show --json/],
    ] as const) {
      await shell.type(typed)
      await shell.key('Tab')
      const screen = await shell.until(wanted)
      check(`${name} completes "${typed}"`, wanted.test(screen), screen.trim().split('\n').at(-1) ?? '')
      await shell.key('C-u')
    }
    await shell.type('dock show trap')
    await shell.key('Tab')
    const screen = await shell.until(/trap\S*touch/)
    // Also the line that is inserted must be harmless.
    await shell.key('Enter')
    await shell.until(/(no Dock|name +trap)[\s\S]*$/)
    const hasRun = await access(trap).then(
      () => true,
      () => false,
    )
    const line = screen.trim().split('\n').at(-1) ?? ''
    check(`${name} runs nothing that is a name`, !hasRun && /touch/.test(line), line)
  } finally {
    await shell.close().catch(() => undefined)
  }
}

/** The fastest of some rounds: other programs on the machine only add to it. */
const timeOf = async (cli: Cli, words: string[]): Promise<number> => {
  const times: number[] = []
  for (let round = 0; round < 30; round++) {
    const began = performance.now()
    await run(process.execPath, words, { env: cli.env })
    times.push(performance.now() - began)
  }
  return Math.min(...times)
}

/** The limits are 50 and 150 ms where Node itself takes 30; a slow machine gets as much more as Node needs more there. */
const proveSpeed = async (cli: Cli): Promise<void> => {
  const empty = join(cli.folder, 'empty.mjs')
  await writeFile(empty, '')
  const bare = await timeOf(cli, [empty])
  const factor = Math.max(1, bare / 30)
  for (const [words, limit] of [
    [['--version'], 50],
    [['ls'], 150],
  ] as const) {
    const time = await timeOf(cli, [cli.program, ...words])
    const detail = `${time.toFixed(0)} ms, Node alone ${bare.toFixed(0)} ms, limit ${(limit * factor).toFixed(0)} ms`
    check(`dock ${words.join(' ')}`, time <= limit * factor, detail)
  }
}

/** The package, installed as a user installs it, in an empty folder. */
const provePackage = async (cli: Cli): Promise<void> => {
  const [packed, prefix] = [join(cli.folder, 'packed'), join(cli.folder, 'prefix')]
  await mkdir(prefix)
  await run(process.execPath, ['apps/cli/build/main.ts', 'package', packed], { cwd: checkout })
  const { stdout } = await run('npm', ['pack', '--silent'], { cwd: packed, env: cli.env })
  const archive = join(packed, stdout.trim())
  await run('npm', ['install', '--silent', '--offline', '--global', '--prefix', prefix, archive], {
    env: cli.env,
  })
  const version = (await run(join(prefix, 'bin/dock'), ['--version'], { env: cli.env })).stdout.trim()
  const list = await run(join(prefix, 'bin/dock'), ['ls', '--json'], { env: cli.env })
  check('the package', JSON.parse(list.stdout).length > 0, `version ${version}, installed with npm`)
}

await run('script/install/debian-packages', ['tmux', 'zsh', 'fish'], { cwd: checkout })
const dataDir = await newDataDir()
const server = await startServer(dataDir, await freePort())
const cli = await createCli(server.admin)
try {
  const trap = join(cli.folder, 'trap')
  await createDock(server, { name: 'unmistakable' })
  await createDock(server, { name: `trap$(touch ${trap})` })
  for (const name of ['bash', 'zsh', 'fish'] as const) await proveCompletion(cli, name, trap)
  await provePackage(cli)
  await proveSpeed(cli)
} finally {
  await cli.remove()
  await server.interrupt()
  await removeDataDir(dataDir)
}
process.exitCode = failed === 0 ? 0 : 1
