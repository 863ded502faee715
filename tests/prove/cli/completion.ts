/** Completion as docs/cli.md turns it on, also for the name of a Dock that would run a program. */
import { access, readFile } from 'node:fs/promises'
import type { Cli } from '../../e2e/support/run-cli.ts'
import type { Check } from './check.ts'
import { openTerminal } from './terminal.ts'

const page = new URL('../../../docs/cli.md', import.meta.url)

export const shells = {
  bash: { words: ['bash', '--norc'], block: 'bash run', two: '$((1 + 1))' },
  zsh: { words: ['zsh', '-f'], block: 'zsh', two: '$((1 + 1))' },
  fish: { words: ['fish', '--no-config'], block: 'fish', two: '(math 1 + 1)' },
}

const lastLine = (screen: string): string => screen.trim().split('\n').at(-1) ?? ''

/** Types in a shell. `trap` is the file that the name of a Dock would make. */
export async function proveCompletion(
  cli: Cli,
  check: Check,
  name: keyof typeof shells,
  trap: string,
): Promise<void> {
  const { words, block, two } = shells[name]
  const load = new RegExp(`^\`\`\`${block}\n(.*)\n\`\`\`$`, 'm').exec(await readFile(page, 'utf8'))?.[1]
  if (load === undefined) throw new Error(`docs/cli.md does not say how ${name} completes`)
  const shell = await openTerminal(cli, name, words)
  try {
    await shell.line(`${load}; echo loaded-${two}`)
    await shell.until(/loaded-2/)
    for (const [typed, wanted] of [
      ['dock snap', /dock snapshot /],
      ['dock show unmist', /dock show unmistakable/],
      ['dock show --js', /dock show --json/],
    ] as const) {
      await shell.type(typed)
      await shell.key('Tab')
      const screen = await shell.until(wanted)
      check(`${name} completes "${typed}"`, wanted.test(screen), lastLine(screen))
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
    check(`${name} runs nothing that is a name`, !hasRun && /touch/.test(screen), lastLine(screen))
  } finally {
    await shell.close()
  }
}
