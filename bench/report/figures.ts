import type { Round, ServerFigures } from '../run/measure-operation.ts'

export const median = (values: readonly number[]): number =>
  [...values].sort((a, b) => a - b)[values.length >> 1] ?? Number.NaN

export const medianOf = ({ rounds }: ServerFigures, figure: keyof Round): number =>
  median(rounds.map((round) => round[figure]))

/** Returns the median of the per-round ratios: a disturbance of one round affects both servers. */
export function ratio(own: ServerFigures, other: ServerFigures, figure: 'requestsPerSecond' | 'cpu'): number {
  return median(
    own.rounds.map((round, index) => {
      const [mine, theirs] = [round[figure], other.rounds[index]?.[figure] ?? Number.NaN]
      return figure === 'cpu' ? theirs / mine : mine / theirs
    }),
  )
}

export const formatInteger = (value: number): string => Math.round(value).toLocaleString('en-US')

export const percent = (part: number): string => `${formatInteger(part * 100)}%`

/** Returns the ratio, or an empty string when a server was not measured. */
export const ratioTo = (
  own: ServerFigures | undefined,
  other: ServerFigures | undefined,
  figure: 'requestsPerSecond' | 'cpu' = 'requestsPerSecond',
): string => (own === undefined || other === undefined ? '' : ratio(own, other, figure).toFixed(2))

const runtimeOf = (server: string): string => server.split('-').at(-1) ?? ''

/** Returns the table rows, with ratios to the limit on the same runtime. */
export function serverRows(
  all: readonly ServerFigures[],
  peers: Readonly<Record<string, string>>,
): readonly (readonly string[])[] {
  const find = (name: string): ServerFigures | undefined => all.find(({ server }) => server === name)
  const measured = Object.entries(peers).filter(([, peer]) => find(peer) !== undefined)
  const heads = ['server', 'req/s', 'p50 ms', 'p99 ms', 'CPU us', 'core', 'generator', 'MB', 'start ms']
  const onStore = all.some(({ rounds }) => rounds.some(({ storeCalls }) => storeCalls > 0))
  return [
    [
      ...heads,
      ...(onStore ? ['store', 'store us', 'calls'] : []),
      'of limit',
      'by CPU',
      ...measured.map(([title]) => title),
    ],
    ...all.map((own) => {
      const limit = find(`limit-${runtimeOf(own.server)}`)
      return [
        own.server,
        formatInteger(medianOf(own, 'requestsPerSecond')),
        medianOf(own, 'p50').toFixed(2),
        medianOf(own, 'p99').toFixed(2),
        medianOf(own, 'cpu').toFixed(1),
        percent(medianOf(own, 'serverLoad')),
        percent(medianOf(own, 'generatorLoad')),
        formatInteger(own.memory / 1e6),
        formatInteger(own.startup),
        ...(onStore
          ? [
              percent(medianOf(own, 'storeLoad')),
              medianOf(own, 'storeCpu').toFixed(1),
              medianOf(own, 'storeCalls').toFixed(2),
            ]
          : []),
        ratioTo(own, limit),
        ratioTo(own, limit, 'cpu'),
        ...measured.map(([, peer]) =>
          runtimeOf(own.server) === runtimeOf(peer) && own.server !== peer ? ratioTo(own, find(peer)) : '',
        ),
      ]
    }),
  ]
}

export const failuresOf = (all: readonly ServerFigures[]): readonly string[] =>
  all
    .filter(({ failures }) => failures > 0)
    .map(
      ({ server, operation, failures, firstFailure }) =>
        `${server}, ${operation}: ${failures} wrong responses, the first: ${firstFailure}`,
    )
