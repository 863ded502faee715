/** The command lines of the agents, run by bash with programs that only say how they were started. */
import { execFile } from 'node:child_process'
import { chmod, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { type AgentStart, agentCommand } from './agent-commands.ts'

const run = promisify(execFile)
const door = 'http://10.0.0.1:9'
let home: string

beforeAll(async () => {
  home = await mkdtemp(join(tmpdir(), 'dock-agents-'))
  await mkdir(join(home, 'bin'))
  await mkdir(join(home, 'work/app'), { recursive: true })
  const git = (...words: string[]) => run('git', ['-C', join(home, 'work/app'), ...words])
  await git('init', '-q')
  await git('remote', 'add', 'origin', `${door}/github/acme/app.git`)
})
afterAll(() => rm(home, { recursive: true }))

const settings = { model: 'anthropic/claude-x', commandTemplate: null }
const providers = ['anthropic', 'openai']

/** Starts the agent as a Dock would. `says` is the program that stands for it. */
const start = async (agent: string, isContinued: boolean, says: string | null): Promise<string> => {
  const program = agent === 'claude-code' ? 'claude' : agent
  await rm(join(home, 'bin', program), { force: true })
  if (says !== null) {
    await writeFile(join(home, 'bin', program), `#!/bin/bash\n${says}\n`)
    await chmod(join(home, 'bin', program), 0o755)
  }
  const { command, env } = agentCommand({ agent, settings, isContinued, providers }) as AgentStart
  const variables = {
    HOME: home,
    PATH: `${home}/bin:/usr/bin:/bin`,
    RUN_FOLDER: 'app',
    RUN_REPOSITORY: 'acme/app',
  }
  const child = run('bash', ['-c', command], { env: { ...variables, ...env } })
  child.child.stdin?.end('{"promptVersion":"1"}')
  return child.then(
    ({ stdout }) => stdout,
    ({ code, stdout }: { code: number; stdout: string }) => `${stdout}exit ${code}`,
  )
}

it('gives opencode the task, the session and a configuration whose models are behind the door', async () => {
  const said = await start('opencode', true, 'echo "$*"; cat; echo; echo "$OPENCODE_CONFIG_CONTENT"')
  const [words, task, config] = said.split('\n')
  expect(words).toBe('run --format json --auto --pure --continue --model anthropic/claude-x')
  expect(task).toBe('{"promptVersion":"1"}')
  const { provider, instructions, enabled_providers } = JSON.parse(config!)
  expect(Object.keys(provider)).toEqual(['anthropic'])
  expect(enabled_providers).toEqual(['anthropic'])
  expect(provider.anthropic).toEqual({
    options: { baseURL: `${door}/model/anthropic/v1`, apiKey: 'none' },
    models: { 'claude-x': {} },
  })
  expect(instructions[0]).toBe(`${home}/work/app/AGENTS.md`)
})

it('gives Claude Code and Codex the address of the door', async () => {
  const claude = await start('claude-code', false, 'echo "$ANTHROPIC_BASE_URL $*"')
  expect(claude).toContain(`${door}/model/anthropic -p `)
  expect(claude).toContain('--setting-sources user --strict-mcp-config')
  const codex = await start('codex', true, 'printf "%s\\n" "$@"')
  expect(codex).toContain(`model_providers.dock.base_url=${door}/model/openai/v1\n`)
  expect(codex).toContain(`projects={ "${home}/work/app" = { trust_level = "untrusted" } }\n`)
  expect(codex).toMatch(/\nresume\n--last\n-\n$/)
})

it('hides the repository’s configuration of agents from the agent, and from no commit', async () => {
  const clone = join(home, 'work/app')
  const git = async (...words: string[]) => (await run('git', ['-C', clone, ...words])).stdout
  const hidden = ['.opencode/plugin/a.js', 'sub/.claude/settings.json', 'sub/opencode.json', '.mcp.json']
  for (const path of [...hidden, 'kept/.codex', 'AGENTS.md', 'sub/a']) {
    await mkdir(join(clone, path, '..'), { recursive: true })
    await writeFile(join(clone, path), 'x\n')
  }
  await git('add', '--all')
  const identity = ['-c', 'user.name=A', '-c', 'user.email=a@b.c']
  await git(...identity, 'commit', '-qm', 'first')
  const work = `find . -type f -not -path './.git/*' | sort; echo y >>sub/a; echo z >.mcp.json; git add --all
git ${identity.join(' ')} commit -qm second; exit 3`
  expect(await start('opencode', false, work)).toBe('./AGENTS.md\n./sub/a\nexit 3')
  expect(await git('show', '--stat', '--format=', 'HEAD')).toMatch(/^ sub\/a \|[^|]*1 file changed/)
  expect(await git('ls-files', '-v')).not.toMatch(/^S/m)
  // The agent's own file stays, and is committed with what it left.
  expect(await git('status', '--porcelain')).toBe(' M .mcp.json\n')
})

it('says which program is missing, and what the operator can do', async () => {
  const said = await start('codex', false, null)
  expect(said).toMatch(/no program codex .*debian-13-agents.*\nexit 127$/)
})

it('says why an agent has no model', () => {
  const reasonOf = (agent: string, keys: string[] | null, model: string | null = null): unknown =>
    agentCommand({ agent, settings: { ...settings, model }, isContinued: false, providers: keys })
  expect(reasonOf('opencode', null)).toEqual({ reason: expect.stringContaining('passes none on') })
  expect(reasonOf('codex', ['anthropic'])).toEqual({ reason: expect.stringContaining('a key of openai,') })
  expect(reasonOf('opencode', ['anthropic'], 'openai/gpt-5')).toEqual({
    reason: expect.stringContaining('a key of openai,'),
  })
  expect(reasonOf('opencode', ['openai'], 'gpt-5')).toEqual({
    reason: expect.stringContaining('as provider/name'),
  })
  expect(reasonOf('opencode', [])).toEqual({ reason: expect.stringContaining('anthropic or openai or') })
  expect(reasonOf('opencode', ['openrouter'])).toHaveProperty('command')
})
