import { execFileSync } from 'node:child_process'
import { expect, it } from 'vitest'
import { cliLine, curlLine, type NewDock, sdkLine } from './create-lines.ts'

const workspaceId = '5f0d2b0e-6f0c-4c59-9a49-0a8a1d1f4a11'
const plain: NewDock['body'] = {
  workspaceId,
  name: 'web',
  cpus: 2,
  memoryMiB: 4096,
  diskGiB: 20,
  ttlSeconds: 7200,
}
const hostile: NewDock['body'] = {
  ...plain,
  name: "it's $(id) `id`",
  env: { A: 'two\nlines "and" $HOME' },
  setupScript: 'echo "$HOME"\nSETUP\n',
}

/** Returns the words and the standard input that a shell would give the program. */
const asShell = (line: string, program: string): { words: string[]; input: string } => {
  const script = `${program}() { printf '%s\\0' "$@"; printf '\\0'; cat; }\n${line}`
  const [words, input] = execFileSync('bash', ['-c', script], { input: '', encoding: 'utf8' }).split('\0\0')
  return { words: words!.split('\0'), input: input! }
}

it('the line for the command line has the flags of the form', () => {
  expect(cliLine({ body: plain })).toBe(
    `dock create web --cpus 2 --memory 4096M --disk 20G --ttl 2h --workspace ${workspaceId}`,
  )
})

it('a shell reads every line as it is meant, whatever the values say', () => {
  const cli = asShell(cliLine({ body: hostile }), 'dock')
  expect(cli.words).toContain(hostile.name)
  expect(cli.words).toContain(`A=${hostile.env!.A}`)
  expect(cli.input).toBe(`${hostile.setupScript}\n`)
  const curl = asShell(curlLine('http://dock.test', { body: hostile }), 'curl')
  expect(curl.words).toContain('http://dock.test/v1/docks')
  expect(JSON.parse(curl.words.at(-1)!)).toEqual(hostile)
})

it('the SDK line is the object of the form', () => {
  const text = sdkLine({ body: hostile }).replace('const dock = await Dock.create(', 'return (')
  expect(new Function(text)()).toEqual(hostile)
})

it('every line asks for the runtime', () => {
  const dock: NewDock = { body: { workspaceId }, runtime: 'microvm' }
  expect(asShell(cliLine(dock), 'dock').words.join(' ')).toContain('--runtime microvm')
  expect(asShell(curlLine('http://dock.test', dock), 'curl').words).toContain('x-dock-runtime: microvm')
  expect(sdkLine(dock)).toContain('runtime: "microvm"')
})
