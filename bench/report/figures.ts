import type { Round, ServerFigures } from '../run/measure-operation.ts'

export const median = (values: readonly number[]): number =>
  [...values].sort((a, b) => a - b)[values.length >> 1] ?? Number.NaN

export const medianOf = ({ rounds }: ServerFigures, figure: keyof Round): number =>
  median(rounds.map((round) => round[figure]))

/** Returns the median of the per-round ratios: a disturbance of one round affects both servers. */
export function ratio(ours: ServerFigures, peer: ServerFigures, figure: 'requestsPerSecond' | 'cpu'): number {
  return median(
    ours.rounds.map((round, index) => {
      const [mine, theirs] = [round[figure], peer.rounds[index]?.[figure] ?? Number.NaN]
      return figure === 'cpu' ? theirs / mine : mine / theirs
    }),
  )
}

export const formatInteger = (value: number): string => Math.round(value).toLocaleString('en-US')

export const percent = (part: number): string => `${formatInteger(part * 100)}%`

/** Returns the ratio, or an empty string when a server was not measured. */
export const ratioTo = (
  ours: ServerFigures | undefined,
  peer: ServerFigures | undefined,
  figure: 'requestsPerSecond' | 'cpu' = 'requestsPerSecond',
): string => (ours === undefined || peer === undefined ? '' : ratio(ours, peer, figure).toFixed(2))

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
    ...all.map((server) => {
      const limit = find(`limit-${runtimeOf(server.server)}`)
      return [
        server.server,
        formatInteger(medianOf(server, 'requestsPerSecond')),
        medianOf(server, 'p50').toFixed(2),
        medianOf(server, 'p99').toFixed(2),
        medianOf(server, 'cpu').toFixed(1),
        percent(medianOf(server, 'serverLoad')),
        percent(medianOf(server, 'generatorLoad')),
        formatInteger(server.memory / 1e6),
        formatInteger(server.startup),
        ...(onStore
          ? [
              percent(medianOf(server, 'storeLoad')),
              medianOf(server, 'storeCpu').toFixed(1),
              medianOf(server, 'storeCalls').toFixed(2),
            ]
          : []),
        ratioTo(server, limit),
        ratioTo(server, limit, 'cpu'),
        ...measured.map(([, peer]) =>
          runtimeOf(server.server) === runtimeOf(peer) && server.server !== peer ? ratioTo(server, find(peer)) : '',
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
