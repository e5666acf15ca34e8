import { failuresOf, serverRows } from '../report/figures.ts'
import type { Section } from '../report/section.ts'
import { measureOperation } from '../run/measure-operation.ts'
import { floorServers, launchesOf } from '../run/servers.ts'
import type { Workbench } from './workbench.ts'

/** Measures the cost of the adapters alone. */
export async function* floorSection({ bundles, generator, plan, bench }: Workbench): AsyncGenerator<Section> {
  const commands = await launchesOf(floorServers, 'floor', bundles, bench)
  const figures = await measureOperation('floor', commands, generator, { ...plan, rounds: Math.min(3, plan.rounds) })
  yield {
    title: 'Adapters: read a small form, respond with 200 bytes of JSON',
    notes: [
      "The limit is the runtime's own server: node:http, Bun.serve, Deno.serve. The others run one handler, which reads the body with `text()`, or chunk by chunk under Grantry's adapters, as a provider does. None performs OAuth checks.",
    ],
    rows: serverRows(figures, {}),
    failures: failuresOf(figures),
  }
}
