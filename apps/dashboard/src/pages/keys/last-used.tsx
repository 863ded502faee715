import { RelativeTime } from '../../components/time.tsx'

/** Says when a key was used last. */
export function LastUsed({ at }: { at: string | null }) {
  return at === null ? (
    <>never used</>
  ) : (
    <>
      used <RelativeTime at={at} />
    </>
  )
}
