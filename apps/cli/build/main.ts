/** `main.ts bundle FILE` writes the program, `package FOLDER` the npm package, `reference` the table in docs/cli.md. */
import { readFile, writeFile } from 'node:fs/promises'
import { buildCli, bundleCli } from './build-cli.ts'

const [, , what = '', where = ''] = process.argv
const document = new URL('../../../docs/cli.md', import.meta.url)
if (what === 'bundle') await bundleCli(where)
else if (what === 'package') await buildCli(where)
else {
  const { withCommandReference } = await import('./command-reference.ts')
  await writeFile(document, withCommandReference(await readFile(document, 'utf8')))
}
