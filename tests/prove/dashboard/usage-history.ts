/** Writes the usage of the last hour of a Dock, which a proof cannot wait for. */
import { openDatabase } from '@dock/control-plane/database'
import { prepareUsageDay } from '@dock/control-plane/src/modules/docks/usage/usage-store.ts'
import { sql } from 'kysely'
import { databaseOf } from '../../crash/scan.ts'

const minuteMs = 60_000
const mebibyte = 2 ** 20
const minutes = 55

/** Two waves of different length, so that the plots have a shape. */
const wave = (minute: number): number => 0.5 + 0.3 * Math.sin(minute / 4) + 0.2 * Math.sin(minute / 1.7)

/** Writes a row for each minute. Minutes of yesterday are left out, because they belong to another partition. */
export async function writeUsageHistory(dataDir: string, dockId: string): Promise<void> {
  const now = Math.floor(Date.now() / minuteMs) * minuteMs
  const today = new Date(now).setUTCHours(0, 0, 0, 0)
  const rows = Array.from({ length: minutes }, (_, at) => {
    const figures = {
      cpu_percent: 60 * wave(at),
      mem_bytes: Math.round((200 + 120 * wave(at / 2)) * mebibyte),
      mem_limit: 1024 * mebibyte,
      disk_bytes: (300 + 4 * at) * mebibyte,
      rx_bytes: Math.round(at * 3 * mebibyte * (1 + wave(at) / 20)),
      tx_bytes: Math.round(at * 0.8 * mebibyte),
    }
    return {
      ...{ dock_id: dockId, minute: new Date(now - (minutes + 4 - at) * minuteMs).toISOString(), samples: 1 },
      ...Object.fromEntries(
        Object.entries(figures).flatMap(([name, value]) => [
          [`${name}_sum`, value],
          [`${name}_peak`, value],
        ]),
      ),
    }
  }).filter(({ minute }) => new Date(minute).getTime() >= today)
  const database = openDatabase({
    url: databaseOf(dataDir),
    maxConnections: 1,
    onIdleError: () => undefined,
  })
  await prepareUsageDay(database.db, new Date(today))
  await sql`insert into dock_usage
    select * from jsonb_populate_recordset(null::dock_usage, ${JSON.stringify(rows)}::jsonb)
    on conflict do nothing`.execute(database.db)
  await database.close()
}
