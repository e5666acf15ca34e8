import { failuresOf, serverRows } from '../report/figures.ts'
import type { Section } from '../report/section.ts'
import { measureOperation } from '../run/measure-operation.ts'
import { commandsOf, floorServers } from '../run/servers.ts'
import type { Workbench } from './workbench.ts'

/** What an adapter costs by itself. */
export async function* floorSection({ bundles, generator, plan, bench }: Workbench): AsyncGenerator<Section> {
  const commands = await commandsOf(floorServers, 'floor', bundles, bench)
  const figures = await measureOperation('floor', commands, generator, { ...plan, rounds: Math.min(3, plan.rounds) })
  yield {
    title: 'Adapters: a small form read, 200 bytes of JSON answered',
    notes: [
      "The limit is the runtime's own server: node:http, Bun.serve, Deno.serve. The others carry one handler, which reads the body with `text()`, under Grantry's adapters piece by piece as a provider does; none checks anything of OAuth.",
    ],
    rows: serverRows(figures, {}),
    failures: failuresOf(figures),
  }
}
