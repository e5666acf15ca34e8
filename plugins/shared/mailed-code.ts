import type { EndpointKit } from '@grantry/core'
import * as v from 'valibot'
import { clockSkew } from './jwt-claims.ts'
import { keptRecord } from './kept-record.ts'
import { typedCode } from './typed-code.ts'

/** Seconds for which a mailed link or code is valid. */
export const mailedLifetime = 900

/** Wrong codes after which a mail has ended. */
export const triesOfMail = 5

/**
 * Digits of a code. With the usual limits, strangers who never stop get so many mails that they find two codes of eight
 * digits in a year, of any users. With six, they would find 200: a limit of the wrong codes of all strangers would be
 * necessary, which they use up for every user.
 */
export const digitsOfCode = 8

/** The record of a mail that proves an address. */
export interface Mailed {
  readonly id: string
  /** Sealed, because a reader of the storage could find a code of eight digits from its hash. */
  readonly code: string
  /** Whether the mail proves something. A mail that proves nothing takes the same time. */
  readonly counts: boolean
  /** Epoch seconds. */
  readonly expiresAt: number
}

const codeSchema = v.object({ mailedCode: v.string(), ticket: v.string() })

/** Returns random digits, each combination with almost the same probability. */
function newCode({ randomId, sha256 }: Pick<EndpointKit, 'randomId' | 'sha256'>): string {
  const base64 = sha256(randomId()).slice(0, 8).replaceAll('-', '+').replaceAll('_', '/')
  // 2^48 is so much larger than the number of codes that one is more probable than another by less than 10^-6 of it.
  const number = [...atob(base64)].reduce((sum, byte) => sum * 256 + byte.charCodeAt(0), 0)
  return String(number % 10 ** digitsOfCode).padStart(digitsOfCode, '0')
}

/** Creates a code for a mail. Returns it with what is stored of it. */
export async function createMailed(
  { counts, expiresAt }: Pick<Mailed, 'counts' | 'expiresAt'>,
  kit: EndpointKit,
): Promise<{ readonly code: string; readonly stored: Mailed }> {
  const id = kit.randomId()
  const code = newCode(kit)
  const sealed = await kit.seal({ mailedCode: code, ticket: id }, expiresAt)
  return { code, stored: { id, code: sealed, counts, expiresAt } }
}

/**
 * Whether a code is that of a mail. Counts the code before the check, so that concurrent requests cannot exceed the
 * limit.
 */
export async function isMailedCode({ id, code, counts, expiresAt }: Mailed, entered: string, kit: EndpointKit) {
  const tries = await kit.records.increment(`mailed tries:${id}`, expiresAt + clockSkew)
  const mailed = await kit.unseal(code, codeSchema)
  if (mailed === undefined || mailed.ticket !== id) return false
  return tries <= triesOfMail && kit.equals(mailed.mailedCode, typedCode(entered)) && counts
}

type Spendable = Pick<Mailed, 'id' | 'expiresAt'>

/** Uses a mail. `false` if it was used before, also by another process. */
export const spendMailed = ({ id, expiresAt }: Spendable, kit: EndpointKit): Promise<boolean> =>
  kit.records.insert(`used mailed ticket:${id}`, true, expiresAt + clockSkew, keptRecord)

/** Whether a mail was used. */
export const isMailedSpent = async ({ id }: Spendable, kit: EndpointKit): Promise<boolean> =>
  (await kit.records.get(`used mailed ticket:${id}`, v.boolean())) === true
