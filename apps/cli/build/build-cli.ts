/** Builds the package of the command line: one file without dependencies. */
import { chmod, cp, mkdir, readFile, rm, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { rolldown } from 'rolldown'

const checkout = new URL('../../../', import.meta.url).pathname

const readVersion = async (): Promise<string> =>
  (JSON.parse(await readFile(join(checkout, 'apps/cli/package.json'), 'utf8')) as { version: string }).version

const mcpModule = '@dock/mcp/stdio'

/**
 * Writes the program into one file, and what only `dock mcp` needs into `dock-mcp.mjs` beside it: it is four times as large,
 * and every other command would start more slowly.
 */
export async function bundleCli(file: string): Promise<void> {
  const bundle = await rolldown({
    input: join(checkout, 'apps/cli/src/main.ts'),
    platform: 'node',
    external: [mcpModule],
    transform: { define: { dockVersion: JSON.stringify(await readVersion()) } },
  })
  await bundle.write({
    ...{ file, format: 'esm', minify: true, codeSplitting: false },
    paths: { [mcpModule]: './dock-mcp.mjs' },
  })
  await bundle.close()
  const mcp = await rolldown({ input: join(checkout, 'packages/mcp/src/serve-stdio.ts'), platform: 'node' })
  await mcp.write({
    file: join(dirname(file), 'dock-mcp.mjs'),
    format: 'esm',
    minify: true,
    codeSplitting: false,
  })
  await mcp.close()
  await chmod(file, 0o755)
}

/** Writes the whole package into `folder`, which is emptied first. Pack it with npm. */
export async function buildCli(folder: string): Promise<void> {
  await rm(folder, { recursive: true, force: true })
  await mkdir(folder, { recursive: true })
  await bundleCli(join(folder, 'dock.mjs'))
  const manifest = {
    ...{ name: '@dock/cli', version: await readVersion(), license: 'Apache-2.0', type: 'module' },
    description: 'Isolated Linux machines on demand: the command line of Dock',
    engines: { node: '>=22' },
    bin: { dock: 'dock.mjs' },
  }
  await writeFile(join(folder, 'package.json'), `${JSON.stringify(manifest, null, 2)}\n`)
  await cp(join(checkout, 'LICENSE'), join(folder, 'LICENSE'))
  await cp(join(checkout, 'docs/cli.md'), join(folder, 'README.md'))
}
