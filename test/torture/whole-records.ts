/** What is in a store when nobody is at work on it. */
export interface Examination {
  readonly records: number
  /** What cannot be read as a record, and why. */
  readonly broken: readonly string[]
}

/** Why a stored value is no whole record; `undefined` when it is one. Only that: what is in it is the core's affair. */
function flawOf(name: string, value: string): string | undefined {
  // A counter is a number and no more, in files a name: one of abuse control, or of a server that is killed in its self-test at start.
  if (/(?:^|[:/])(?:count|probe)[:.][^:/]+(?:\/|$)/u.test(name) && /^\d*$/u.test(value)) return undefined
  let record: unknown
  try {
    record = JSON.parse(value)
  } catch (error) {
    return `${(error as Error).message}: ${JSON.stringify(value.slice(0, 80))}`
  }
  const { version, expiresAt, value: held, probe } = (record ?? {}) as Record<string, unknown>
  const isWhole = version === 1 && typeof expiresAt === 'number' && typeof held === 'object' && held !== null
  // A server that is killed in its self-test at start leaves that behind.
  return isWhole || typeof probe === 'string' ? undefined : `no record: ${JSON.stringify(value.slice(0, 80))}`
}

export function examine(values: Iterable<readonly [name: string, value: string]>): Examination {
  const broken: string[] = []
  let records = 0
  for (const [name, value] of values) {
    records += 1
    const flaw = flawOf(name, value)
    if (flaw !== undefined) broken.push(`${name}: ${flaw}`)
  }
  return { records, broken }
}
