import { useMutation } from '@tanstack/react-query'
import { showError } from '../components/toasts.tsx'

type Action = { name: string; work: () => Promise<unknown> }

/** Runs named pieces of work. `busy` is the name of the work that runs. Errors are shown as toasts. */
export function useAction(): {
  busy: string | undefined
  run: (name: string, work: () => Promise<unknown>) => void
} {
  const { isPending, variables, mutate } = useMutation({
    mutationFn: ({ work }: Action) => work(),
    onError: showError,
  })
  return {
    busy: isPending ? variables.name : undefined,
    run: (name, work) => mutate({ name, work }),
  }
}
