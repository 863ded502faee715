/**
 * Runs the code of a document as a person with a new home folder follows it (CONTRIBUTING.md, "Code in documents"). The
 * person is a shell script and this program: it types `exit` in terminals, agrees to questions, and confirms the code of
 * `dock login` in a browser's stead.
 */
import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmod, mkdir, mkdtemp, readFile, rm, rmdir, symlink, writeFile } from 'node:fs/promises'
import { homedir, tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { installCli } from './run-cli.ts'
import type { Admin } from './server.ts'
import { sessionCookie } from './session.ts'

const run = promisify(execFile)
const checkout = new URL('../../../', import.meta.url).pathname

/** What documents name as examples. */
const example = {
  urls: ['https://dock.example.com', 'https://dock.example'],
  dock: '5f0d2b0e-6f0c-4c59-9a49-0a8a1d1f4a11',
  name: 'brave-otter',
}

type Block = { language: string; mark: string; code: string }

/** Returns the marked blocks of code, in their order. */
export function markedBlocks(text: string): Block[] {
  return [...text.matchAll(/^( *)```(\w+) (run|held)\n(.*?)^\1```$/gms)].map(
    ([, indent, language, mark, code]) => ({
      ...{ language: language!, mark: mark! },
      code: code!.replaceAll(new RegExp(`^${indent}`, 'gm'), ''),
    }),
  )
}

/** What stands for the person: it types in terminals, agrees, and has never met the server. `held` keeps lines running. */
const person = `set -euo pipefail
on_terminal() { local line; printf -v line '%q ' "$@"; TERM=xterm script -qec "$line" /dev/null <<<exit; }
dock() {
  case $1 in
    shell) on_terminal dock "$@" ;;
    config-ssh) command dock "$@" --yes ;;
    *) command dock "$@" ;;
  esac
}
ssh() {
  if [[ $# -eq 1 || $1 == -t || ($1 == -p && $# -eq 3) ]]; then on_terminal ssh -o StrictHostKeyChecking=accept-new "$@"
  else command ssh "$@"; fi
}
held_lines=0
held() {
  local line
  while IFS= read -r line; do
    held_lines=$((held_lines + 1))
    { echo 'echo here'; exec sleep 1000; } | eval "\${line/#ssh /command ssh }" >"held-$held_lines" 2>"held-$held_lines.err" &
  done
}
all_held() {
  local at tries=600
  for ((at = 1; at <= held_lines; at++)); do
    until [[ -s held-$at ]]; do ((tries-- > 0)) || { cat "held-$at.err" >&2; exit 1; }; sleep 0.1; done
  done
}
trap 'for each in ~/.ssh/dock-*; do [[ ! -S $each ]] || command ssh -S "$each" -O exit it 2>/dev/null; done' EXIT
`

const shellScript = (blocks: readonly Block[]): string =>
  [
    person,
    ...blocks.map(({ mark, code }, at) =>
      mark === 'held' ? `held <<'HELD_${at}'\n${code}HELD_${at}\n` : code,
    ),
    'all_held',
  ].join('\n')

/** Each block but the first has names of its own, and uses those of the first one. Imports come first. */
const typescriptModule = (blocks: readonly Block[]): string => {
  const imports = new Set(blocks.flatMap(({ code }) => code.match(/^import .*$/gm) ?? []))
  const names = [...imports].join('\n').matchAll(/[{,]\s*(\w+)/g)
  const [first = '', ...others] = blocks.map(({ code }) => code.replaceAll(/^import .*$/gm, ''))
  const all = [...new Set([...names].map(([, name]) => name!))].join(', ')
  return `import { ${all} } from '@dock/sdk'\n${first}\n${others.map((body) => `{\n${body}\n}`).join('\n')}`
}

/** Confirms the code of `dock login`, as the page /device does it for a person. */
const confirmCode = async (admin: Admin, code: string): Promise<void> => {
  const cookie = await sessionCookie(admin)
  const response = await fetch(`${admin.baseUrl}/device`, {
    method: 'POST',
    headers: { cookie, origin: admin.baseUrl },
    body: new URLSearchParams({ code, action: 'approve' }),
  })
  if (response.status !== 200) throw new Error(`the code was not confirmed: ${await response.text()}`)
}

const endGroup = (pid: number): void => {
  try {
    process.kill(-pid, 'SIGKILL')
  } catch (error) {
    // All of its processes have ended.
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error
  }
}

const runShell = async (
  script: string,
  folder: string,
  env: Record<string, string>,
  onCode: (code: string) => Promise<void>,
): Promise<void> => {
  // OpenSSH takes the home folder from the list of users, so the new one's .ssh is mounted in its place.
  const ssh = join(homedir(), '.ssh')
  const isNew = (await mkdir(ssh, { recursive: true, mode: 0o700 })) !== undefined
  const mounted = `mount --bind ${folder}/.ssh ${ssh} && exec bash "$@"`
  await writeFile(join(folder, 'script.sh'), script)
  const child = spawn('unshare', ['--mount', 'bash', '-c', mounted, 'bash', join(folder, 'script.sh')], {
    cwd: join(folder, 'work'),
    env,
    detached: true,
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  let said = ''
  let confirmed: Promise<void> | undefined
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    said += text
    const code = /code: (\S+)\n/.exec(said)?.[1]
    if (code !== undefined) confirmed ??= onCode(code)
    confirmed?.catch(() => child.kill())
  })
  const [exitCode] = (await once(child, 'exit')) as [number | null]
  // What the script holds, and connections that stay open for later ones.
  endGroup(child.pid!)
  child.stderr.destroy()
  if (isNew) await rmdir(ssh).catch(() => undefined)
  await confirmed
  if (exitCode !== 0) throw new Error(`exit ${exitCode}:\n${said.slice(-4000)}`)
}

export type DocumentPlace = {
  admin: Admin
  /** The Dock that the document names as an example. */
  dock: { id: string; name: string }
  sshPort: number
  /** Whether the environment has an address and a key; otherwise the document signs in. */
  hasKey: boolean
}

/** Runs the marked code of a document in a new folder. Throws with what it printed if it fails. Returns the number of blocks. */
export async function runDocument(document: string, place: DocumentPlace): Promise<number> {
  const { admin, dock, sshPort, hasKey } = place
  const folder = await mkdtemp(join(tmpdir(), 'dock-snippets-'))
  try {
    const blocks = markedBlocks(await readFile(join(checkout, document), 'utf8'))
    const work = join(folder, 'work')
    for (const each of ['work/.dock', 'work/script', 'work/my-project', 'work/site', 'work/folder', '.ssh'])
      await mkdir(join(folder, each), { recursive: true, mode: 0o700 })
    await writeFile(join(work, '.dock/admin.json'), JSON.stringify(admin))
    await writeFile(join(work, 'site/index.html'), 'hello\n')
    await writeFile(join(work, 'my-project/file'), 'mine\n')
    await writeFile(join(work, 'folder/large'), Buffer.alloc(300_000, 'x'))
    await symlink(join(checkout, 'node_modules'), join(work, 'node_modules'))
    await installCli(join(folder, 'bin/dock'))
    await writeFile(join(work, 'script/dock'), '#!/bin/sh\nexec dock "$@"\n')
    await chmod(join(work, 'script/dock'), 0o755)
    await run('ssh-keygen', ['-q', '-t', 'ed25519', '-N', '', '-f', join(folder, '.ssh/id_ed25519')])
    await run(
      'bash',
      ['-c', 'git init -qb main && git add folder && git -c user.name=A -c user.email=a@b commit -qm first'],
      { cwd: work, env: { ...process.env, GIT_CONFIG_GLOBAL: '/dev/null' } },
    )
    const real = (code: string): string => {
      const named = code.replaceAll(/\b2222\b/g, `${sshPort}`).replaceAll(example.name, dock.name)
      const { host } = new URL(admin.baseUrl)
      return example.urls
        .reduce((text, url) => text.replaceAll(url, admin.baseUrl), named)
        .replaceAll('dock.example', '127.0.0.1')
        .replaceAll(example.dock, dock.id)
        .replaceAll('localhost:8080', host)
    }
    const env = {
      ...{ PATH: `${join(folder, 'bin')}:${process.env.PATH}`, HOME: folder, LANG: 'C.UTF-8' },
      ...{ SHELL: '/bin/bash', GIT_CONFIG_GLOBAL: '/dev/null' },
      ...(hasKey ? { DOCK_URL: admin.baseUrl, DOCK_API_KEY: admin.apiKey } : {}),
    }
    const [typescript, shell] = [
      blocks.filter(({ language }) => language === 'ts'),
      blocks.filter(({ language }) => language !== 'ts'),
    ]
    if (shell.length > 0)
      await runShell(real(shellScript(shell)), folder, env, (code) => confirmCode(admin, code))
    if (typescript.length > 0) {
      await writeFile(join(work, 'program.mts'), real(typescriptModule(typescript)))
      await run(process.execPath, ['program.mts'], { cwd: work, timeout: 120_000, env })
    }
    return blocks.length
  } finally {
    await rm(folder, { recursive: true })
  }
}
