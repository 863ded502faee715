/** The package of npm in an empty prefix, used as a person uses it: signs in, carries much, and is interrupted. */
import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { openChromium } from '@dock/testkit'
import { run as runInDock } from '../../e2e/support/dock.ts'
import type { Cli } from '../../e2e/support/run-cli.ts'
import type { Server } from '../../e2e/support/server.ts'
import type { Check } from './check.ts'
import { openTerminal } from './terminal.ts'

const run = promisify(execFile)
const checkout = new URL('../../../', import.meta.url).pathname
const megabytes = 100

/** Packs and installs the package. Returns a command line like `cli` whose `dock` is the installed one. */
export async function installPackage(cli: Cli, check: Check): Promise<Cli> {
  const [packed, prefix] = [join(cli.folder, 'packed'), join(cli.folder, 'prefix')]
  await mkdir(prefix)
  await run(process.execPath, ['apps/cli/build/main.ts', 'package', packed], { cwd: checkout })
  const { stdout } = await run('npm', ['pack', '--silent'], { cwd: packed, env: cli.env })
  const archive = join(packed, stdout.trim())
  await run('npm', ['install', '--silent', '--offline', '--global', '--prefix', prefix, archive], {
    env: cli.env,
  })
  const env = { ...cli.env, PATH: `${join(prefix, 'bin')}:${process.env.PATH}` }
  const version = (await run('dock', ['--version'], { env })).stdout.trim()
  const list = await run('dock', ['ls', '--json'], { env })
  check('the package', JSON.parse(list.stdout).length > 0, `version ${version}, installed with npm`)
  return { ...cli, env }
}

const bash = async (cli: Cli, script: string): Promise<string> =>
  (await run('bash', ['-c', script], { env: cli.env, cwd: join(cli.folder, 'work'), maxBuffer: 2 ** 20 }))
    .stdout

/** Pipes 100 MB into a command of a Dock and back. */
export async function proveBytes(cli: Cli, check: Check, name: string): Promise<void> {
  await bash(cli, `head -c ${megabytes}000000 /dev/urandom >large`)
  for (const [what, script] of [
    ['there and back', `dock exec ${name} -- tee large <large | cmp - large && echo same`],
    ['back', `dock exec -n ${name} -- cat large | cmp - large && echo same`],
  ] as const) {
    const startedAt = performance.now()
    const same = (await bash(cli, `set -o pipefail; ${script}`)) === 'same\n'
    const seconds = ((performance.now() - startedAt) / 1000).toFixed(1)
    check(`${megabytes} MB ${what}, byte for byte`, same, `${seconds} s`)
  }
  await bash(cli, 'rm large')
}

/** Presses Ctrl-C in a terminal. */
export async function proveInterrupt(cli: Cli, server: Server, check: Check, id: string): Promise<void> {
  const terminal = await openTerminal(cli, 'interrupt', ['bash', '--norc'])
  try {
    // What is typed before the prompt is back would be input of the command.
    await terminal.line(`PROMPT_COMMAND='echo "exit $?."'`)
    for (const flags of ['', '-t ']) {
      await terminal.line(`clear; dock exec ${flags}${id} -- bash -c 'echo go-$((1 + 1)); sleep 4321'`)
      await terminal.until(/go-2/)
      await terminal.key('C-c')
      const screen = await terminal.until(/go-2[\s\S]*exit \d+\./)
      const left = await runInDock(server, id, 'pgrep -f "sleep 4[3]21" || echo none')
      const code = /go-2[\s\S]*exit (\d+)\./.exec(screen)?.[1]
      check(
        `Ctrl-C ends dock exec ${flags}and its command`,
        left === 'none\n' && code === '130',
        `exit ${code}`,
      )
    }
  } finally {
    await terminal.close()
  }
}

/** Signs in by a code that is confirmed in Chromium. */
export async function proveLogin(cli: Cli, { admin }: Server, check: Check): Promise<void> {
  const home = join(cli.folder, 'signed-in')
  await mkdir(home)
  const { DOCK_URL: _url, DOCK_API_KEY: _key, ...rest } = cli.env
  const env = { ...rest, HOME: home }
  const child = spawn('dock', ['login', admin.baseUrl], { env, stdio: ['ignore', 'pipe', 'pipe'] })
  const ended = once(child, 'close')
  let [said, result] = ['', '']
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    result += text
  })
  const code = await new Promise<string>((resolve) =>
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      said += text
      const found = /code: (\S+)\n/.exec(said)?.[1]
      if (found !== undefined) resolve(found)
    }),
  )
  const browser = await openChromium()
  try {
    const page = await browser.newPage()
    await page.goto(`${admin.baseUrl}/device`)
    await page.getByLabel('Email').fill(admin.email)
    await page.getByLabel('Password').fill(admin.password)
    await page.getByRole('button', { name: 'Sign in' }).click()
    await page.getByLabel('Code that the machine shows').fill(code)
    await page.getByRole('button', { name: 'Continue' }).click()
    await page.getByRole('button', { name: 'Approve' }).click()
    await page.getByRole('heading', { name: 'Approved' }).waitFor()
  } finally {
    await browser.close()
  }
  const [exitCode] = await ended
  check('dock login by a code, in Chromium', exitCode === 0, result.trim() || said.trim())
  const who = JSON.parse((await run('dock', ['whoami', '--json'], { env })).stdout) as { email: string }
  check('dock whoami with the new key', who.email === admin.email, who.email)
  await run('dock', ['logout'], { env })
}
