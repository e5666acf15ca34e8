/** One series of a counter. */
export interface Count {
  value: number
}

/** One series of a histogram. */
export interface Distribution {
  observe(value: number): void
}

/** The series of one metric, by the values of its labels. */
export interface Family<Series> {
  /** Returns the series with these label values, in the order of the label names. Creates it if it does not exist. */
  with(...labelValues: readonly string[]): Series
  /** Returns all series in the Prometheus text format. */
  text(): string
}

interface Description {
  readonly name: string
  readonly help: string
  readonly labelNames: readonly string[]
}

type Labels = readonly (readonly [name: string, value: string])[]

const escaped = (value: string): string =>
  value.replaceAll('\\', String.raw`\\`).replaceAll('\n', String.raw`\n`).replaceAll('"', String.raw`\"`)

function sampleOf(name: string, labels: Labels, value: number): string {
  const written = labels.map(([label, text]) => `${label}="${escaped(text)}"`).join(',')
  return `${name}${written === '' ? '' : `{${written}}`} ${value}\n`
}

const headOf = ({ name, help }: Description, type: string): string => `# HELP ${name} ${help}\n# TYPE ${name} ${type}\n`

const labelsOf = ({ labelNames }: Description, values: readonly string[]): Labels =>
  labelNames.map((label, index) => [label, values[index] ?? ''])

interface Node<Series> {
  readonly children: Map<string, Node<Series>>
  series: Series | undefined
}

/** Creates a family. It finds a series without creating an object or a text for the labels, because each event does. */
function createFamily<Series>(
  description: Description,
  type: 'counter' | 'histogram',
  create: () => Series,
  samplesOf: (labels: Labels, series: Series) => string,
): Family<Series> {
  const newNode = (): Node<Series> => ({ children: new Map(), series: undefined })
  const root = newNode()
  const all: { readonly labels: Labels; readonly series: Series }[] = []

  function add(labelValues: readonly string[]): Series {
    const series = create()
    all.push({ labels: labelsOf(description, labelValues), series })
    return series
  }

  return {
    with(...labelValues) {
      let node = root
      for (const value of labelValues) {
        let next = node.children.get(value)
        if (next === undefined) {
          next = newNode()
          node.children.set(value, next)
        }
        node = next
      }
      node.series ??= add(labelValues)
      return node.series
    },
    text: () => headOf(description, type) + all.map(({ labels, series }) => samplesOf(labels, series)).join(''),
  }
}

/** Values with those of their labels. */
export type Readings = readonly (readonly [labelValues: readonly string[], value: number])[]

/**
 * Creates a metric that is read during a scrape.
 *
 * @param read returns its value, the values of its series, or `undefined` if there are none
 */
export const createReading = (
  type: 'counter' | 'gauge',
  description: Description,
  read: () => number | undefined | Readings,
): { text(): string } => ({
  text() {
    const value = read() ?? []
    const readings = typeof value === 'number' ? ([[[], value]] as const) : value
    const samples = readings.map(([values, each]) => sampleOf(description.name, labelsOf(description, values), each))
    return headOf(description, type) + samples.join('')
  },
})

export function createCounter(name: string, help: string, labelNames: readonly string[]): Family<Count> {
  const description = { name, help, labelNames }
  return createFamily(
    description,
    'counter',
    () => ({ value: 0 }),
    (labels, { value }) => sampleOf(name, labels, value),
  )
}

interface Histogram extends Distribution {
  samples(labels: Labels): string
}

/** @param bounds the upper bounds of the buckets, in ascending order */
export function createHistogram(
  name: string,
  help: string,
  labelNames: readonly string[],
  bounds: readonly number[],
): Family<Distribution> {
  function create(): Histogram {
    // The last bucket has no upper bound.
    const counts = new Array<number>(bounds.length + 1).fill(0)
    let sum = 0
    return {
      observe(value) {
        let bucket = 0
        while (bucket < bounds.length && value > (bounds[bucket] ?? 0)) bucket += 1
        counts[bucket] = (counts[bucket] ?? 0) + 1
        sum += value
      },
      samples(labels) {
        let count = 0
        const buckets = counts.map((ofBucket, bucket) => {
          count += ofBucket
          return sampleOf(`${name}_bucket`, [['le', String(bounds[bucket] ?? '+Inf')], ...labels], count)
        })
        return `${buckets.join('')}${sampleOf(`${name}_sum`, labels, sum)}${sampleOf(`${name}_count`, labels, count)}`
      },
    }
  }
  return createFamily({ name, help, labelNames }, 'histogram', create, (labels, series) => series.samples(labels))
}

/** Replaces values beyond the limit. */
const otherValue = 'other'

/**
 * Passes through at most `limit` different values and replaces the rest with `other`. Labels with values from plugins
 * must not fill the memory of this process and of Prometheus.
 */
export function boundedLabel(limit: number): (value: string) => string {
  const known = new Set<string>()
  return (value) => {
    if (known.has(value)) return value
    if (known.size >= limit) return otherValue
    known.add(value)
    return value
  }
}
