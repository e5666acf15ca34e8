import type { Section } from '../report/section.ts'
import { measureRaces, racers } from '../run/measure-races.ts'
import { launchesOf, type Server } from '../run/servers.ts'
import type { StoreBench } from './store-bench.ts'
import type { Workbench } from './workbench.ts'

/** Returns the smallest and largest count, or both as one number. */
function range(counts: readonly number[] | undefined): string {
  if (counts === undefined) return ''
  const [least, most] = [Math.min(...counts), Math.max(...counts)]
  return least === most ? String(least) : `${least} to ${most}`
}

/** Measures how many concurrent redemptions of the same credential succeed. */
export async function* raceSection(
  { title, start }: StoreBench,
  { bundles, generator, bench }: Workbench,
  servers: readonly Server[],
): AsyncGenerator<Section> {
  // A variant differs only in the retry window, which is off here.
  const racing = servers.filter(({ only }) => only === undefined)
  const [refresh, code] = [
    await measureRaces('refresh', await launchesOf(racing, 'refresh', bundles, bench), generator, start),
    await measureRaces(
      'authorization-code',
      await launchesOf(racing, 'authorization-code', bundles, bench),
      generator,
      start,
    ),
  ]
  yield {
    leads: true,
    title: `Races on ${title}: how many of ${racers} concurrent redemptions get tokens`,
    notes: [
      'The same refresh token or code in all requests, five times each; the fewest and the most. 1 is right.',
      `Without the retry window, in which Grantry returns the same response again. The path to ${title} takes 5 ms: without latency, most races stay hidden.`,
    ],
    rows: [
      ['server', 'refresh token', 'code'],
      ...racing.map(({ name }) => [name, range(refresh.get(name)), range(code.get(name))]),
    ],
  }
}
