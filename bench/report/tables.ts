import type { Round, ServerFigures } from '../run/measure.ts'

export const median = (values: readonly number[]): number =>
  [...values].sort((a, b) => a - b)[values.length >> 1] ?? Number.NaN

export const medianOf = ({ rounds }: ServerFigures, figure: keyof Round): number =>
  median(rounds.map((round) => round[figure]))

/** The median of the ratios of each round: what disturbs one round disturbs both of its servers. */
export function ratio(own: ServerFigures, other: ServerFigures, figure: 'requestsPerSecond' | 'cpu'): number {
  return median(
    own.rounds.map((round, index) => {
      const [mine, theirs] = [round[figure], other.rounds[index]?.[figure] ?? Number.NaN]
      return figure === 'cpu' ? theirs / mine : mine / theirs
    }),
  )
}

const pad = (text: string, width: number): string => text.padStart(width)

/** Lines of equal columns, the first to the left. */
export function layOut(rows: readonly (readonly string[])[]): string {
  const widths = (rows[0] ?? []).map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)))
  return rows
    .map((row) =>
      row
        .map((cell, column) => (column === 0 ? cell.padEnd(widths[0] ?? 0) : pad(cell, widths[column] ?? 0)))
        .join('  '),
    )
    .join('\n')
}

const whole = (value: number): string => Math.round(value).toLocaleString('en-US')

/** One operation: every server, and its ratio to the limit of its runtime, by requests a second and by CPU. */
export function operationRows(all: readonly ServerFigures[]): readonly (readonly string[])[] {
  const heads = [
    'server',
    'req/s',
    'p50 ms',
    'p99 ms',
    'CPU us',
    'core',
    'generator',
    'MB',
    'start ms',
    'of limit',
    'by CPU',
  ]
  return [
    heads,
    ...all.map((own) => {
      const limit = all.find(({ server }) => server === `limit-${own.server.split('-').at(-1)}`)
      return [
        own.server,
        whole(medianOf(own, 'requestsPerSecond')),
        medianOf(own, 'p50').toFixed(2),
        medianOf(own, 'p99').toFixed(2),
        medianOf(own, 'cpu').toFixed(1),
        `${whole(medianOf(own, 'serverLoad') * 100)}%`,
        `${whole(medianOf(own, 'generatorLoad') * 100)}%`,
        whole(own.memory / 1e6),
        whole(own.startup),
        limit === undefined ? '' : ratio(own, limit, 'requestsPerSecond').toFixed(2),
        limit === undefined ? '' : ratio(own, limit, 'cpu').toFixed(2),
      ]
    }),
  ]
}
