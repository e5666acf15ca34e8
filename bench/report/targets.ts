import type { OperationName } from '../operations.ts'
import type { ServerFigures } from '../run/measure-operation.ts'
import { ratio } from './figures.ts'
import type { Section } from './section.ts'

/** A ratio of requests per second that Grantry should reach on Node. */
interface Targets {
  readonly limit: number
  readonly jmondi?: number
  readonly 'oidc-provider'?: number
}

export type TargetTable = Partial<Readonly<Record<OperationName, Targets>>>

export const memoryTargets: TargetTable = {
  'client-credentials-opaque': { limit: 0.75 },
  'client-credentials-es256': { limit: 0.85 },
  'client-credentials-rs256': { limit: 0.95 },
  introspection: { limit: 0.95 },
  userinfo: { limit: 0.8 },
  refresh: { limit: 0.5 },
  password: { limit: 0.5 },
  'authorization-code': { limit: 0.55 },
}

export const redisTargets: TargetTable = {
  'client-credentials-opaque': { limit: 0.7, jmondi: 1.2, 'oidc-provider': 4 },
  introspection: { limit: 0.75, jmondi: 1.3, 'oidc-provider': 4 },
  userinfo: { limit: 0.75, 'oidc-provider': 4 },
  refresh: { limit: 0.55, jmondi: 1.1, 'oidc-provider': 4 },
  'password-5000-users': { limit: 0.6, jmondi: 1, 'oidc-provider': 3 },
  'authorization-code': { limit: 0.55, jmondi: 1.1, 'oidc-provider': 4 },
}

export const postgresqlTargets: TargetTable = {
  'client-credentials-opaque': { limit: 0.7, 'oidc-provider': 3 },
  introspection: { limit: 0.7, 'oidc-provider': 3 },
  userinfo: { limit: 0.7, 'oidc-provider': 3 },
  refresh: { limit: 0.6, 'oidc-provider': 3 },
  'authorization-code': { limit: 0.6, 'oidc-provider': 3 },
}

/** Of the limit on the same runtime, for every operation. */
const otherRuntimes = 0.65

/** A target and what was measured. */
export interface Reached {
  readonly what: string
  readonly target: number
  readonly reached: number
  /** Default: the figure should reach at least the target. */
  readonly isMaximum?: boolean
}

const find = (all: readonly ServerFigures[], operation: OperationName, server: string): ServerFigures | undefined =>
  all.find((figures) => figures.operation === operation && figures.server === server)

/** Returns the ratios of a table for the measured servers. */
export function reachedRatios(all: readonly ServerFigures[], table: TargetTable): readonly Reached[] {
  return Object.entries(table).flatMap(([name, targets]) => {
    const operation = name as OperationName
    const pairs: readonly (readonly [own: string, other: string, target: number])[] = [
      ...Object.entries(targets).map(([peer, target]) => ['grantry-node', `${peer}-node`, target] as const),
      ['grantry-bun', 'limit-bun', otherRuntimes],
      ['grantry-deno', 'limit-deno', otherRuntimes],
    ]
    return pairs.flatMap(([ownName, otherName, target]) => {
      const [ours, peer] = [find(all, operation, ownName), find(all, operation, otherName)]
      if (ours === undefined || peer === undefined) return []
      return [
        { what: `${operation}: ${ownName} to ${otherName}`, target, reached: ratio(ours, peer, 'requestsPerSecond') },
      ]
    })
  })
}

/** The CPU time of `grantry serve` may exceed that of the library by this factor. */
const maxServeCost = 1.15

/** Returns the CPU time of `grantry serve` as a multiple of the library's. */
export function reachedServe(all: readonly ServerFigures[], operations: readonly OperationName[]): readonly Reached[] {
  return operations.flatMap((operation) => {
    const [library, server] = [find(all, operation, 'grantry-node'), find(all, operation, 'grantry-serve-node')]
    if (library === undefined || server === undefined) return []
    const what = `${operation}: CPU of grantry serve to the library`
    return [{ what, target: maxServeCost, reached: ratio(library, server, 'cpu'), isMaximum: true }]
  })
}

const isMet = ({ target, reached, isMaximum }: Reached): boolean =>
  // As precise as the table shows it.
  isMaximum ? Number(reached.toFixed(2)) <= target : Number(reached.toFixed(2)) >= target

export function targetSection(title: string, all: readonly Reached[]): Section {
  const missed = all.filter((comparison) => !isMet(comparison)).length
  return {
    title,
    leads: true,
    notes: [
      'A ratio is in requests per second unless it names CPU: the median of the ratios of all rounds.',
      `${all.length - missed} of ${all.length} targets are met.`,
    ],
    rows: [
      ['target', 'wanted', 'reached', 'met'],
      ...all.map((comparison) => [
        comparison.what,
        `${comparison.isMaximum ? 'at most' : 'at least'} ${comparison.target.toFixed(2)}`,
        comparison.reached.toFixed(2),
        isMet(comparison) ? 'yes' : 'no',
      ]),
    ],
  }
}
