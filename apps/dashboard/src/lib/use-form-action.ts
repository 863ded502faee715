import { useMutation } from '@tanstack/react-query'
import { showToast } from '../components/toasts.tsx'

type Action = { work: () => Promise<unknown>; done: string | undefined }

/** Runs work for a form or button: whether it runs, and the error that it ended with. `done` is shown when it succeeded. */
export function useFormAction(): {
  busy: boolean
  error: unknown
  run: (work: () => Promise<unknown>, done?: string) => void
  /** Forgets the error. Work that runs goes on. */
  clear: () => void
} {
  const { isPending, error, mutate, reset } = useMutation({
    mutationFn: ({ work }: Action) => work(),
    onSuccess: (_, { done }) => {
      if (done !== undefined) showToast(done)
    },
  })
  return {
    busy: isPending,
    error: error ?? undefined,
    run: (work, done) => mutate({ work, done }),
    clear: () => {
      if (!isPending) reset()
    },
  }
}
