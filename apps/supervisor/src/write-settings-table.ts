/** Writes README's table of settings. Run by script/settings-table. */
import { readFileSync, writeFileSync } from 'node:fs'
import { withSettingsTable } from './all-settings.ts'

const readme = new URL('../../../README.md', import.meta.url)
writeFileSync(readme, withSettingsTable(readFileSync(readme, 'utf8')))
