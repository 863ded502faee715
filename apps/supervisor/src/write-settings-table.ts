/** Writes the tables of settings in README and docs/settings.md. Run by script/settings-table. */
import { readFileSync, writeFileSync } from 'node:fs'
import { commonSettingsTable, settingsTables, withTables } from './settings-tables.ts'

const write = (path: string, tables: string): void => {
  const file = new URL(`../../../${path}`, import.meta.url)
  writeFileSync(file, withTables(readFileSync(file, 'utf8'), tables))
}
write('README.md', commonSettingsTable())
write('docs/settings.md', settingsTables())
