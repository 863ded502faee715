import type { ReactNode } from 'react'

/** The frame of the pages before the sign-in. */
export function AuthLayout({ title, children }: { title: string; children: ReactNode }) {
  return (
    <main className="grid min-h-screen place-content-center p-4">
      <div className="grid w-[min(23rem,calc(100vw-2rem))] gap-5 rounded-xl border border-line bg-panel p-6">
        <div className="flex items-center gap-2.5">
          <img src="/icon.svg" alt="" className="size-8" />
          <h1 className="m-0 text-lg font-semibold">{title}</h1>
        </div>
        {children}
      </div>
    </main>
  )
}
