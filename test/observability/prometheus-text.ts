// A strict parser of the Prometheus text format, version 0.0.4.

/** One sample line. */
export interface Sample {
  readonly name: string
  readonly labels: Readonly<Record<string, string>>
  readonly value: number
}

/** All lines of one metric. */
export interface Family {
  readonly name: string
  readonly type: string
  readonly help: string
  readonly samples: readonly Sample[]
}

const name = '[a-zA-Z_:][a-zA-Z0-9_:]*'
const header = new RegExp(`^# (HELP|TYPE) (${name}) (.+)$`, 'u')
const sampleLine = new RegExp(`^(${name})(?:\\{(.*)\\})? (\\S+)$`, 'u')
const labelPair = /^([a-zA-Z_][a-zA-Z0-9_]*)="((?:[^"\\\n]|\\["\\n])*)"(?:,|$)/u
const number = /^(?:[+-]?Inf|NaN|[+-]?\d+(?:\.\d+)?(?:e[+-]?\d+)?)$/u

function labelsOf(text: string): Readonly<Record<string, string>> {
  const labels: Record<string, string> = {}
  for (let rest = text; rest !== ''; ) {
    const [pair, label = '', value = ''] = labelPair.exec(rest) ?? []
    if (pair === undefined) throw new Error(`no label: ${rest}`)
    if (label in labels) throw new Error(`the label ${label} twice`)
    labels[label] = value.replaceAll(/\\(.)/gu, (_, escaped: string) => (escaped === 'n' ? '\n' : escaped))
    rest = rest.slice(pair.length)
  }
  return labels
}

function numberIn(text: string): number {
  if (!number.test(text)) throw new Error(`not a number: ${text}`)
  return text.endsWith('Inf') ? Number(text.replace('Inf', 'Infinity')) : Number(text)
}

const suffixes: Readonly<Record<string, readonly string[]>> = {
  histogram: ['_bucket', '_sum', '_count'],
  summary: ['', '_sum', '_count'],
}

/** Checks that buckets are cumulative, and that the last one is the total. */
function assertHistogram({ name: family, samples }: Family): void {
  const series = new Map<string, Sample[]>()
  for (const sample of samples) {
    const { le: _, ...labels } = sample.labels
    const key = JSON.stringify(labels)
    series.set(key, [...(series.get(key) ?? []), sample])
  }
  for (const [key, lines] of series) {
    const buckets = lines.filter((line) => line.name === `${family}_bucket`)
    const bounds = buckets.map(({ labels }) => numberIn((labels.le ?? '').replace(/^\+Inf$/u, '+Inf')))
    const counts = buckets.map(({ value }) => value)
    const count = lines.find((line) => line.name === `${family}_count`)?.value
    const grows = (values: readonly number[]) =>
      values.every((value, index) => index === 0 || value >= (values[index - 1] ?? 0))
    if (!grows(bounds) || !grows(counts)) throw new Error(`${family} ${key}: buckets do not grow`)
    if (bounds.at(-1) !== Number.POSITIVE_INFINITY || counts.at(-1) !== count)
      throw new Error(`${family} ${key}: no whole`)
  }
}

/** @throws Error that describes the first violation of the format. */
export function parsePrometheusText(page: string): ReadonlyMap<string, Family> {
  if (!page.endsWith('\n')) throw new Error('the last line is incomplete')
  const families = new Map<string, Family & { samples: Sample[] }>()
  const seen = new Set<string>()
  let current: (Family & { samples: Sample[] }) | undefined
  let help: { name: string; text: string } | undefined
  for (const line of page.slice(0, -1).split('\n')) {
    if (line === '') continue
    const [, kind, family = '', text = ''] = header.exec(line) ?? []
    if (kind === 'HELP') {
      help = { name: family, text }
      continue
    }
    if (kind === 'TYPE') {
      if (families.has(family)) throw new Error(`${family} twice`)
      if (help?.name !== family) throw new Error(`${family} without help`)
      if (!/^(?:counter|gauge|histogram|summary|untyped)$/u.test(text)) throw new Error(`unknown type: ${text}`)
      current = { name: family, type: text, help: help.text, samples: [] }
      families.set(family, current)
      continue
    }
    const [, sampleName = '', labels = '', value = ''] = sampleLine.exec(line) ?? []
    if (sampleName === '') throw new Error(`malformed line: ${line}`)
    const sample = { name: sampleName, labels: labelsOf(labels), value: numberIn(value) }
    const known = (suffixes[current?.type ?? ''] ?? ['']).map((suffix) => `${current?.name}${suffix}`)
    if (!known.includes(sampleName)) throw new Error(`${sampleName} does not follow its TYPE line`)
    const series = `${sampleName}${JSON.stringify(Object.entries(sample.labels).sort())}`
    if (seen.has(series)) throw new Error(`${series} twice`)
    seen.add(series)
    if (current?.type === 'counter' && !(sample.value >= 0)) throw new Error(`${sampleName} is negative`)
    current?.samples.push(sample)
  }
  for (const family of families.values()) if (family.type === 'histogram') assertHistogram(family)
  return families
}
