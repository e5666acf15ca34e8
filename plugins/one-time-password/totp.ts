import { configurationObject, type EndpointKit, type OptionsOf, parseConfiguration, webRuntime } from '@grantry/core'
import { hmac } from '@noble/hashes/hmac.js'
import { sha1 } from '@noble/hashes/legacy.js'
import * as v from 'valibot'
import { functionSchema, requiredFunctionSchema, wholeSeconds } from '../shared/config-schema.ts'
import { clockSkew } from '../shared/jwt-claims.ts'
import { keptRecord } from '../shared/kept-record.ts'
import type { SecondFactor } from '../shared/second-factor.ts'
import { typedCode } from '../shared/typed-code.ts'
import { decodeBase32, encodeBase32 } from './base32.ts'

/** Seconds of one password. Authenticator apps support no other. */
const step = 30
const digits = 6

/** RFC 4226 section 4: at least 128 bits. */
const minSecretLength = 16

/** Seconds by which the clock of the app may differ. */
export const usualTolerance = 30

export const totpSchema = configurationObject({
  /** Returns the secret of a user in base32, as the user's app has it; `undefined` if the user has set up none. */
  secretOf: requiredFunctionSchema<(sub: string) => string | undefined | Promise<string | undefined>>(),
  /** Removes the secret of a user, when an administrator resets the second factors. */
  reset: functionSchema<(sub: string) => void | Promise<void>>(),
  /** Seconds by which the clock of the app may differ. Default: 30. */
  clockTolerance: v.optional(wholeSeconds(0, 120), usualTolerance),
})

export type TotpOptions = OptionsOf<typeof totpSchema>

/** @see RFC 4226 section 5.3 */
function passwordAt(counter: number, secret: Uint8Array): string {
  const message = new DataView(new ArrayBuffer(8))
  message.setBigUint64(0, BigInt(counter))
  const mac = new DataView(hmac(sha1, secret, new Uint8Array(message.buffer)).buffer)
  const number = mac.getUint32(mac.getUint8(19) & 15) & 0x7f_ff_ff_ff
  return String(number % 10 ** digits).padStart(digits, '0')
}

/** @throws TypeError for a secret that is malformed or too short. */
function decodeSecret(secret: string): Uint8Array {
  const bytes = decodeBase32(secret)
  if (bytes !== undefined && bytes.length >= minSecretLength) return bytes
  throw new TypeError(`totp(): secretOf must return base32 of at least ${minSecretLength} bytes`)
}

/** Returns the counter whose password this is. Calculates all, so that the time does not depend on the position. */
function counterOf(code: string, secret: Uint8Array, counters: readonly number[], kit: EndpointKit) {
  const passwords = counters.map((counter) => passwordAt(counter, secret))
  const matches = passwords.map((password) => kit.equals(password, code))
  return counters[matches.indexOf(true)]
}

/**
 * Whether the code belongs to the secret, and is used for the first time.
 *
 * @see RFC 6238 section 5.2: the second attempt with a password is refused
 */
export async function verifyTotp(
  { secret, sub, code: entered }: { readonly secret: string; readonly sub: string; readonly code: string },
  kit: EndpointKit,
  clockTolerance: number,
): Promise<boolean> {
  const code = typedCode(entered)
  if (!/^\d{6}$/u.test(code)) return false
  const now = kit.now()
  const [first, last] = [now - clockTolerance, now + clockTolerance].map((time) => Math.floor(time / step))
  const counters = Array.from({ length: Number(last) - Number(first) + 1 }, (_, index) => Number(first) + index)
  const counter = counterOf(code, decodeSecret(secret), counters, kit)
  if (counter === undefined) return false
  const end = (counter + 1) * step + clockTolerance
  return kit.records.insert(`totp:${sub}:${counter}`, true, end + clockSkew, keptRecord)
}

/**
 * One-time passwords of an authenticator app: six digits that change every 30 seconds, each accepted once. For
 * `signIn({ secondFactors })`.
 *
 * @throws TypeError when an option is malformed.
 * @see RFC 6238
 */
export function totp(options: TotpOptions): SecondFactor {
  const { secretOf, reset, clockTolerance } = parseConfiguration(totpSchema, options, 'totp()')
  const secretFor = (sub: string, kit: EndpointKit) => kit.callHost('totp.secretOf', () => secretOf(sub))
  return {
    amr: 'otp',
    limitsHostCalls: true,
    isSetUp: async (sub, kit) => (await secretFor(sub, kit)) !== undefined,
    async verify(sub, code, kit) {
      const secret = await secretFor(sub, kit)
      return secret !== undefined && verifyTotp({ secret, sub, code }, kit, clockTolerance)
    },
    ...(reset !== undefined && { reset: (sub, kit) => kit.callHost('totp.reset', () => reset(sub)) }),
  }
}

/** Returns a new secret in base32. Store it encrypted: it is enough to create passwords. */
export const newTotpSecret = (): string =>
  // RFC 4226 section 4 recommends 160 bits.
  encodeBase32(webRuntime.randomBytes(20))

/** Bytes of a URI: those of a QR code that a camera still reads from a screen. */
const maxUriLength = 271

/** Bytes of the name of the service in a URI, which contains it twice. */
const maxIssuerLength = 60

/** Encodes a name for a URI. One that is too long ends with an ellipsis: it is only shown. */
function shownName(name: string, maxLength: number): string {
  const encoded = (letters: readonly string[]): string => encodeURIComponent(letters.join(''))
  // The halves of a pair have no encoding. Longer names are never shown, so the work has a limit.
  const letters = [...name.slice(0, 2 * maxUriLength).replaceAll(/\p{Surrogate}/gu, '\ufffd')]
  if (encoded(letters).length <= maxLength) return encoded(letters)
  while (letters.length > 1 && encoded([...letters, '…']).length > maxLength) letters.pop()
  return encoded([...letters, '…'])
}

/**
 * Returns the URI that an authenticator app reads from a QR code. Names that are too long for the code are shortened.
 *
 * @param issuer the name of your service, as the app shows it
 * @param account the name of the user, as the app shows it
 */
export function totpUri(secret: string, issuer: string, account: string): string {
  const service = shownName(issuer, maxIssuerLength)
  const rest = `secret=${secret}&issuer=${service}`
  const start = `otpauth://totp/${service}:`
  return `${start}${shownName(account, maxUriLength - start.length - rest.length - 1)}?${rest}`
}
