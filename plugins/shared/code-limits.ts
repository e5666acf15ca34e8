import { addressGroupOf, type EndpointKit, type OAuthError, type Refuse } from '@grantry/core'
import * as v from 'valibot'
import { keptRecord } from './kept-record.ts'

/** Codes that a user can enter in a window (seconds), at the known addresses together, and at all others together. */
const maxCodes = 10
const window = 900

/**
 * Wrong codes in a row at either kind of address: 100 for a user, as NIST SP 800-63B section 5.2.2 requires. With six
 * digits, of which three are accepted at a time, a thief of the password finds one once in 6,000 series.
 */
const maxInRow = 50

/** Seconds after which a series of wrong codes is forgotten. */
const seriesLifetime = 7_776_000

/** Seconds of the first wait after a series of wrong mailed codes, which doubles, and of the longest one. */
const firstWait = 3600
const longestWait = 604_800

/** Mailed codes between two waits: those of one mail. */
const codesBetweenWaits = 5

const waitSchema = v.object({ round: v.number(), from: v.number() })

/** Seconds for which an address counts as known after a sign-in there. */
const knownLifetime = 2_592_000

const known = v.literal(true)
const seriesSchema = v.object({ id: v.string(), since: v.number() })
type Series = v.InferOutput<typeof seriesSchema>

/** An attempt that is allowed and counted. */
export interface CountedCode {
  /** Forgets the failures, and remembers the address. Call it after the right code. */
  succeed(): Promise<void>
}

export interface CodeOptions {
  /** Seconds after which a series of wrong codes is forgotten. Default: 90 days. */
  readonly lifetime?: number | undefined
  /** Refuses a code at an address that is not known, before it counts for the user. */
  elsewhere?(): Promise<void>
}

const tooManyCodes = (reason: string, retryAfter: number, refuse: Refuse): OAuthError =>
  refuse('slow_down', 'There were too many codes', reason, { status: 429, retryAfter })

/** Returns the series of failures at this kind of address; a new one if there is none. */
async function seriesAt(key: string, lifetime: number, kit: EndpointKit): Promise<Series> {
  const stored = await kit.records.get(key, seriesSchema)
  if (stored !== undefined) return stored
  const series = { id: kit.randomId(), since: kit.now() }
  if (await kit.records.insert(key, series, series.since + lifetime, keptRecord)) return series
  // Another attempt was faster.
  return (await kit.records.get(key, seriesSchema)) ?? series
}

type Names = (...parts: readonly (string | number)[]) => string

/** Counts a code of a series. After too many, second factors end with the series, and mailed codes wait. */
async function countInRow(
  kind: 'second factor' | 'mailed code',
  { id, since }: Series,
  keyOf: Names,
  lifetime: number,
  kit: EndpointKit,
): Promise<void> {
  const now = kit.now()
  const reason = kind === 'second factor' ? 'second_factor_series' : 'mailed_code_series'
  const waits = kind === 'mailed code'
  const waiting = waits ? await kit.records.get(keyOf('wait', id), waitSchema) : undefined
  const { round = 0, from = 0 } = waiting ?? {}
  if (now < from) throw tooManyCodes(reason, from - now, kit.refuse)
  const most = round === 0 ? maxInRow : codesBetweenWaits
  const counter = round === 0 ? keyOf('row', id) : keyOf('row', id, round)
  const counted = await kit.records.increment(counter, now + lifetime)
  const wait = Math.min(firstWait * 2 ** round, longestWait)
  if (waits && counted >= most) {
    // Comes before the last code is checked. A concurrent write can repeat a wait, but the counters of the rounds stay.
    await kit.records.put(keyOf('wait', id), { round: round + 1, from: now + wait }, now + lifetime, keptRecord)
  }
  if (counted <= most) return
  throw tooManyCodes(reason, waits ? wait : Math.max(1, since + lifetime - now), kit.refuse)
}

/**
 * Counts a code before it is checked: of concurrent ones, no more are checked. Codes at addresses where the user has
 * entered a right one are counted separately from all others, so that a thief of the password cannot lock the user out
 * there.
 *
 * @param kind the kind of codes; each has limits of its own
 * @param standing changes with a revocation of the user and with `endAll()`: the counts then start again
 * @throws OAuthError `slow_down` if a code is not allowed.
 */
export async function countCode(
  kind: 'second factor' | 'mailed code',
  sub: string,
  standing: { readonly epoch?: string | undefined; readonly generation?: string | undefined },
  clientAddress: string | undefined,
  kit: EndpointKit,
  { lifetime = seriesLifetime, elsewhere }: CodeOptions = {},
): Promise<CountedCode> {
  const keyOf: Names = (...parts) => `${kind}:${JSON.stringify([sub, ...parts])}`
  const addressKey = clientAddress === undefined ? undefined : keyOf('address', addressGroupOf(clientAddress))
  const isKnown = addressKey !== undefined && (await kit.records.get(addressKey, known)) === true
  if (!isKnown) await elsewhere?.()
  const place = isKnown ? 'known' : 'elsewhere'
  const seriesKey = keyOf('series', place, standing.epoch ?? '', standing.generation ?? '')
  const series = await seriesAt(seriesKey, lifetime, kit)
  const now = kit.now()
  const current = Math.floor(now / window)
  const end = (current + 1) * window
  if ((await kit.records.increment(keyOf('window', place, series.id, current), end + 60)) > maxCodes) {
    throw tooManyCodes(kind === 'second factor' ? 'second_factor_limit' : 'mailed_code_limit', end - now, kit.refuse)
  }
  // Counts only codes that the window allows, because others are not checked.
  await countInRow(kind, series, keyOf, lifetime, kit)
  return {
    async succeed() {
      const fresh = { id: kit.randomId(), since: kit.now() }
      await Promise.all([
        kit.records.put(seriesKey, fresh, fresh.since + seriesLifetime, keptRecord),
        addressKey !== undefined && kit.records.put(addressKey, true, fresh.since + knownLifetime),
      ])
    },
  }
}
