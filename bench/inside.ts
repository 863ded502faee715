/**
 * Times work inside a Dock beside the same work on this machine, in the same image on the same kind of disk, and in podman if
 * it is installed. They take turns. The table shows the middle of DOCK_BENCH_COUNT (3) turns, and the ratio to native.
 *
 *   script/bench inside
 */
import { median } from './guard/compare-rounds.ts'
import { threeDigits } from './guard/table.ts'
import { openDock, openNative, openPodman, type Place } from './inside/places.ts'
import { readTook, scriptOf, works } from './inside/works.ts'
import { print, withServer } from './parts/bench-server.ts'

const turns = Number(process.env.DOCK_BENCH_COUNT ?? 3)

const measure = async (places: readonly Place[]): Promise<void> => {
  print(
    `| | ${places.map(({ name }) => `${name} ms`).join(' | ')} | ${places
      .slice(1)
      .map(({ name }) => `${name} ÷ native`)
      .join(' | ')} |`,
  )
  print(`|---${'|---'.repeat(places.length * 2 - 1)}|`)
  for (const work of works) {
    const script = scriptOf(work)
    const times = places.map((): number[] => [])
    for (let turn = 0; turn < turns; turn++)
      for (const [index, place] of places.entries()) times[index]!.push(readTook(await place.run(script)))
    const medians = times.map(median)
    const ratios = medians.slice(1).map((each) => (each / medians[0]!).toFixed(2))
    print(`| ${[work.name, ...medians.map(threeDigits), ...ratios].join(' | ')} |`)
  }
}

await withServer({ DOCK_WARM_POOL: '0' }, async (server) => {
  const places: Place[] = []
  try {
    places.push(await openNative(server.admin.image), await openDock(server))
    const podman = await openPodman()
    if (podman) places.push(podman)
    else print('podman is not installed')
    await measure(places)
  } finally {
    for (const place of places) await place.close()
  }
})
