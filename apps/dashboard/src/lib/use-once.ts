import { useEffect, useRef } from 'react'

/** Does work once when the component is first shown, also where React runs effects twice. */
export function useOnce(work: () => void): void {
  const isDone = useRef(false)
  useEffect(() => {
    if (isDone.current) return
    isDone.current = true
    work()
  })
}
