/** Schemas for lists and tables whose size is checked before any of their items. */
import * as z from 'zod'

/** A list of at most `max` items. A longer list yields one issue instead of possibly millions, one per item. */
export function boundedList<Item extends z.ZodType>(item: Item, max: number) {
  return z.array(z.unknown()).max(max).pipe(z.array(item))
}

/** A table of at most `max` named values. */
export function boundedTable<Value extends z.ZodType>(value: Value, max: number) {
  return z
    .record(z.string(), z.unknown())
    .refine((table) => Object.keys(table).length <= max, `more than ${max} entries`)
    .pipe(z.record(z.string().max(200), value))
}
