/** Lists and tables of the host protocol whose number of items is checked before any item is. */
import * as z from 'zod'

/** At most `max` items. A longer list is one fault; checked item by item it could be millions of them. */
export function boundedList<Item extends z.ZodType>(item: Item, max: number) {
  return z.array(z.unknown()).max(max).pipe(z.array(item))
}

/** A table of at most `max` values by name. */
export function boundedTable<Value extends z.ZodType>(value: Value, max: number) {
  return z
    .record(z.string(), z.unknown())
    .refine((table) => Object.keys(table).length <= max, `more than ${max} entries`)
    .pipe(z.record(z.string().max(200), value))
}
