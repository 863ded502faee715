/** The auto-stop timer as people choose it. */
export const ttlUnits = { minutes: 60, hours: 3600, days: 86_400 } as const
export type TtlUnit = keyof typeof ttlUnits

/** A number and its unit as they are typed. An empty number means never. */
export type TtlText = { amount: string; unit: TtlUnit }

/** Returns the seconds in the largest unit that has no rest. */
export function ttlTextOf(seconds: number | null): TtlText {
  if (seconds === null) return { amount: '', unit: 'hours' }
  const unit = (['days', 'hours', 'minutes'] as const).find((each) => seconds % ttlUnits[each] === 0)
  return { amount: String(seconds / ttlUnits[unit ?? 'minutes']), unit: unit ?? 'minutes' }
}

export function ttlSecondsOf({ amount, unit }: TtlText): number | null {
  return amount.trim() === '' ? null : Math.round(Number(amount) * ttlUnits[unit])
}
