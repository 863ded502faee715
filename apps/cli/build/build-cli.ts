/** Builds the package of the command line, which needs no other package. */
import { chmod, cp, mkdir, readFile, rm, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { rolldown } from 'rolldown'

const checkout = new URL('../../../', import.meta.url).pathname

const readVersion = async (): Promise<string> =>
  (JSON.parse(await readFile(join(checkout, 'apps/cli/package.json'), 'utf8')) as { version: string }).version

const commandsModule = join(checkout, 'apps/cli/src/run-program.ts')
const mcpModule = '@dock/mcp/stdio'
/** Where the program loads a module from that is no part of its first file. */
const places: Record<string, string> = {
  [commandsModule]: './dock-commands.mjs',
  [mcpModule]: './dock-mcp.mjs',
}

const bundleOne = async (source: string, file: string, apart: string[] = []): Promise<void> => {
  const bundle = await rolldown({
    input: source,
    platform: 'node',
    external: apart,
    transform: { define: { dockVersion: JSON.stringify(await readVersion()) } },
  })
  await bundle.write({
    file,
    format: 'esm',
    minify: true,
    codeSplitting: false,
    paths: (name) => places[name] ?? name,
  })
  await bundle.close()
}

/**
 * Writes the program and the two files that it loads from beside it: the commands, which `dock --version` does without, and
 * what only `dock mcp` needs, which is four times as large and would slow the start of every other command.
 */
export async function bundleCli(file: string): Promise<void> {
  const beside = (name: string): string => join(dirname(file), name)
  await bundleOne(join(checkout, 'apps/cli/src/main.ts'), file, [commandsModule])
  await bundleOne(commandsModule, beside(places[commandsModule]!), [mcpModule])
  await bundleOne(join(checkout, 'packages/mcp/src/serve-stdio.ts'), beside(places[mcpModule]!))
  await chmod(file, 0o755)
}

/** Writes the whole package into `folder`, which is emptied first. Pack it with npm. */
export async function buildCli(folder: string): Promise<void> {
  await rm(folder, { recursive: true, force: true })
  await mkdir(folder, { recursive: true })
  await bundleCli(join(folder, 'dock.mjs'))
  const manifest = {
    name: '@dock/cli',
    version: await readVersion(),
    license: 'Apache-2.0',
    type: 'module',
    description: 'Isolated Linux machines on demand: the command line of Dock',
    engines: { node: '>=22' },
    bin: { dock: 'dock.mjs' },
  }
  await writeFile(join(folder, 'package.json'), `${JSON.stringify(manifest, null, 2)}\n`)
  await cp(join(checkout, 'LICENSE'), join(folder, 'LICENSE'))
  await cp(join(checkout, 'docs/cli.md'), join(folder, 'README.md'))
}
