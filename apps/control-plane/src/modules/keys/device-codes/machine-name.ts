import { isPlainText } from '@dock/contract'

const lengthMax = 60
const marksMax = 2

/**
 * Returns the name that a machine gave itself, for people to read: one line of at most 60 characters, without invisible
 * characters, text direction marks, and piles of accents. Returns `machine` if nothing is left.
 */
export function cleanMachineName(text: string): string {
  const visible = text
    .normalize('NFC')
    .replace(/[\s\p{Z}]+/gu, ' ')
    .replace(/[\p{C}\p{Default_Ignorable_Code_Point}]/gu, '')
    .replace(/\p{M}+/gu, (marks) => [...marks].slice(0, marksMax).join(''))
    .trim()
  const short = [...visible].slice(0, lengthMax).join('').trim()
  return short !== '' && isPlainText(short) ? short : 'machine'
}
