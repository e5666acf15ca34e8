/** The content of a store while no server works on it. */
export interface Examination {
  readonly records: number
  /** Values that cannot be read as a record, and why. */
  readonly broken: readonly string[]
}

/** Why a stored value is not a complete record; `undefined` when it is one. Its content is not checked. */
function flawOf(name: string, value: string): string | undefined {
  // A counter is only a number, in files a name: one of abuse control, or of a server that was killed in its self-test
  // at start.
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
