import type { OperationName } from '../operations.ts'
import { failuresOf, formatInteger, medianOf, ratioTo, serverRows } from '../report/figures.ts'
import type { Section } from '../report/section.ts'
import { memoryTargets, reachedRatios, targetSection } from '../report/targets.ts'
import { measureOperation, type ServerFigures } from '../run/measure-operation.ts'
import { launchesOf, type Server } from '../run/servers.ts'
import type { Workbench } from './workbench.ts'

/** The peers, by the heading of their column. */
export const peers = { 'to oidc-provider': 'oidc-provider-node', 'to @jmondi': 'jmondi-node' } as const

function summary(all: readonly ServerFigures[], operations: readonly OperationName[]): Section {
  const rows = operations.map((operation) => {
    const find = (name: string): ServerFigures | undefined =>
      all.find((figures) => figures.operation === operation && figures.server === name)
    const speed = (name: string): string => {
      const figures = find(name)
      return figures === undefined ? '' : formatInteger(medianOf(figures, 'requestsPerSecond'))
    }
    const ours = find('grantry-node')
    return [
      operation,
      speed('limit-node'),
      speed('grantry-node'),
      ratioTo(ours, find('limit-node')),
      ratioTo(ours, find(peers['to oidc-provider'])),
      ratioTo(ours, find(peers['to @jmondi'])),
      ratioTo(find('grantry-bun'), find('limit-bun')),
      ratioTo(find('grantry-deno'), find('limit-deno')),
    ]
  })
  return {
    leads: true,
    title: 'Summary',
    notes: [
      'Requests per second of the limit and of Grantry on Node, then the ratio of Grantry to the limit, to oidc-provider and to @jmondi/oauth2-server on fastify, then to the limit on Bun and on Deno.',
      'A ratio is the median of the ratios of all rounds.',
    ],
    rows: [['operation', 'limit', 'Grantry', 'to limit', 'to oidc-provider', 'to @jmondi', 'Bun', 'Deno'], ...rows],
  }
}

/** Yields a table per operation, and a summary. */
export async function* operationSections(
  { bundles, generator, plan, bench }: Workbench,
  operations: readonly OperationName[],
  servers: readonly Server[],
): AsyncGenerator<Section> {
  const all: ServerFigures[] = []
  for (const operation of operations) {
    const commands = await launchesOf(servers, operation, bundles, bench)
    const figures = await measureOperation(operation, commands, generator, plan)
    all.push(...figures)
    yield {
      title: operation,
      notes: [],
      rows: serverRows(figures, peers),
      failures: failuresOf(figures),
    }
  }
  yield summary(all, operations)
  yield targetSection('Targets', reachedRatios(all, memoryTargets))
}
