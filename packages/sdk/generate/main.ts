/** Writes the generated files of the SDK. Run by script/generate-sdk. */
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { generatedFiles } from './generated-files.ts'

const folder = new URL('../src/generated/', import.meta.url)
await mkdir(folder, { recursive: true })
for (const [name, content] of Object.entries(generatedFiles())) {
  const file = new URL(name, folder)
  const before = await readFile(file, 'utf8').catch(() => '')
  if (before === content) continue
  await writeFile(file, content)
  process.stdout.write(`packages/sdk/src/generated/${name} written\n`)
}
